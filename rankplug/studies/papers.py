"""Papers as plugins: the runs a paper needs, its figures and tables as functions of results, and its claims.

A study never trains by itself: it says which combinations it needs at a profile, a sweep runs those that are missing,
and every figure, table and verdict is computed from the stored results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field

from rankplug.errors import NotRunError, RankplugError, SpecificationError, did_you_mean
from rankplug.registry import NAME, Parameters, read_parameters, registry

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.store import Combination, Store, Trial

Profile = Literal["smoke", "quick", "real", "paper"]
PROFILES: tuple[Profile, ...] = ("smoke", "quick", "real", "paper")
VERDICTS = ("holds", "fails", "inconclusive")


@dataclass(frozen=True)
class Runs:
    """A group of models that are trained on the same data and compared.

    Args:
        name: of the group, by which figures ask for their results.
        models: the model's name in the paper -> the parts of the combination that make it. Where they are a grid,
            validation data choose among its combinations, see :mod:`rankplug.studies.tuning`.
        shared: parts that all models have, such as the data set.
        folds: of the data set.
        trials: repetitions, each with a seed of its own.
    """

    name: str
    models: Mapping[str, Mapping[str, Any]]
    shared: Mapping[str, Any]
    folds: tuple[int, ...] = (1,)
    trials: int = 1

    def grid(self, model: str) -> dict[str, Any]:
        """The parts of a model's combinations."""
        return {**self.shared, **self.models[model]}

    def trials_of(self, model: str) -> list[Trial]:
        """All trials of a model."""
        from rankplug.store import Trial, combinations

        chosen, left_out = combinations(self.grid(model))
        if left_out:
            raise RankplugError(f"{left_out} combinations of {model} name a scorer that their backend cannot fit")
        return [
            Trial(combination, fold, number)
            for combination in chosen
            for fold in self.folds
            for number in range(self.trials)
        ]


@dataclass(frozen=True)
class Results:
    """What a study's sweep gave at a profile, one frame for each group of runs, with the column ``model``.

    Args:
        profile: how large the runs were.
        frames: the rows of each group, see :meth:`rankplug.store.Store.frame`.
        published: the numbers the paper prints.
        records: what is known of every trial: combination, versions, timings, digests.
        runs: what was asked for, by the name of the group.
    """

    profile: Profile
    frames: Mapping[str, pd.DataFrame]
    published: pd.DataFrame
    records: tuple[dict[str, Any], ...] = ()
    runs: Mapping[str, Runs] = field(default_factory=dict)

    def __getitem__(self, group: str) -> pd.DataFrame:
        return self.frames[group]

    def groups(self, prefix: str = "") -> list[str]:
        """Names of the groups that begin with some words, in their order."""
        return [group for group in self.frames if group.startswith(prefix)]

    def models(self, group: str) -> list[str]:
        """The models of a group, in their order."""
        return list(self.frames[group]["model"].cat.categories)

    def queries(self, group: str, metric: str) -> pd.DataFrame:
        """Values of one metric, one row a test query."""
        frame = self.frames[group]
        return frame[(frame["measure"] == "query") & (frame["metric"] == metric)]

    def trials(self, group: str, metric: str) -> pd.DataFrame:
        """Means of a metric over the test queries that count: a row for each trial, a column for each model.

        Where there are several folds, a trial's number is the mean of those of its folds.
        """
        asked = self.queries(group, metric)
        of_folds = asked.groupby(["model", "trial", "fold"], observed=True)["value"].mean()
        return of_folds.groupby(["trial", "model"], observed=True).mean().unstack("model")

    def curves(self, group: str, part: str, metric: str) -> pd.DataFrame:
        """Learning curves: one row an iteration of a trial."""
        frame = self.frames[group]
        chosen = (frame["measure"] == "curve") & (frame["part"] == part) & (frame["metric"] == metric)
        return frame[chosen]

    def curve_of_trials(self, group: str, model: str, part: str, metric: str) -> pd.DataFrame:
        """One model's learning curves: a row for each iteration that all trials reached, a column for each trial."""
        from rankplug.plotting import curve_of_trials

        curves = self.curves(group, part, metric)
        return curve_of_trials(curves[curves["model"] == model])

    def describe(self) -> pd.DataFrame:
        """What was run: a row for each group and model."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for group, runs in self.runs.items():
            for model in runs.models:
                used = set(self.frames[group].loc[self.frames[group]["model"] == model, "combination"])
                about = {"group": group, "model": model, "folds": len(runs.folds), "trials": runs.trials}
                chosen = dict.fromkeys(trial.combination for trial in runs.trials_of(model))
                rows += [{**about, **_parts(combination)} for combination in chosen if combination.identity in used]
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper.

    Args:
        name: as the paper numbers it, such as ``Figure 3a``.
        title: what it shows.
        draw: from results to the numbers and, for a figure, the picture.
    """

    name: str
    title: str
    draw: Callable[[Results], tuple[pd.DataFrame, Figure | None]]


@dataclass(frozen=True)
class Verdict:
    """What the evidence says of a claim."""

    verdict: Literal["holds", "fails", "inconclusive"]
    evidence: str

    @property
    def lines(self) -> str:
        """The evidence in HTML's way, a line for each of its parts."""
        return self.evidence.replace("; ", ";<br>")

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is none of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Claim:
    """A testable sentence of a paper, and the statistic that judges it; see :mod:`rankplug.studies.judging`.

    Args:
        sentence: as a reader would say it, with the place in the paper.
        judge: computes the verdict from results.
    """

    sentence: str
    judge: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Study:
    """A paper.

    Args:
        name: short.
        title: of the paper.
        citation: authors, venue, year.
        notebook: file name of the notebook that tells it.
        runs: the runs it needs at a profile.
        exhibits: its figures and tables.
        claims: its claims.
        published: reads the numbers the paper prints.
        findings: known errors of the paper and what is done about them, in sentences.
    """

    name: str
    title: str
    citation: str
    notebook: str
    runs: Callable[[Profile, str | None], Iterable[Runs]]
    exhibits: tuple[Exhibit, ...]
    claims: tuple[Claim, ...]
    published: Callable[[], pd.DataFrame]
    findings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise SpecificationError(
                f"{self.name!r} is not a study's name, which its pages have too: letters, digits, _ and -, beginning"
                " with a letter"
            )

    def exhibit(self, name: str) -> Exhibit:
        """A figure or table by its number."""
        for exhibit in self.exhibits:
            if exhibit.name == name:
                return exhibit
        names = [exhibit.name for exhibit in self.exhibits]
        raise RankplugError(f"study {self.name} has no {name}: {did_you_mean(name, names)}")

    def results(
        self,
        profile: Profile = "quick",
        *,
        data: str | None = None,
        trials: int | None = None,
        seed: int = 0,
        jobs: int = 1,
        store: Store | str | Path | None = None,
        progress: bool = True,
        **execution: Any,
    ) -> Results:
        """Runs what is missing at a profile, and reads all of it.

        Args:
            profile: how large.
            data: a data set in place of the profile's own.
            trials: repetitions, in place of the profile's number.
            seed: the master seed.
            jobs: trials at a time.
            store: where results lie, or their folder.
            progress: shows a bar.
            execution: handed to :func:`rankplug.sweeps.sweep`.
        """
        from rankplug.store import Store
        from rankplug.sweeps import sweep

        read_profile(profile)
        kept = Store.named(store)
        asked = {
            runs.name: replace(runs, trials=trials or runs.trials, shared={**runs.shared, "seed": seed})
            for runs in self.runs(profile, data)
        }
        for folds, count in dict.fromkeys((runs.folds, runs.trials) for runs in asked.values()):
            alike = [runs for runs in asked.values() if (runs.folds, runs.trials) == (folds, count)]
            grids = [runs.grid(model) for runs in alike for model in runs.models]
            outcome = sweep(grids, store=kept, folds=folds, trials=count, progress=progress, jobs=jobs, **execution)
            if outcome.not_run:
                raise NotRunError(
                    f"{len(outcome.not_run)} trials of the study {self.name} could not run, the first:"
                    f" {outcome.not_run[0]}; nothing is recorded of them, and the same again runs them"
                )
            failures = [*outcome.failures, *(f"{trial} failed before" for trial in outcome.plan.failed)]
            if failures:
                raise RankplugError(
                    f"{len(failures)} trials of the study {self.name} failed, the first: {failures[0]};"
                    " run again with retry_failed=True once the cause is mended"
                )
        frames = {name: _frame(runs, kept) for name, runs in asked.items()}
        needed = {
            trial.identity: trial for runs in asked.values() for model in runs.models for trial in runs.trials_of(model)
        }
        records = [record for trial in needed.values() if (record := kept.about(trial))]
        return Results(profile, frames, self.published(), tuple(records), asked)


def _parts(combination: Combination) -> dict[str, str]:
    return {
        "data": combination.dataset,
        "transforms": " | ".join(combination.transforms),
        "fitted by": f"{combination.backend} {combination.scorer}".strip(),
        "loss": combination.loss,
        "sampler": combination.sampler,
        "identity": combination.identity,
    }


def _frame(runs: Runs, store: Store) -> pd.DataFrame:
    """The rows of a group, each model represented by the combination that validation data choose."""
    import pandas as pd

    from rankplug.studies.tuning import chosen_on_validation

    frames = []
    for model in runs.models:
        frame = chosen_on_validation(store.frame(runs.trials_of(model)))
        frame["model"] = model
        frames.append(frame)
    joined = pd.concat(frames, ignore_index=True)
    joined["model"] = pd.Categorical(joined["model"], categories=list(runs.models))
    return joined


def read_profile(name: str) -> Profile:
    """A profile by its name."""
    if name not in PROFILES:
        raise RankplugError(f"there is no profile {name}: {did_you_mean(name, PROFILES)}")
    return name


class StudyParameters(Parameters):
    """Parameters of a study's notebook; those of :meth:`Study.results`."""

    profile: Profile = "quick"
    data: str | None = None
    trials: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    jobs: int = Field(1, ge=1)
    store: str | None = None


def check_parameters(given: Mapping[str, Any]) -> StudyParameters:
    """The parameters of a study's notebook, or a sentence that says which is wrong; needs no kernel."""
    parameters = read_parameters(StudyParameters, given, "the notebook")
    if parameters.data is not None:
        registry().resolve("dataset", parameters.data)
    return parameters


def study(name: str) -> Study:
    """The study of a name."""
    specification, _ = registry().resolve("study", name)
    return cast(Study, specification.load())


def studies() -> list[Study]:
    """All installed studies."""
    return [cast(Study, plugin.specification.load()) for plugin in registry().plugins("study")]
