"""Results of a study: frames of values, differences of models with their design, and pairs of models by query."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from rankplug.errors import NotRunError
from rankplug.registry import canonical
from rankplug.studies.runs import StoredFrames, design_of, is_made
from rankplug.studies.samples import (
    Cell,
    Design,
    IndependentTrials,
    OfficialFolds,
    Resplits,
    Sample,
    interval_of,
    means_of_trials,
    sample_of_queries,
)
from rankplug.studies.verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.statistics import Interval
    from rankplug.studies.runs import Profile, Runs
    from rankplug.sweeps import KeptRun

Value = TypeVar("Value")

MOST_MODELS = 24
"""Models of a group that are compared; of more, those with the highest means."""
MOST_QUERIES = 200
"""Queries of a group that are drawn, taken evenly from all of them."""
EQUAL = 1e-9
"""Values that are closer than this are equal."""
DIGITS = 3
"""Digits of the values that are drawn."""


def _once(method: Callable[..., Value]) -> Callable[..., Value]:
    """Compute a method of :class:`Results` once for the same arguments."""

    @functools.wraps(method)
    def shared(self: Results, *names: str) -> Value:
        key = (method.__name__, *names)
        if key not in self._shared:
            self._shared[key] = method(self, *names)
        return cast(Value, self._shared[key])

    return shared


def _of_queries(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    return frame[(frame["measure"] == "query") & (frame["metric"] == canonical("metric", metric))]


@dataclass(frozen=True)
class Results:
    """Results of a study's sweep at a profile, one frame for each group of runs, with the column ``model``.

    Args:
        profile: size of the runs.
        frames: the rows of each group, see :meth:`rankplug.store.Store.frame`.
        published: the numbers the paper prints.
        records: record of every trial: combination, versions, timings, digests.
        runs: groups of runs by their names.
        decisions: verdicts on claims for which trials were added, by the claim's id.
        parameters: parameters other than the profile's own, such as another data set.
    """

    profile: Profile
    frames: Mapping[str, pd.DataFrame]
    published: pd.DataFrame
    records: Sequence[dict[str, Any]] = ()
    runs: Mapping[str, Runs] = field(default_factory=dict)
    decisions: Mapping[str, Verdict] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    _shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _readers: list[dict[Cell, None]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __getitem__(self, group: str) -> pd.DataFrame:
        """Return all rows of a group."""
        self._note(group)
        return self.frames[group]

    @contextlib.contextmanager
    def noting_reads(self) -> Iterator[dict[Cell, None]]:
        """Note in the order of reading which groups and models are read until the block ends."""
        cells: dict[Cell, None] = {}
        self._readers.append(cells)
        try:
            yield cells
        finally:
            self._readers.pop()

    def _note(self, group: str, models: Iterable[str] | None = None) -> None:
        for cells in self._readers:
            cells.update(((group, str(model)), None) for model in (self.models(group) if models is None else models))

    def identities(self, group: str, model: str) -> tuple[str, ...]:
        """Return the combinations that represent a model: one, or one a fold where validation data chose."""
        return self._identities(group).get(model, ())

    @_once
    def _identities(self, group: str) -> dict[str, tuple[str, ...]]:
        frame = self.frames[group]
        if not {"model", "combination"} <= set(frame.columns):
            return {}
        pairs = frame[["model", "combination"]].drop_duplicates().groupby("model", observed=True, sort=False)
        return {str(model): tuple(map(str, rows["combination"])) for model, rows in pairs}

    def combinations_of(self, group: str, *models: str) -> str:
        """Return the names of the combinations behind some models, for a table's column ``combination``."""
        return " ".join(dict.fromkeys(identity for model in models for identity in self.identities(group, model)))

    def groups(self, kind: str = "", place: str = "") -> list[str]:
        """Return the names of the groups in their order: all, or those of a kind and of the data in a place."""
        if not kind and not place:
            return list(self.frames)
        known = [self.runs[group] for group in self.frames if group in self.runs]
        return [runs.name for runs in known if kind in ("", runs.kind) and place in ("", runs.place)]

    def groups_run(self, kind: str) -> list[str]:
        """Return the names of the groups of a kind, of which one was run at least."""
        if not (names := self.groups(kind=kind)):
            raise NotRunError(f"no group of the kind {kind} is part of these runs")
        return names

    def place(self, group: str) -> str:
        """Return the paper's data set in whose place a group's data stand."""
        return self.runs[group].place

    def setting(self, group: str, name: str) -> dict[float, str]:
        """Return the models of a group between which a setting varies, by its value in ascending order."""
        models = {values[name]: model for model, values in self.runs[group].settings.items() if name in values}
        return dict(sorted(models.items()))

    def query_count(self, group: str, metric: str) -> int:
        """Return the number of test queries of all trials in which a metric has values."""
        return len(self._by_query(group, metric).dropna())

    def queries_of_a_trial(self, group: str, metric: str) -> float:
        """Return the mean number of test queries of a trial, over all folds, in which a metric has values."""
        return self.query_count(group, metric) / self.frames[group]["trial"].nunique()

    def models(self, group: str) -> list[str]:
        """Return the models of a group in their order."""
        return list(self.frames[group]["model"].cat.categories)

    def queries(self, group: str, metric: str) -> pd.DataFrame:
        """Return the values of one metric, one row a test query."""
        return _of_queries(self[group], metric)

    def trials(self, group: str, metric: str) -> pd.DataFrame:
        """Return a metric's means over the test queries that count: a row for each trial, a column for each model.

        Where there are several folds, a trial's number is the mean of those of its folds.
        """
        self._note(group)
        return self._means_of_trials(group, metric).copy()

    @_once
    def _means_of_trials(self, group: str, metric: str) -> pd.DataFrame:
        of_folds = self.queries(group, metric).groupby(["model", "trial", "fold"], observed=True)["value"].mean()
        return of_folds.groupby(["trial", "model"], observed=True).mean().unstack("model")

    def by_query(self, group: str, metric: str) -> pd.DataFrame:
        """Return a metric's values: a row for each trial, fold and test query, a column for each model."""
        self._note(group)
        return self._by_query(group, metric)

    @_once
    def _by_query(self, group: str, metric: str) -> pd.DataFrame:
        rows = _of_queries(self.frames[group], metric)
        return rows.pivot_table(index=["trial", "fold", "query"], columns="model", values="value", observed=True)

    def curves(self, group: str, part: str, metric: str, models: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the learning curves: one row an iteration of a trial."""
        self._note(group, models)
        frame = self.frames[group]
        rows = (frame["measure"] == "curve") & (frame["part"] == part)
        rows &= frame["metric"] == canonical("metric", metric)
        return frame[rows if models is None else rows & frame["model"].isin(models)]

    def curve_of_trials(self, group: str, model: str, part: str, metric: str) -> pd.DataFrame:
        """Return one model's learning curves: a row for each iteration, a column for each trial and fold.

        Where a training stopped before others did, its column is nan from there on.
        """
        curves = self.curves(group, part, metric, (model,))
        return curves.pivot_table(index="iteration", columns=["trial", "fold"], values="value", observed=True)

    def lead_in_training(self, group: str, first: str, second: str, part: str, metric: str) -> pd.DataFrame:
        """Return the difference of two models' learning curves: a row an iteration, a column a trial and fold.

        A training with no step left to make stays where it is.

        Raises:
            NotRunError: early stopping ended a training, so that the rest of its curve is not known.
        """
        self.require_whole_trainings(group, first, second)
        ours, theirs = (self.curve_of_trials(group, model, part, metric) for model in (first, second))
        iterations = ours.index.union(theirs.index)
        return ours.reindex(iterations).ffill() - theirs.reindex(iterations).ffill()

    def require_whole_trainings(self, group: str, *models: str) -> None:
        """Raise an error if early stopping ended a training of some models."""
        identities = {identity for model in models for identity in self.identities(group, model)}
        if any(r["identity"] in identities and r["record"].get("stopped") == "patience" for r in self.records):
            raise NotRunError(
                "not run to the end: early stopping ended trainings before their curves could be compared"
            )

    def rankings(self, group: str, *models: str) -> Iterator[dict[str, KeptRun]]:
        """Yield what some models ranked on test data, a mapping for each fold of each trial.

        Nothing comes of results that are not read from a store, and where it has not kept the scores of all of them, as
        of runs that were made before their group asked for it.
        """
        self._note(group, models)
        return self.frames.rankings(group, models) if isinstance(self.frames, StoredFrames) else iter(())

    def once(self, name: str, make: Callable[[], Value]) -> Value:
        """Return what was made of these results under a name, which several exhibits and claims share.

        What was read for it counts as read by each of them.
        """
        if name not in self._shared:
            with self.noting_reads() as cells:
                self._shared[name] = make(), cells
        value, cells = self._shared[name]
        for reader in self._readers:
            reader.update(cells)
        return cast(Value, value)

    @_once
    def design(self, group: str) -> Design:
        """Return the experimental design of a group: how its trials were repeated."""
        identities = set(self.frames[group]["combination"].unique()) if self.records else set()
        if records := [record for record in self.records if record["identity"] in identities]:
            return design_of(records)
        return OfficialFolds() if self.frames[group]["fold"].nunique() > 1 else IndependentTrials()

    def contrast(self, metric: str, weights: Mapping[Cell, float]) -> Sample:
        """Return a weighted sum of models' test metrics, such as the difference between two models.

        Args:
            metric: name of the metric.
            weights: group and model -> weight. Groups that are mixed share their test data trial by trial.
        """
        total: Any = 0.0
        for (group, model), weight in weights.items():
            self._note(group, (model,))
            total = total + weight * self._by_query(group, metric)[model]
        return self.sample_of_queries(next(iter(weights))[0], total, weights)

    def sample_of_queries(self, group: str, values: pd.Series[float], runs: Iterable[Cell]) -> Sample:
        """Make a sample of a value for each trial, fold and test query, indexed as by :meth:`by_query`, with its
        group's design.
        """
        return sample_of_queries(values, self.design(group), runs)

    def difference(self, group: str, metric: str, first: str, second: str) -> Sample:
        """Return one model's test metric minus another's."""
        return self.contrast(metric, {(group, first): 1.0, (group, second): -1.0})

    def sample(self, group: str, values: pd.Series[float], models: Iterable[str]) -> Sample:
        """Make a sample of a value for each trial and fold, such as a point of a curve, with the design of its group.

        Args:
            group: name of the group.
            values: indexed by trial and fold, as the columns of :meth:`curve_of_trials` are.
            models: the models whose runs gave them.
        """
        design, runs = self.design(group), frozenset((group, model) for model in models)
        if isinstance(design, OfficialFolds):
            return Sample(values.unstack("trial").dropna(axis=1).to_numpy(np.float64), design, runs)
        return Sample(means_of_trials(values), design, runs)

    def mean(self, group: str, metric: str, model: str, scale: float = 1.0) -> Interval:
        """Return one model's mean test metric with the interval of its group's design."""
        return interval_of(self.contrast(metric, {(group, model): scale}))

    def spread(self, group: str) -> dict[str, Any]:
        """Return the spread that figures of a group draw as bands, for :func:`rankplug.plotting.draw_curves`.

        Bands are Student's over trials, or over the folds of a collection; re-splits of one pool widen them.
        """
        design, trials = self.design(group), self.frames[group]["trial"].nunique()
        if isinstance(design, Resplits):
            return {"over": "trial", "widen": float(np.sqrt(1 + design.test_to_train * trials))}
        several = isinstance(design, OfficialFolds) and self.frames[group]["fold"].nunique() > 1
        return {"over": "fold" if several else "trial", "widen": 1.0}

    def collection(self, group: str, place: str = "") -> str:
        """Name the data of a group as verdicts do: by the collection, or by the one that made data imitate."""
        if not self.is_made(group):
            return self.runs[group].dataset_name.upper()
        return f"made data for {place.removeprefix('made as ')}" if place else "made data"

    def is_made(self, group: str) -> bool:
        """Tell whether a group's data were generated by a program; those of a group that names none count as such."""
        dataset = str(self.runs[group].shared.get("dataset", "")) if group in self.runs else ""
        return not dataset or is_made(dataset)

    def describe(self) -> pd.DataFrame:
        """Describe the combinations in a table, ``used`` where they represent their model in the results."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for group, runs in self.runs.items():
            for model in runs.models:
                used = self.identities(group, model)
                about = {"group": group, "model": model, "folds": len(runs.folds), "trials": runs.trials}
                for combination in dict.fromkeys(trial.combination for trial in runs.trials_of(model)):
                    words = combination.in_words()
                    identity = words.pop("identity")
                    rows.append({**about, **words, "combination": identity, "used": identity in used})
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class QueryPairs:
    """Values of a group's models on the same test queries.

    Args:
        group: name of the group.
        metric: name of the metric.
        queries: number of queries in all trials and folds.
        models: names of the models, the highest mean first.
        left_out: number of models with lower means.
        identities: for each model a combination that represents it; empty where none is known.
        means: mean of each model over all queries.
        better: for each model the number of queries on which it is better than each of the models.
        drawn: trial, fold and query of those that are drawn.
        values: values of each model on these.
    """

    group: str
    metric: str
    queries: int
    models: tuple[str, ...]
    left_out: int
    identities: tuple[str, ...]
    means: tuple[float, ...]
    better: tuple[tuple[int, ...], ...]
    drawn: tuple[tuple[int, int, str], ...]
    values: tuple[tuple[float, ...], ...]

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> QueryPairs:
        """Read a comparison from JSON, which has lists in place of tuples."""

        def frozen(value: Any) -> Any:
            return tuple(map(frozen, value)) if isinstance(value, list) else value

        return cls(**{name: frozen(value) for name, value in described.items()})


def query_pairs(results: Results) -> Iterator[QueryPairs]:
    """Yield a comparison for each group of several models that share test queries, by the metric that selects."""
    for group in results.groups():
        metric = _metric(results, group)
        if metric and len(results.models(group)) > 1:
            values = results.by_query(group, metric).dropna()
            if len(values):
                yield _compared(results, group, metric, values)


def _metric(results: Results, group: str) -> str:
    """Return the metric of the group's test queries by which it selects, or the first; empty where there is none."""
    frame = results.frames[group]
    measured = [str(name) for name in frame.loc[frame["measure"] == "query", "metric"].unique()]
    selection = results.runs[group].shared.get("selection", ()) if group in results.runs else ()
    return next((name for name in selection if name in measured), measured[0] if measured else "")


def _compared(results: Results, group: str, metric: str, values: pd.DataFrame) -> QueryPairs:
    means = values.mean().sort_values(ascending=False, kind="stable").iloc[:MOST_MODELS]
    models = [str(model) for model in means.index]
    table = values[models].to_numpy(np.float64)
    better = [(column[:, None] > table + EQUAL).sum(axis=0).tolist() for column in table.T]
    places = np.unique(np.linspace(0, len(table) - 1, MOST_QUERIES).round().astype(int))
    return QueryPairs(
        group,
        metric,
        len(table),
        tuple(models),
        values.shape[1] - len(models),
        tuple(next(iter(results.identities(group, model)), "") for model in models),
        tuple(means.tolist()),
        tuple(map(tuple, better)),
        tuple((int(trial), int(fold), str(query)) for trial, fold, query in values.index[places]),
        tuple(map(tuple, table[places].T.round(DIGITS).tolist())),
    )
