"""Search for the parameters of a model: validation data choose one of many candidates, and the test part tells how good
the choice is, having chosen nothing.

Each candidate is a combination like any other, kept in the store, so a search that was interrupted goes on, and a
larger one takes over what a smaller one has trained. Training itself stops early by the validation curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rankplug.errors import FitError, GrammarError, shown
from rankplug.registry import BackendSpecification, Grid, Reference, ScorerSpecification, expand, parse, registry
from rankplug.store import FIT_PARTS, Combination, Store, read_combination
from rankplug.sweeps._plan import Folds, Plan, Sweep, chosen_on_validation, validation_quality
from rankplug.sweeps._running import Outcome, sweep
from rankplug.system import missing, whole_number

if TYPE_CHECKING:
    import pandas as pd

Search = Literal["random", "optuna"]
SEARCHED = ("backend", "scorer", "loss", "sampler")
"""Parts whose grids are searched; the others are the same for all candidates."""
MOST_CANDIDATES = 10**9


@dataclass(frozen=True)
class Axis:
    """Values that a search may choose from.

    Args:
        part: of the combination.
        parameter: of the plugin in that part; empty where whole plugins are chosen from.
        values: the choices.
    """

    part: str
    parameter: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.part} {self.parameter}".strip()


class SearchSpace:
    """Every choice of a value for each axis.

    Where a backend or scorer is named without a grid, the axes are those that its plugin suggests, without parameters
    that are given. If there are no others, ``usual`` is the combination with none of the suggested values.

    Args:
        parts: of the combinations, with grids in the grammar of a sweep.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.fixed = dict(parts)
        self.axes: list[Axis] = []
        self.usual: Combination | None = None
        named = False
        if not self.fixed.get("scorer") and self.fixed.get("backend"):
            backends = _listed(self.fixed["backend"])
            names = {registry().specification("backend", backend).default_scorer for backend in backends}
            self.fixed["scorer"] = names.pop() if len(names) == 1 else ""
        for part in SEARCHED:
            if self.fixed.get(part):
                named |= self._add(part, _listed(self.fixed[part]))
        self.candidate([0] * len(self.axes))
        if not self.axes:
            raise GrammarError(
                "nothing is left to choose from: name values, such as scorer=trees[leaves=[7,31]], or a backend or"
                " scorer that suggests some"
            )
        if self.size > MOST_CANDIDATES:
            raise GrammarError(f"a search is among at most {MOST_CANDIDATES:,} candidates, not {self.size:,}")
        if not named:
            self.usual = read_combination(self.fixed).validate_plugins()

    def _add(self, part: str, references: list[Any]) -> bool:
        """Add the axes of a part, and return whether it was given with values to choose from."""
        if len(references) > 1:
            every = tuple(str(single) for reference in references for single in expand(reference))
            self.axes.append(Axis(part, "", every))
            return True
        given = parse(references[0])
        if not (named := _has_grid(given)) and part in ("backend", "scorer"):
            suggested = suggested_grid(part, given)
            own = parse(suggested).parameters if suggested else {}
            given = Reference(given.name, {**own, **given.parameters}, given.distribution)
        plain = {}
        for name, value in given.parameters.items():
            choices = [single.parameters[name] for single in expand(Reference(given.name, {name: value}))]
            if len(choices) > 1:
                self.axes.append(Axis(part, name, tuple(choices)))
            else:
                plain[name] = choices[0]
        self.fixed[part] = Reference(given.name, plain, given.distribution)
        return named

    @property
    def size(self) -> int:
        """Number of candidates."""
        return math.prod(len(axis.values) for axis in self.axes)

    def candidate(self, chosen: Sequence[int]) -> Combination:
        """Return the combination of the chosen value on each axis."""
        parts = dict(self.fixed)
        for axis, index in zip(self.axes, chosen, strict=True):
            value = axis.values[index]
            if axis.parameter:
                plugin = parse(parts[axis.part])
                value = Reference(plugin.name, {**plugin.parameters, axis.parameter: value}, plugin.distribution)
            parts[axis.part] = value
        return read_combination(parts).validate_plugins()

    def draw(self, count: int, seed: int) -> list[Combination]:
        """Draw different candidates at random, or return all where there are no more; more draws begin as fewer."""
        noise = np.random.default_rng(seed)
        shape = tuple(len(axis.values) for axis in self.axes)
        numbers: dict[int, None] = {}
        while len(numbers) < min(count, self.size):
            numbers.setdefault(int(noise.integers(self.size)))
        return [self.candidate([int(index) for index in np.unravel_index(number, shape)]) for number in numbers]


def suggested_grid(part: str, plugin: Reference) -> str:
    """Return the grid of its parameters that a backend or scorer suggests to search."""
    kind = BackendSpecification if part == "backend" else ScorerSpecification
    specification = registry().specification(part, plugin)
    return specification.search if isinstance(specification, kind) else ""


def _listed(value: Any) -> list[Any]:
    values = value.values if isinstance(value, Grid) else value
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _has_grid(value: Any) -> bool:
    if isinstance(value, Reference):
        return any(map(_has_grid, value.parameters.values()))
    return isinstance(value, Grid) or (isinstance(value, tuple) and any(map(_has_grid, value)))


@dataclass(frozen=True, eq=False)
class Tuning:
    """A finished search.

    Args:
        outcomes: of the sweeps that trained the candidates.
        candidates: all that were looked at, the usual parameters first where they are one of them.
        usual: the combination with the plugins' usual parameters, where the search was among suggested values.
        budget: candidates that were asked for.
        size: candidates among which they were drawn.
    """

    outcomes: tuple[Outcome, ...]
    candidates: tuple[Combination, ...]
    usual: Combination | None
    budget: int
    size: int
    failures: tuple[str, ...] = field(default=())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows of the candidates' results."""
        import pandas as pd

        return pd.concat([outcome.frame() for outcome in self.outcomes], ignore_index=True)

    @cached_property
    def quality(self) -> pd.DataFrame:
        """The best validation value of each candidate that has one on all folds: a row a candidate, a column a fold."""
        quality = validation_quality(self.frame).dropna()
        if quality.empty:
            told = f": {self.failures[0]}" if self.failures else "; does the data set have a validation part?"
            raise FitError(f"no candidate has a value on validation data on every fold{told}")
        return quality

    @cached_property
    def chosen(self) -> Combination:
        """The candidate with the best mean over the folds' validation data."""
        best = self.quality.mean(axis=1).idxmax()
        return next(candidate for candidate in self.candidates if candidate.identity == best)

    @property
    def model(self) -> dict[str, Any]:
        """Choice as arguments of :func:`rankplug.fit`."""
        return {part: value for part in FIT_PARTS if (value := getattr(self.chosen, part))}

    @property
    def line(self) -> str:
        """Choice in the words of ``rankplug sweep``."""
        parts = {part: getattr(self.chosen, part) for part in (*FIT_PARTS, "dataset", "transforms")}
        words = [
            f"{part}={','.join(value) if len(value) < 2 else '(' + ','.join(value) + ')'}"
            if isinstance(value, tuple)
            else f"{part}={value}"
            for part, value in parts.items()
            if value
        ]
        return " ".join(f"'{word}'" if "[" in word or "(" in word else word for word in words)

    def test_means(self, of: Combination | None = None) -> dict[str, float]:
        """Return the mean of each metric over the test queries of all folds.

        Args:
            of: a candidate; by default the one that each fold's own validation data choose, so that no fold's test
                queries are measured on a model that other folds' validation data, their own documents, chose.
        """
        complete = self.frame[self.frame["combination"].isin(self.quality.index)]
        rows = chosen_on_validation(complete) if of is None else complete[complete["combination"] == of.identity]
        means = rows[rows["measure"] == "query"].groupby("metric", observed=True)["value"].mean()
        return {str(name): float(means[name]) for name in self.chosen.metrics if name in means}

    def table(self) -> pd.DataFrame:
        """Return the candidates with their mean validation value, the best first."""
        import pandas as pd

        means = self.quality.mean(axis=1)
        trained = [candidate for candidate in self.candidates if candidate.identity in means.index]
        rows = [
            {"valid": means[candidate.identity], **{part: getattr(candidate, part) for part in SEARCHED}}
            for candidate in trained
        ]
        return pd.DataFrame(rows).sort_values("valid", ascending=False, kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        selecting = self.chosen.selection[0]
        valid = f"valid {selecting} {self.quality.mean(axis=1)[self.chosen.identity]:.4f}"
        test = ", ".join(f"{name} {value:.4f}" for name, value in self.test_means().items())
        lines = [
            f"{len(self.quality)} of {self.size:,} candidates, {valid}",
            f"test part, which chose nothing: {test}",
        ]
        if self.usual is not None and self.usual.identity in self.quality.index:
            usual = ", ".join(f"{name} {value:.4f}" for name, value in self.test_means(self.usual).items())
            lines.append(f"with the usual parameters: {usual}")
        if self.failures:
            lines.append(f"{len(self.failures)} failed, the first: {self.failures[0]}")
        return "\n".join([*lines, f"chosen: {self.line}"])


def tune(
    grid: Mapping[str, Any],
    *,
    data: str = "",
    budget: int = 50,
    search: Search = "random",
    folds: Folds = (1,),
    trials: int = 1,
    store: Store | str | Path | None = None,
    jobs: int = 1,
    progress: bool = True,
    retry_failed: bool = False,
    **fixed: Any,
) -> Tuning:
    """Search among the parameters of a model, and choose by validation data.

    Args:
        grid: parts of a combination, as in :func:`rankplug.sweep`: the grids in backend, scorer, loss and sampler are
            searched. A backend and a scorer without a grid suggest their own; then their usual parameters are looked at
            too, beside the budget.
        data: the data set, unless the grid names it.
        budget: candidates to train.
        search: ``random`` draws them; ``optuna`` lets Optuna's TPE propose each by what the earlier ones gave.
        folds: of the data set, or ``"all"``.
        trials: repetitions with seeds of their own.
        store: where results go; what it has is not trained again.
        jobs: trials at once; with ``optuna`` those of one candidate.
        progress: shows how it goes.
        retry_failed: trains candidates again that failed before.
        fixed: parts that are the same for all, such as ``patience=20``, ``selection="ndcg@10"`` or ``seed=1``, which is
            that of the draws too.
    """
    whole_number(budget, "budget", least=1)
    if search not in get_args(Search):
        raise FitError(f"a search is {' or '.join(get_args(Search))}, not {shown(search)}")
    if not isinstance(grid, Mapping):
        raise GrammarError(f"a grid maps parts of a combination to values, such as loss: mse, not {shown(grid)}")
    parts = {**grid, **fixed, **({"dataset": data} if data else {})}
    space = SearchSpace(parts)
    results = Store.named(store)

    def trained(candidates: list[Combination]) -> Outcome:
        return sweep(
            [candidate.model_dump() for candidate in candidates],
            store=results,
            folds=folds,
            trials=trials,
            jobs=jobs,
            progress=progress,
            retry_failed=retry_failed,
        )

    first = [] if space.usual is None else [space.usual]
    seed = whole_number(parts.get("seed", 0), "seed")
    if search == "random":
        candidates = first + space.draw(budget, seed)
        outcomes = [trained(candidates)]
    else:
        outcomes = [trained(first)] if first else []
        candidates = list(first)
        for proposed, outcome in _proposals(space, budget, seed, trained):
            candidates.append(proposed)
            outcomes.append(outcome)
    unique = {candidate.identity: candidate for candidate in candidates}
    failures = tuple(sentence for outcome in outcomes for sentence in [*outcome.failures, *outcome.not_run])
    return Tuning(tuple(outcomes), tuple(unique.values()), space.usual, budget, space.size, failures)


def plan_search(
    grid: Mapping[str, Any],
    *,
    budget: int = 50,
    folds: Folds = (1,),
    trials: int = 1,
    store: Store | str | Path | None = None,
    retry_failed: bool = False,
) -> Plan:
    """Return what a search by random draws would train, see :func:`tune`; Optuna trains at most as many."""
    space = SearchSpace(grid)
    drawn = space.draw(whole_number(budget, "budget", least=1), whole_number(grid.get("seed", 0), "seed"))
    candidates = [] if space.usual is None else [space.usual]
    grids = tuple(candidate.model_dump() for candidate in [*candidates, *drawn])
    return Sweep(grids, folds, trials).plan(Store.named(store), retry_failed=retry_failed)


def _proposals(space: SearchSpace, budget: int, seed: int, trained: Any) -> list[tuple[Combination, Outcome]]:
    """Return the candidates that Optuna proposes, each once, with what came of them.

    It proposes the same ones again for the same results, which the store has, so an interrupted search goes on.
    """
    try:
        import optuna
    except ModuleNotFoundError:
        raise FitError(missing("optuna")) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    proposed: dict[str, tuple[Combination, Outcome]] = {}
    for _ in range(budget):
        trial = study.ask()
        indices = [trial.suggest_categorical(str(axis), list(range(len(axis.values)))) for axis in space.axes]
        candidate = space.candidate(indices)
        if candidate.identity not in proposed:
            proposed[candidate.identity] = candidate, trained([candidate])
        quality = validation_quality(proposed[candidate.identity][1].frame())
        if quality.empty or quality.isna().any(axis=None):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, float(quality.mean(axis=1).iloc[0]))
    return list(proposed.values())
