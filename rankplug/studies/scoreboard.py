"""A comparison of methods over all installed papers, from the runs of theirs that a store holds.

A method is a model of a paper, a collection a data set with the transforms that were applied to it. Methods are
compared only at the same profile and by the same metric. The store is asked for the runs that the studies plan now, so
that results of other versions or seeds never meet these in a mean.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankplug.errors import RankplugError
from rankplug.registry import parse
from rankplug.statistics import CriticalDifference, Interval, best_is_greater, critical_difference, p_values
from rankplug.studies.papers import Study, studies, study
from rankplug.studies.runs import PROFILES, Profile, design_of, is_made, read_profile
from rankplug.studies.samples import Design, OfficialFolds, Resplits, interval_of, sample_of_queries
from rankplug.sweeps import chosen_on_validation

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Store

METRIC = "ndcg@5"
MARGIN = 0.5
"""Points that matter, where no other margin is asked for."""


@dataclass(frozen=True, order=True)
class Method:
    """A model of a paper; ``kind`` names its runs where the paper has several models of one name."""

    study: str
    model: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.kind}" if self.kind else self.model


@dataclass(frozen=True, order=True)
class Collection:
    """Data on which methods are compared.

    Args:
        dataset: as its combinations name it.
        transforms: that were applied to it.
        test: digest of the test data of its first trial, which tells collections of one name apart.
        place: the paper's data set in whose place it stands.
    """

    dataset: str
    transforms: tuple[str, ...]
    test: str = ""
    place: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """A short name: the collection's own, or the one in whose place made data stand."""
        name = self.dataset.partition("[")[0].upper()
        return f"made as {self.place.removeprefix('made as ') or name}" if is_made(self.dataset) else name

    @property
    def details(self) -> str:
        """The data set and its transforms in full."""
        return " | ".join([self.dataset, *self.transforms])


@dataclass(frozen=True, order=True)
class Conditions:
    """Conditions under which runs may be compared: size of the runs, kind of data, metric with its conventions."""

    profile: Profile
    made: bool
    metric: str

    @property
    def title(self) -> str:
        """The conditions in words."""
        return f"profile {self.profile}, {'made data' if self.made else 'real data'}, {self.metric}"


@dataclass(frozen=True, eq=False)
class Entry:
    """Runs of one method on one collection.

    Args:
        method: that was run.
        collection: what on.
        conditions: under which.
        values: means over test queries, indexed by trial and fold.
        records: descriptions of the trials.
        asked: number of trials and folds that the profile asks for.
    """

    method: Method
    collection: Collection
    conditions: Conditions
    values: pd.Series[float]
    records: tuple[Mapping[str, Any], ...]
    asked: int

    @cached_property
    def identities(self) -> tuple[str, ...]:
        """The combinations behind it."""
        return tuple(dict.fromkeys(str(record["identity"]) for record in self.records))


@dataclass(frozen=True)
class Standing:
    """A method's place on a collection.

    Args:
        entry: its runs.
        interval: its mean with the interval of the collection's design.
        verdict: on "the best is better": holds, no difference or inconclusive; empty for the best itself.
        lead: the best's mean difference to it.
    """

    entry: Entry
    interval: Interval
    verdict: str
    lead: float

    @property
    def has_interval(self) -> bool:
        """Whether there were enough repetitions for an interval."""
        return not math.isnan(self.interval.low)

    @property
    def trials(self) -> int:
        """Number of trials and folds that are stored."""
        return len(self.entry.values)

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        low, high = (end if self.has_interval else None for end in (self.interval.low, self.interval.high))
        about = {"mean": self.interval.point, "low": low, "high": high, "runs": self.trials, "asked": self.entry.asked}
        best = {"the_best_is_better": self.verdict or None, "behind_the_best": self.lead}
        return {**about, **best, "combinations": list(self.entry.identities)}


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods within trials or folds, 1 the best, and how far apart two must lie to differ.

    Args:
        mean: of each method.
        critical: Friedman's test and Nemenyi's difference; None where they say nothing.
        why_not: the reason in that case.
    """

    mean: Mapping[Method, float]
    critical: CriticalDifference | None = None
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class Board:
    """Methods that were run on one collection under the same conditions.

    Args:
        conditions: of all of it.
        collection: the data.
        entries: the methods' runs.
        margin: the difference that would matter.
        read: returns the values of the test queries of some combinations.
    """

    conditions: Conditions
    collection: Collection
    entries: Sequence[Entry]
    margin: float
    read: Callable[[Iterable[str], str], pd.DataFrame]

    @property
    def title(self) -> str:
        """The papers, the conditions and the collection."""
        papers = ", ".join(dict.fromkeys(entry.method.study for entry in self.entries))
        return f"{papers}: {self.conditions.title}, {self.collection.title} ({self.collection.details})"

    @cached_property
    def design(self) -> Design:
        """The experimental design of the trials."""
        return design_of(record for entry in self.entries for record in entry.records)

    @cached_property
    def runs(self) -> list[Entry]:
        """The entries without those whose runs another one has too, under another name."""
        return list({entry.identities: entry for entry in reversed(self.entries)}.values())[::-1]

    @cached_property
    def standings(self) -> dict[Method, Standing]:
        """The place of each method, the highest mean first."""
        values = {entry.identities: entry.values for entry in self.runs}
        if isinstance(self.design, OfficialFolds):
            rows = self.read(self.identities, self.conditions.metric).set_index(["combination", "trial", "fold"])
            for entry in self.runs:
                trials = [(one["identity"], one["trial"], one["fold"]) for one in entry.records]
                own = rows[rows.index.isin(trials)].reset_index()
                values[entry.identities] = own.set_index(["trial", "fold", "query"])["value"].sort_index()
        intervals = {runs: interval_of(sample_of_queries(series, self.design)) for runs, series in values.items()}
        best, *others = sorted(values, key=lambda runs: (-intervals[runs].point, runs))
        estimates = [sample_of_queries(values[best] - values[runs], self.design).estimate for runs in others]
        points, errors, degrees = zip(*((one.point, one.error, one.degrees) for one in estimates), strict=True)
        words = ["", *map(str, best_is_greater(p_values(points, errors, degrees, self.margin)))]
        return {
            entry.method: Standing(entry, intervals[runs], word, lead)
            for runs, word, lead in zip([best, *others], words, (0.0, *map(float, points)), strict=True)
            for entry in self.entries
            if entry.identities == runs
        }

    @cached_property
    def ranks(self) -> Ranks:
        """Mean ranks, within each trial or fold, of the methods whose runs are their own."""
        import pandas as pd

        in_folds = isinstance(self.design, OfficialFolds)
        level, unit = ("fold", "folds") if in_folds else ("trial", "trials")
        means = {entry.method: entry.values.groupby(level=level).mean() for entry in self.runs}
        blocks = pd.DataFrame(means).dropna()
        ranks = {cast(Method, method): float(rank) for method, rank in (-blocks).rank(axis=1).mean().items()}
        if len(ranks) < 3:
            return Ranks(ranks, None, "fewer than 3 methods")
        if isinstance(self.design, Resplits):
            return Ranks(ranks, None, "the trials share queries")
        if len(blocks) < 2:
            return Ranks(ranks, None, f"fewer than 2 {unit} that all methods have")
        critical = critical_difference(blocks.to_numpy(np.float64), unit=cast(Any, unit))
        if critical.critical_difference >= len(ranks) - 1:
            return Ranks(ranks, None, f"{len(blocks)} {unit} are too few to tell {len(ranks)} methods apart")
        return Ranks(ranks, critical)

    @property
    def identities(self) -> tuple[str, ...]:
        """The combinations behind it."""
        return tuple(dict.fromkeys(identity for entry in self.entries for identity in entry.identities))

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        ranks = self.ranks
        about: dict[str, Any] = {"methods": len(ranks.mean), "critical_difference": None, "why_not": ranks.why_not}
        if ranks.critical is not None:
            about |= {"critical_difference": ranks.critical.critical_difference, "p": ranks.critical.p_value}
            about |= {"blocks": ranks.critical.blocks, "unit": ranks.critical.unit}
        return {
            "profile": self.conditions.profile,
            "data": "made" if self.conditions.made else "real",
            "metric": self.conditions.metric,
            "collection": self.collection.title,
            "dataset": self.collection.details,
            "ranks": about,
            "methods": [
                {"study": method.study, "method": str(method), "mean_rank": ranks.mean.get(method), **place.describe()}
                for method, place in self.standings.items()
            ],
        }


@dataclass(frozen=True)
class Scoreboard:
    """All boards of a store, in the order of profile and data, by a metric, with the points that would matter."""

    boards: tuple[Board, ...]
    metric: str
    margin: float

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        return {"metric": self.metric, "margin": self.margin, "boards": [board.describe() for board in self.boards]}


def scoreboard(
    names: Iterable[str | Study] = (),
    *,
    store: Store | str | Path | None = None,
    metric: str = METRIC,
    profiles: Several[str] = (),
    margin: float = MARGIN,
) -> Scoreboard:
    """Compare the methods of papers on every collection on which a store has runs of two of them; nothing is run.

    Args:
        names: of studies, or the studies; all that are installed if there is none.
        store: where results lie, or their folder.
        metric: by name; any conventions of it, each on boards of its own, unless they are named too.
        profiles: sizes of the runs, all if there is none.
        margin: the points that would matter.
    """
    from rankplug.store import Store

    if not margin > 0 or math.isinf(margin):
        raise RankplugError(f"a margin is a number of points above 0, such as {MARGIN}, not {margin}")
    chosen = [name if isinstance(name, Study) else study(name) for name in names] or studies()
    sizes = [read_profile(profile) for profile in profiles] or PROFILES
    results = Store.named(store)
    groups: dict[tuple[Conditions, Collection], list[Entry]] = {}
    for entry in _distinctly_named(_entries(chosen, results, metric, sizes)):
        groups.setdefault((entry.conditions, entry.collection), []).append(entry)
    order = sorted(groups, key=lambda key: (PROFILES.index(key[0].profile), not key[0].made, key))
    read = functools.partial(_query_values, results)
    boards = (Board(*key, sorted(groups[key], key=lambda entry: entry.method), margin / 100, read) for key in order)
    return Scoreboard(tuple(board for board in boards if len(board.runs) > 1), metric, margin)


def _entries(chosen: Iterable[Study], store: Store, metric: str, profiles: Several[str]) -> Iterator[Entry]:
    """Yield what a store has of the runs of some studies."""
    from rankplug.store import results

    stored = {(about["identity"], about["fold"], about["trial"]): about for about in store.find().descriptions}
    measured = {str(name) for about in stored.values() for name in about["combination"]["metrics"]}
    metrics = sorted(name for name in measured if metric in (name, name.partition("[")[0]))
    if not metrics:
        return
    rows = results(store, where=f"metric in ({_quoted(metrics)})")
    means: pd.Series[float] = rows.set_index(["metric", "combination", "trial", "fold"])["value"].sort_index()
    curves = functools.cache(lambda: _validation_curves(store))
    datasets = {about["combination"]["dataset"] for about in stored.values()}
    planned = (
        (owner, profile, runs, model)
        for owner in chosen
        for profile in (profile for profile in PROFILES if profile in profiles)
        for runs in owner.runs(profile, None)
        for model in runs.models
        if any(str(parse(str(name))) in datasets for name in np.atleast_1d(runs.grid(model)["dataset"]))
    )
    for owner, profile, runs, model in planned:
        keys = [(trial.combination.identity, trial.fold, trial.number) for trial in runs.trials_of(model)]
        there: list[Mapping[str, Any]] = [stored[key] for key in keys if key in stored]
        about = _chosen(there, len({key[0] for key in keys}), curves)
        if not about:
            continue
        parts, first = about[0]["combination"], min(about, key=lambda one: (one["trial"], one["fold"]))
        test = str(first["record"].get("test_fingerprint", ""))
        collection = Collection(parts["dataset"], tuple(parts["transforms"]), test, runs.place)
        for name in metrics:
            index = [(name, one["identity"], one["trial"], one["fold"]) for one in about]
            values = means.reindex(index).dropna().droplevel([0, 1]).sort_index()
            if len(values):
                conditions = Conditions(profile, is_made(parts["dataset"]), name)
                method = Method(owner.name, model, runs.kind or runs.name)
                yield Entry(method, collection, conditions, values, tuple(about), len(runs.folds) * runs.trials)


def _query_values(store: Store, identities: Iterable[str], metric: str) -> pd.DataFrame:
    from rankplug.store import query

    where = f"metric = '{metric}' and combination in ({_quoted(identities)})"
    return query(f"select combination, trial, fold, query, value from queries where {where}", store)


def _validation_curves(store: Store) -> pd.DataFrame:
    from rankplug.store import query

    columns = "combination, fold, trial, selection, 'curve' as measure, part, metric, value"
    return query(f"select {columns} from curves where part = 'valid'", store)


def _chosen(
    there: list[Mapping[str, Any]], choices: int, curves: Callable[[], pd.DataFrame]
) -> list[Mapping[str, Any]]:
    """Return the trials of the combination that validation data choose in each fold, once all choices have some."""
    identities = {about["identity"] for about in there}
    if choices == 1 or len(identities) < choices:
        return there if choices == 1 else []
    frame = curves()
    keys = {(about["identity"], about["fold"], about["trial"]) for about in there}
    own = frame[frame["combination"].isin(identities)]
    named = [key in keys for key in zip(own["combination"], own["fold"], own["trial"], strict=True)]
    rows = chosen_on_validation(own[named])[["combination", "fold"]].drop_duplicates()
    best = set(rows.itertuples(index=False, name=None))
    return [about for about in there if (about["identity"], about["fold"]) in best]


def _distinctly_named(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield each run once; of several models of one name the first has no kind."""
    known: dict[Any, set[tuple[str, ...]]] = {}
    for entry in entries:
        others = known.setdefault((entry.method.study, entry.method.model, entry.conditions, entry.collection), set())
        if entry.identities not in others:
            yield entry if others else replace(entry, method=replace(entry.method, kind=""))
            others.add(entry.identities)


def _quoted(words: Iterable[str]) -> str:
    """Return words as a list in SQL."""
    return ", ".join("'" + word.replace("'", "''") + "'" for word in sorted(words))
