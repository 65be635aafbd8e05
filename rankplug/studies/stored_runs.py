"""The stored results of a study's runs, each read from the store when it is first asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rankplug.sweeps import chosen_on_validation

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import KeptRun, Store, Trial
    from rankplug.studies.papers import Runs


class StoredFrames(Mapping[str, "pd.DataFrame"]):
    """The rows of each group of runs.

    Args:
        runs: by the name of the group.
        store: where their results lie.
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
        several = (trial for runs in self.runs.values() for model in runs.models for trial in runs.trials_of(model))
        return tuple({trial.identity: trial for trial in several}.values())

    @property
    def missing(self) -> list[Trial]:
        """Trials that are not in the store."""
        return [trial for trial in self.trials if not self.store.has(trial)]

    @cached_property
    def digest(self) -> str:
        """A digest of what was asked for and of the files that answer it, which changes when a trial runs again."""
        digest = hashlib.blake2b(digest_size=16)
        for name, runs in self.runs.items():
            digest.update(f"{name} {list(runs.models)} {runs.folds} {runs.trials}\n".encode())
        for trial in self.trials:
            state = self.store.path(trial).stat()
            digest.update(f"{trial.identity} {state.st_size} {state.st_mtime_ns}\n".encode())
        for runs in self.runs.values():
            if runs.keep_scores:
                of_models = [trial for model in runs.models for trial in runs.trials_of(model)]
                digest.update(f"{runs.name} {len(self.store.with_scores(of_models))} with scores\n".encode())
        return digest.hexdigest()

    def rankings(self, group: str, models: Sequence[str]) -> Iterator[dict[str, KeptRun]]:
        """Yield what some models ranked, a mapping for each fold of each trial; nothing where scores are not kept."""
        from rankplug.store import ranked_by

        together: dict[tuple[int, int], dict[str, Trial]] = {}
        for model in models:
            frame = self[group]
            chosen = frame.loc[frame["model"] == model, ["combination", "fold"]].drop_duplicates()
            used = {(str(identity), fold) for identity, fold in chosen.itertuples(index=False)}
            candidates = self.runs[group].trials_of(model)
            several = len({trial.combination.identity for trial in candidates}) > 1
            for trial in candidates:
                if not several or (trial.combination.identity, trial.fold) in used:
                    together.setdefault((trial.number, trial.fold), {})[model] = trial
        wanted = [trial for trials in together.values() for trial in trials.values()]
        if len(self.store.with_scores(wanted)) < len(wanted):
            return
        for trials in together.values():
            yield {model: ranked_by(trial, self.store) for model, trial in trials.items()}

    def _frame(self, runs: Runs) -> pd.DataFrame:
        """Return the rows of a group, each model represented by the combination that validation data choose."""
        import pandas as pd

        frames = []
        for model in runs.models:
            frame = chosen_on_validation(self.store.frame(runs.trials_of(model), categories=_FEW_VALUES))
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


class StoredRecords(Sequence[dict[str, Any]]):
    """The records of some finished trials: combination, versions, timings, digests.

    Args:
        frames: the groups whose trials they are.
    """

    def __init__(self, frames: StoredFrames) -> None:
        self._frames = frames

    @cached_property
    def _records(self) -> tuple[dict[str, Any], ...]:
        return tuple(record for trial in self._frames.trials if (record := self._frames.store.about(trial)))

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)
