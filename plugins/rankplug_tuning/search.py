"""Search for the parameters of a model: validation data choose one of many candidates, and the test part tells how good
the choice is, having chosen nothing.

Each candidate is a combination like any other, and is stored, so a search that was interrupted goes on, and a
larger one takes over what a smaller one has trained. Training itself stops early by the validation curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rankplug.errors import FitError, GrammarError, shown
from rankplug.registry import Grid, Reference, expand, parse, registry
from rankplug.store import FIT_PARTS, Combination, Store, listed
from rankplug.sweeps import Folds, Outcome, Plan, Sweep, chosen_on_validation, sweep, validation_quality
from rankplug.system import require_modules, whole_number

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
        if not self.fixed.get("scorer") and self.fixed.get("backend"):
            backends = listed(self.fixed["backend"])
            names = {registry().specification("backend", backend).default_scorer for backend in backends}
            self.fixed["scorer"] = names.pop() if len(names) == 1 else ""
        has_grid = [self._add(part, listed(self.fixed[part])) for part in SEARCHED if self.fixed.get(part)]
        self.candidate([0] * len(self.axes))
        if not self.axes:
            raise GrammarError(
                "nothing is left to choose from: name values, such as scorer=trees[leaves=[7,31]], or a backend or"
                " scorer that suggests some"
            )
        if self.size > MOST_CANDIDATES:
            raise GrammarError(f"a search is among at most {MOST_CANDIDATES:,} candidates, not {self.size:,}")
        if not any(has_grid):
            self.usual = Combination(**self.fixed).validate_plugins()

    def _add(self, part: str, references: list[Any]) -> bool:
        """Add the axes of a part, and return whether it was given with values to choose from."""
        if len(references) > 1:
            every = tuple(str(single) for reference in references for single in expand(reference))
            self.axes.append(Axis(part, "", every))
            return True
        plugin = parse(references[0])
        has_grid = _has_grid(plugin)
        parameters = plugin.parameters
        if not has_grid and part in ("backend", "scorer"):
            suggestion = getattr(registry().specification(part, plugin), "search", "")
            parameters = {**(parse(suggestion).parameters if suggestion else {}), **parameters}
        plain = {}
        for name, value in parameters.items():
            choices = [single.parameters[name] for single in expand(Reference(plugin.name, {name: value}))]
            if len(choices) > 1:
                self.axes.append(Axis(part, name, tuple(choices)))
            else:
                plain[name] = choices[0]
        self.fixed[part] = Reference(plugin.name, plain, plugin.distribution)
        return has_grid

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
        return Combination(**parts).validate_plugins()

    def draw(self, count: int, seed: int) -> list[Combination]:
        """Draw different candidates at random, or return all where there are no more; more draws begin as fewer."""
        noise = np.random.default_rng(seed)
        shape = tuple(len(axis.values) for axis in self.axes)
        numbers: dict[int, None] = {}
        while len(numbers) < min(count, self.size):
            numbers.setdefault(int(noise.integers(self.size)))
        return [self.candidate([int(index) for index in np.unravel_index(number, shape)]) for number in numbers]


def _has_grid(value: Any) -> bool:
    if isinstance(value, Reference):
        return any(map(_has_grid, value.parameters.values()))
    return isinstance(value, Grid) or (isinstance(value, tuple) and any(map(_has_grid, value)))


@dataclass(frozen=True, eq=False)
class Tuning:
    """A finished search.

    Args:
        outcomes: outcomes of the sweeps that trained the candidates.
        candidates: all candidates, the usual parameters first where they are one of them.
        usual: the combination with the plugins' usual parameters, where the search was among suggested values.
        budget: number of candidates that were requested.
        size: number of candidates in the search space.
    """

    outcomes: tuple[Outcome, ...]
    candidates: tuple[Combination, ...]
    usual: Combination | None
    budget: int
    size: int

    @property
    def failures(self) -> list[str]:
        """A sentence for each trial that failed or could not run."""
        return [sentence for outcome in self.outcomes for sentence in [*outcome.failures, *outcome.not_run]]

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
            reason = f": {self.failures[0]}" if self.failures else "; does the data set have a validation part?"
            raise FitError(f"no candidate has a value on validation data on every fold{reason}")
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
        words = []
        for part in (*FIT_PARTS, "dataset", "transforms"):
            value = getattr(self.chosen, part)
            if isinstance(value, tuple) and value:
                value = ",".join(value) if len(value) < 2 else f"({','.join(value)})"
            words += [f"{part}={value}"] if value else []
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
            searched. A backend and a scorer without a grid suggest their own; then their usual parameters are a
            candidate too, beside the budget.
        data: the data set, unless the grid names it.
        budget: number of candidates to train.
        search: ``random`` samples them; ``optuna`` lets Optuna's TPE propose each by the values of the earlier ones.
        folds: folds of the data set, or ``"all"``.
        trials: number of repetitions, each with its own seed.
        store: the folder of results; what it has is not trained again.
        jobs: number of trials at once; with ``optuna`` those of one candidate.
        progress: whether to show the progress.
        retry_failed: whether candidates are trained again that failed before.
        fixed: parts that are the same for all, such as ``patience=20``, ``selection="ndcg@10"`` or ``seed=1``, which is
            the seed of the search too.
    """
    if search not in get_args(Search):
        raise FitError(f"a search is {' or '.join(get_args(Search))}, not {shown(search)}")
    if not isinstance(grid, Mapping):
        raise GrammarError(f"a grid maps parts of a combination to values, such as loss: mse, not {shown(grid)}")
    parts = {**grid, **fixed, **({"dataset": data} if data else {})}
    options: dict[str, Any] = {
        "store": Store.named(store), "folds": folds, "trials": trials, "retry_failed": retry_failed
    }  # fmt: skip

    def train(candidates: list[Combination]) -> Outcome:
        grids = [candidate.model_dump() for candidate in candidates]
        return sweep(grids, jobs=jobs, progress=progress, **options)

    space, budget, seed = _search_space(parts, budget)
    first = [] if space.usual is None else [space.usual]
    if search == "random":
        candidates = first + space.draw(budget, seed)
        outcomes = [train(candidates)]
    else:
        proposals = _proposals(space, budget, seed, train)
        candidates = first + [candidate for candidate, _ in proposals]
        outcomes = ([train(first)] if first else []) + [outcome for _, outcome in proposals]
    unique = {candidate.identity: candidate for candidate in candidates}
    return Tuning(tuple(outcomes), tuple(unique.values()), space.usual, budget, space.size)


def _search_space(grid: Mapping[str, Any], budget: int) -> tuple[SearchSpace, int, int]:
    """Return the space of a search, its budget and its seed."""
    return SearchSpace(grid), whole_number(budget, "budget", least=1), whole_number(grid.get("seed", 0), "seed")


def plan_search(
    grid: Mapping[str, Any],
    *,
    budget: int = 50,
    folds: Folds = (1,),
    trials: int = 1,
    store: Store | str | Path | None = None,
    retry_failed: bool = False,
) -> Plan:
    """Return what a search by random samples would train, see :func:`tune`; Optuna trains at most as many."""
    space, budget, seed = _search_space(grid, budget)
    candidates = ([] if space.usual is None else [space.usual]) + space.draw(budget, seed)
    grids = tuple(candidate.model_dump() for candidate in candidates)
    return Sweep(grids, folds, trials).plan(Store.named(store), retry_failed=retry_failed)


def _proposals(space: SearchSpace, budget: int, seed: int, train: Any) -> list[tuple[Combination, Outcome]]:
    """Return the candidates that Optuna proposes, each once, with what came of them.

    It proposes the same ones again for the same results, which the store has, so an interrupted search goes on.
    """
    require_modules("optuna")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    proposed: dict[str, tuple[Combination, Outcome]] = {}
    for _ in range(budget):
        trial = study.ask()
        indices = [trial.suggest_categorical(str(axis), list(range(len(axis.values)))) for axis in space.axes]
        candidate = space.candidate(indices)
        if candidate.identity not in proposed:
            proposed[candidate.identity] = candidate, train([candidate])
        quality = validation_quality(proposed[candidate.identity][1].frame())
        if quality.empty or quality.isna().any(axis=None):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, float(quality.mean(axis=1).iloc[0]))
    return list(proposed.values())
