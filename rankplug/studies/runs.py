"""Runs of a study: those that a paper needs, the results that a store has of them, and what their records tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from rankplug.errors import RankplugError, did_you_mean
from rankplug.registry import parse, registry
from rankplug.studies.samples import Design, IndependentTrials, OfficialFolds, Resplits
from rankplug.sweeps import chosen_on_validation, needed_trials

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Store, Trial
    from rankplug.sweeps import KeptRun, Sweep

Profile = Literal["smoke", "quick", "full", "real", "paper"]
PROFILES: tuple[Profile, ...] = ("smoke", "quick", "full", "real", "paper")


def read_profile(name: str) -> Profile:
    """Validate the name of a profile."""
    if name not in PROFILES:
        raise RankplugError(f"there is no profile {name}: {did_you_mean(name, PROFILES)}")
    return name


@dataclass(frozen=True)
class Runs:
    """A group of models that are trained on the same data and compared.

    Args:
        name: name of the group, by which figures ask for their results.
        models: the model's name in the paper -> the parts of the combination that make it. Where they are a grid,
            validation data choose among its combinations, see :mod:`rankplug.sweeps`.
        shared: parts that all models have, such as the data set.
        folds: folds of the data set.
        trials: repetitions, each with a seed of its own.
        kind: purpose of the group, by which exhibits ask for all groups of a kind.
        place: the paper's data set in whose place the group's data stand, or their own name.
        level: value that varies among the groups of a kind, such as the share of noise.
        settings: model -> what varies among the models of the group, such as the number of samples.
        keep_scores: keeps the scores of all test documents, see :meth:`Results.rankings`.
        choosing: of how many first trials of every combination of a grid validation data choose; the others are of the
            chosen one alone. 0 for all trials of all.
    """

    name: str
    models: Mapping[str, Mapping[str, Any]]
    shared: Mapping[str, Any]
    folds: tuple[int, ...] = (1,)
    trials: int = 1
    kind: str = ""
    place: str = ""
    level: float = 0.0
    settings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    keep_scores: bool = False
    choosing: int = 0

    @property
    def dataset_name(self) -> str:
        """The name of the data set, without its parameters; empty where the models do not share one."""
        dataset = self.shared.get("dataset", "")
        return parse(str(dataset)).name if dataset else ""

    def grid(self, model: str) -> dict[str, Any]:
        """Return the parts of a model's combinations."""
        return {**self.shared, **self.models[model]}

    def sweep(self) -> Sweep:
        """Return what runs the group."""
        from rankplug.sweeps import Sweep

        grids = tuple(self.grid(model) for model in self.models)
        return Sweep(grids, self.folds, self.trials, keep_scores=self.keep_scores, choosing=self.choosing)

    def trials_of(self, model: str, store: Store | None = None) -> list[Trial]:
        """Return all trials of a model, or those that are needed where a store tells what the first ones choose."""
        from rankplug.store import Trial, combinations

        selected, left_out = combinations(self.grid(model))
        if left_out:
            raise RankplugError(f"{left_out} combinations of {model} name a scorer that their backend cannot fit")
        trials = [
            Trial(combination, fold, number)
            for combination in selected
            for fold in self.folds
            for number in range(self.trials)
        ]
        return needed_trials(trials, self.choosing, store) if self.choosing and store is not None else trials


class StoredFrames(Mapping[str, "pd.DataFrame"]):
    """The rows of each group of runs.

    Args:
        runs: groups of runs by their names.
        store: the store of their results.
    """

    def __init__(self, runs: Mapping[str, Runs], store: Store) -> None:
        self.runs, self.store = runs, store
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, group: str) -> pd.DataFrame:
        if group not in self._read:
            self._read[group] = self._frame(self.runs[group])
        return self._read[group]

    def __contains__(self, group: object) -> bool:
        return group in self.runs

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """The trials of all groups, each once."""
        models = [(runs, model) for runs in self.runs.values() for model in runs.models]
        trials = {trial.identity: trial for runs, model in models for trial in runs.trials_of(model, self.store)}
        return tuple(trials.values())

    @property
    def missing(self) -> list[Trial]:
        """Trials that are not in the store."""
        return [trial for trial in self.trials if not self.store.has(trial)]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Records of the finished trials: combination, versions, timings, digests."""
        return [record for trial in self.trials if (record := self.store.about(trial))]

    def rankings(self, group: str, models: Sequence[str]) -> Iterator[dict[str, KeptRun]]:
        """Yield what some models ranked, a mapping for each fold of each trial; nothing where scores are not kept."""
        from rankplug.sweeps import ranked_by

        together: dict[tuple[int, int], dict[str, Trial]] = {}
        for model in models:
            frame = self[group]
            rows = frame.loc[frame["model"] == model, ["combination", "fold"]].drop_duplicates()
            used = {(str(identity), fold) for identity, fold in rows.itertuples(index=False)}
            candidates = self.runs[group].trials_of(model, self.store)
            several = len({trial.combination.identity for trial in candidates}) > 1
            for trial in candidates:
                if not several or (trial.combination.identity, trial.fold) in used:
                    together.setdefault((trial.number, trial.fold), {})[model] = trial
        ranked = [trial for trials in together.values() for trial in trials.values()]
        if len(self.store.with_scores(ranked)) < len(ranked):
            return
        for trials in together.values():
            yield {model: ranked_by(trial, self.store) for model, trial in trials.items()}

    def _frame(self, runs: Runs) -> pd.DataFrame:
        """Return the rows of a group, each model represented by the combination that validation data choose."""
        import pandas as pd

        frames = []
        for model in runs.models:
            there = self.store.frame(runs.trials_of(model, self.store), categories=_FEW_VALUES)
            frame = chosen_on_validation(there, runs.choosing)
            frame["model"] = pd.Categorical.from_codes(np.zeros(len(frame), int), categories=pd.Index([model]))
            frames.append(frame)
        joined = _joined(frames)
        joined["model"] = joined["model"].cat.set_categories(list(runs.models))
        return joined


_FEW_VALUES = (
    "measure", "metric", "part", "dataset", "backend", "scorer", "loss", "sampler", "transforms", "selection",
    "combination", "model",
)  # fmt: skip
"""Columns of recurring texts, kept as numbers: over thousands of test queries the texts would fill the memory."""


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join frames whose columns of recurring texts have categories of their own."""
    import pandas as pd

    for column in _FEW_VALUES:
        known = list(dict.fromkeys(value for frame in frames for value in frame[column].cat.categories))
        for frame in frames:
            frame[column] = frame[column].cat.set_categories(known)
    return pd.concat(frames, ignore_index=True)


def design_of(records: Iterable[Mapping[str, Any]]) -> Design:
    """Return the experimental design behind the records of one group's trials.

    Several folds rotate the parts of one collection. One test part that all trials share is analysed as one fold of
    it. Test parts that differ are drawn anew, unless the trials have the pool of queries in common.

    >>> def record(trial, test, pool):
    ...     return {"fold": 1, "trial": trial, "record": {"test_fingerprint": test, "pool": pool, "queries": [6, 2, 2]}}
    >>> design_of([record(0, "a", "x"), record(1, "b", "y")])
    IndependentTrials(unit='trials')
    >>> design_of([record(0, "a", "x"), record(1, "b", "x")])
    Resplits(test_to_train=0.3333333333333333)
    >>> design_of([record(0, "a", "x"), record(1, "a", "x")])
    OfficialFolds()
    """
    several = list(records)
    if len({record["fold"] for record in several}) > 1:
        return OfficialFolds()
    trials = list({record["trial"]: record["record"] for record in several}.values())
    if len(trials) < 2:
        return IndependentTrials()
    if len({record["test_fingerprint"] for record in trials}) == 1:
        return OfficialFolds()
    pools = {record.get("pool") for record in trials}
    if len(pools) > 1 or None in pools:
        return IndependentTrials()
    train, _, test = trials[0]["queries"]
    return Resplits(test / train)


def is_made(dataset: str) -> bool:
    """Tell whether a data set is generated by a program rather than read from files."""
    from rankplug.data import StoredDataset

    specification, _ = registry().resolve("dataset", dataset)
    return not isinstance(cast(Any, specification).load(), StoredDataset)


def core_seconds(record: Mapping[str, Any]) -> float:
    """Return the seconds of one core that a trial took; what is no number on record counts as nothing."""
    seconds = sum(number_on(record, f"{part}_seconds") for part in ("load", "fit", "measure"))
    return seconds * number_on(record, "threads", 1.0)


def number_on(record: Mapping[str, Any], name: str, otherwise: float = 0.0) -> float:
    """Return a number on a trial's record, which may be another's and hold anything."""
    value = record.get(name)
    return float(value) if isinstance(value, (int, float)) else otherwise
