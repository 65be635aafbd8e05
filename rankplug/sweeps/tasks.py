"""A task: some trials of one combination that one worker runs one after another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Protocol

from rankplug.errors import RankplugError
from rankplug.registry import registry
from rankplug.store import Combination, KeptScores, Result, Trial, run_trial


class WorkerDiedError(RankplugError):
    """The process a task ran in is gone: killed, out of memory, or crashed in compiled code."""


class WorkerLostError(WorkerDiedError):
    """A worker that is gone through no doing of its task: it never began, or what it came from was killed."""


class WorkersGoneError(RankplugError):
    """No worker can be reached any more, which is no trial's fault: the sweep ends, and nothing is recorded of it."""


DataName = tuple[int, int, str, str]


def data_of(trial: Trial) -> DataName:
    """Name the data that a trial is made on, which those of other combinations with this name share."""
    asked = trial.combination
    return trial.number, trial.fold, asked.dataset, str(asked.transforms)


@dataclass(frozen=True)
class Task:
    """Trials of one combination.

    Args:
        trials: what to run, all of one combination.
        deaths: how many workers have died of it.
        losses: how many workers were lost before they could have died of it.
        session_losses: those of the session that asks, for workers that know nothing of it.
        keep_scores: whether results bring the scores of the test documents.
        kept: scores of trials, by identity, that the store has kept, which need no training.
    """

    trials: tuple[Trial, ...]
    deaths: int = 0
    losses: int = 0
    session_losses: bytes = field(default=b"", repr=False)
    keep_scores: bool = False
    kept: Mapping[str, KeptScores] = field(default_factory=dict, repr=False)

    @property
    def combination(self) -> Combination:
        """The combination of its trials."""
        return self.trials[0].combination

    @property
    def data(self) -> DataName:
        """Names the data that it begins with."""
        return data_of(self.trials[0])


@dataclass(frozen=True)
class TaskResult:
    """Answer of a task.

    Args:
        results: those that are not in the store yet.
        notebook: the executed notebook, where it is not in the store yet.
        failure: why the task ended early; trials without a result of their own have failed of it.
        not_run: whether that is no fault of the combination, so that they have not failed either.
    """

    results: tuple[Result, ...] = ()
    notebook: str = ""
    failure: str = ""
    not_run: bool = False


class Workers(Protocol):
    """A way to run tasks."""

    @property
    def slots(self) -> int:
        """Tasks it works on at once."""

    def submit(self, task: Task) -> Future[TaskResult]:
        """Start a task; the future raises :class:`WorkerDiedError` if its worker dies."""

    def close(self) -> None:
        """End all workers, including busy ones."""


def run_task(task: Task) -> TaskResult:
    """Run a task in this process, and return its results without the models."""
    if task.session_losses:
        from rankplug.losses import unpack

        unpack(task.session_losses)
    results = (
        run_trial(trial, progress=False, keep_scores=task.keep_scores, kept=task.kept.get(trial.identity))
        for trial in task.trials
    )
    return TaskResult(tuple(replace(result, model=None) for result in results))


def tasks_of(trials: Iterable[Trial], *, whole: bool, scored: Collection[str] = ()) -> Iterator[Task]:
    """Yield the tasks of some trials: one a combination if ``whole``, else one a trial, first trials first.

    Args:
        trials: what is to be run.
        whole: whether the trials of a combination are one task.
        scored: identities of those whose test scores are to be kept.
    """
    together: dict[str, list[Trial]] = {}
    for trial in trials if whole else _apart(trials):
        together.setdefault(trial.combination.identity if whole else trial.identity, []).append(trial)
    for group in together.values():
        keep = any(trial.identity in scored for trial in group)
        yield Task(tuple(group), session_losses=_session_losses(group[0].combination), keep_scores=keep)


def _apart(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials in an order in which those of one loss are apart, and those of one part of the data together.

    Workers that begin two trials of one loss at once both compile it, which takes longer than many trainings. A sweep
    in this order that is interrupted has answers about all combinations, too.
    """
    data_sets: dict[DataName, int] = {}
    begun: Counter[tuple[int, str]] = Counter()
    keys = {}
    for trial in trials:
        data = data_sets.setdefault(data_of(trial), len(data_sets))
        loss = trial.combination.loss
        before = begun[data, loss]
        begun[data, loss] += 1
        keys[trial] = (trial.number, trial.fold, data, before)
    return sorted(keys, key=keys.__getitem__)


def _session_losses(combination: Combination) -> bytes:
    if not registry().written_here("loss", combination.loss):
        return b""
    from rankplug.losses import packed

    return packed([combination.loss])


def put_back_environment(before: Mapping[str, str | None]) -> None:
    """Set environment variables that were changed for workers to what they were; None for one that was not there."""
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
