"""Papers as plugins: the runs a paper needs, its figures and tables as functions of results, and its claims.

A study never trains by itself: it says which combinations it needs at a profile, a sweep runs those that are missing,
and every figure, table and verdict is computed from the stored results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from rankplug.errors import RankplugError, did_you_mean
from rankplug.registry import registry

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.store import Store

Profile = Literal["smoke", "quick", "real", "paper"]
PROFILES: tuple[Profile, ...] = ("smoke", "quick", "real", "paper")
VERDICTS = ("holds", "fails", "inconclusive")


@dataclass(frozen=True)
class Runs:
    """A grid of combinations with its folds and repetitions.

    Args:
        name: of the group, by which figures ask for their results.
        grid: see :func:`rankplug.combinations.combinations`.
        models: the model's name in the paper -> the parts of the combination that make it.
        folds: of the data set.
        trials: repetitions, each with a seed of its own.
    """

    name: str
    models: Mapping[str, Mapping[str, Any]]
    shared: Mapping[str, Any]
    folds: tuple[int, ...] = (1,)
    trials: int = 1


@dataclass(frozen=True)
class Results:
    """What a study's sweep gave at a profile, one frame for each group of runs, with the column ``model``.

    Args:
        profile: how large the runs were.
        frames: the rows of each group, see :meth:`rankplug.store.Store.frame`.
        published: the numbers the paper prints.
        records: what is known of every trial: combination, versions, timings, digests.
    """

    profile: Profile
    frames: Mapping[str, pd.DataFrame]
    published: pd.DataFrame
    records: tuple[dict[str, Any], ...] = ()

    def __getitem__(self, group: str) -> pd.DataFrame:
        return self.frames[group]

    def queries(self, group: str, metric: str) -> pd.DataFrame:
        """Values of one metric, one row a test query."""
        frame = self.frames[group]
        return frame[(frame["measure"] == "query") & (frame["metric"] == metric)]

    def trials(self, group: str, metric: str) -> pd.DataFrame:
        """Means of one metric over the queries that have one: a row for each trial, a column for each model."""
        asked = self.queries(group, metric)
        means = asked.groupby(["dataset", "fold", "trial", "model"], observed=True)["value"].mean()
        return means.unstack("model")

    def curves(self, group: str, part: str, metric: str) -> pd.DataFrame:
        """Learning curves: one row an iteration of a trial."""
        frame = self.frames[group]
        chosen = (frame["measure"] == "curve") & (frame["part"] == part) & (frame["metric"] == metric)
        return frame[chosen]


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

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is none of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Claim:
    """A testable sentence of a paper, and the statistic that judges it."""

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
        store: Store | None = None,
        progress: bool = True,
        **execution: Any,
    ) -> Results:
        """Runs what is missing at a profile, and reads all of it.

        Args:
            profile: how large.
            data: a data set in place of the profile's own.
            store: where results lie.
            progress: shows a bar.
            execution: handed to :func:`rankplug.sweeps.sweep`, such as the number of jobs.
        """
        import pandas as pd

        from rankplug.combinations import combinations
        from rankplug.sweeps import sweep

        read_profile(profile)
        frames = {}
        records: list[dict[str, Any]] = []
        for runs in self.runs(profile, data):
            grids = [{**runs.shared, **parts} for parts in runs.models.values()]
            outcome = sweep(grids, store=store, folds=runs.folds, trials=runs.trials, progress=progress, **execution)
            if outcome.failures:
                raise RankplugError(
                    f"{len(outcome.failures)} trials of {self.name} failed, the first: {outcome.failures[0]}"
                )
            model_of = {
                combination.identity: model
                for model, grid in zip(runs.models, grids, strict=True)
                for combination in combinations(grid)[0]
            }
            frame = outcome.frame()
            frame["model"] = pd.Categorical(frame["combination"].map(model_of), categories=list(runs.models))
            frames[runs.name] = frame
            records += [record for trial in outcome.plan.trials if (record := outcome.store.about(trial))]
        return Results(profile, frames, self.published(), tuple(records))


def read_profile(name: str) -> Profile:
    """A profile by its name."""
    if name not in PROFILES:
        raise RankplugError(f"there is no profile {name}: {did_you_mean(name, PROFILES)}")
    return name


def study(name: str) -> Study:
    """The study of a name."""
    specification, _ = registry().resolve("study", name)
    return cast(Study, specification.load())


def studies() -> list[Study]:
    """All installed studies."""
    return [cast(Study, plugin.specification.load()) for plugin in registry().plugins("study")]
