"""Schedule of a sweep: workers are kept busy, what comes back is written, what a dead worker had is run again."""

from __future__ import annotations

import contextlib
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from rankplug.errors import NotRunError
from rankplug.store import KeptScores, Store, StoreError, Trial, failed_result
from rankplug.sweeps.sweep_progress import SweepProgress
from rankplug.sweeps.tasks import (
    DataName,
    Task,
    TaskResult,
    WorkerDiedError,
    WorkerLostError,
    Workers,
    WorkersGoneError,
)
from rankplug.system import is_of_the_machine

ATTEMPTS = 2
"""Workers that may die of a task: the first death may be the machine's fault, a second one is the task's."""
MOST_LOSSES = 3
"""Workers that a task may lose through no doing of its own before it is left to another sweep."""
LOOK_AGAIN_AFTER = 0.5
AHEAD = 8
"""Waiting tasks a worker among which the next is chosen; where more are on the same data, workers share these."""


@dataclass
class Schedule:
    """The state of a sweep that runs.

    Args:
        tasks: what is to be done.
        workers: who does it.
        store: where results go.
        progress: who is told.
        measurable: trials whose test scores the store has kept, by identity.
    """

    tasks: Iterable[Task]
    workers: Workers
    store: Store
    progress: SweepProgress
    measurable: frozenset[str] = frozenset()
    waiting: deque[Task] = field(default_factory=deque)
    elsewhere: deque[Task] = field(default_factory=deque)
    running: dict[Future[TaskResult], tuple[Task, contextlib.ExitStack]] = field(default_factory=dict)
    freed: deque[DataName] = field(default_factory=deque)

    def run(self) -> None:
        """Run all tasks; an interruption ends the workers and leaves finished results in the store."""
        self.waiting.extend(self.tasks)
        try:
            while self.waiting or self.running or self.elsewhere:
                self._begin_tasks()
                if self.running:
                    finished, _ = wait(self.running, timeout=1.0, return_when=FIRST_COMPLETED)
                    for future in finished:
                        self._finish(future)
                elif self.elsewhere:
                    time.sleep(LOOK_AGAIN_AFTER)
                    self.waiting, self.elsewhere = self.elsewhere, deque()
                self.progress.show()
        finally:
            self.workers.close()
            for _, claims in self.running.values():
                claims.close()

    def _begin_tasks(self) -> None:
        while self.waiting and len(self.running) < self.workers.slots:
            task = self._take_next()
            claims = contextlib.ExitStack()
            if not all(claims.enter_context(self.store.claim(trial)) for trial in task.trials):
                claims.close()
                self.elsewhere.append(task)
                continue
            # Another sweep may have finished some since this one was planned.
            left = tuple(trial for trial in task.trials if not self.store.has(trial))
            self.progress.found_done([trial for trial in task.trials if trial not in left])
            if not left:
                claims.close()
                continue
            task = replace(task, trials=left, kept=self._kept_scores(left))
            self.progress.begun(task.trials)
            try:
                future = self.workers.submit(task)
            except BaseException:
                # A worker in this process computes at once; interrupted, it must not keep what it had claimed.
                claims.close()
                raise
            self.running[future] = task, claims
            if self.freed:
                self.freed.popleft()

    def _take_next(self) -> Task:
        """Take a task out that the free worker has the data of, which need not be made and sorted into bins again.

        If there is none, one on data that no other worker has; of several, one whose loss no other is compiling.
        """
        data = {task.data for task, _ in self.running.values()}
        losses = {task.combination.loss for task, _ in self.running.values()}
        own = self.freed[0] if self.freed else None

        def put_off(position: int) -> tuple[bool, bool, bool]:
            task = self.waiting[position]
            return task.data != own, task.data in data, task.combination.loss in losses

        position = min(range(min(len(self.waiting), AHEAD * self.workers.slots)), key=put_off)
        task = self.waiting[position]
        del self.waiting[position]
        return task

    def _kept_scores(self, trials: Iterable[Trial]) -> dict[str, KeptScores]:
        """Read the kept scores of trials when they begin, so that few are in memory; damaged ones are as none."""
        scores = {}
        for trial in trials:
            if trial.identity in self.measurable:
                try:
                    scores[trial.identity] = self.store.kept_scores(trial)
                except StoreError as error:
                    warnings.warn(f"{error}; until then it is trained", stacklevel=2)
        return scores

    def _finish(self, future: Future[TaskResult]) -> None:
        task, claims = self.running.pop(future)
        self.freed.append(task.data)
        with claims:
            again: list[Task] = []
            try:
                done = future.result()
            except WorkerLostError as error:
                done, again = self._after_loss(task, str(error))
            except WorkerDiedError as error:
                done, again = self._after_death(task, str(error))
            except WorkersGoneError:
                raise
            except NotRunError as error:
                done = TaskResult(failure=str(error), not_run=True)
            except Exception as error:
                done = TaskResult(failure=traceback.format_exc(), not_run=is_of_the_machine(error))
            for result in done.results:
                if not result.not_run:
                    self.store.write(result)
            if done.notebook:
                self.store.write_file(self.store.notebook_path(task.combination), done.notebook.encode())
            repeated = {trial.identity for task in again for trial in task.trials}
            not_run = {result.trial.identity: result.failure for result in done.results if result.not_run}
            for trial in task.trials:
                if trial.identity in repeated:
                    self.progress.put_back(trial)
                elif trial.identity in not_run:
                    self._settle(trial, not_run[trial.identity], not_run=True)
                else:
                    self._settle(trial, done.failure, not_run=done.not_run)
        self.waiting.extend(again)

    def _settle(self, trial: Trial, failure: str, *, not_run: bool) -> None:
        if self.store.has(trial):
            self.progress.ended(trial, "")
            return
        # A sweep removes the failures of what it runs before it begins, so one that is there is new.
        if not self.store.has_failed(trial):
            reason = failure or "the worker gave no result, and no reason"
            if not_run:
                self.progress.ended(trial, reason, not_run=True)
                return
            self.store.write(failed_result(trial, reason))
        self.progress.ended(trial, self.store.failure(trial))

    def _left(self, task: Task) -> tuple[Trial, ...]:
        return tuple(trial for trial in task.trials if not self.store.has(trial) and not self.store.has_failed(trial))

    def _after_loss(self, task: Task, reason: str) -> tuple[TaskResult, list[Task]]:
        left = self._left(task)
        if left and task.losses + 1 < MOST_LOSSES:
            return TaskResult(failure=reason), [replace(task, trials=left, losses=task.losses + 1)]
        return TaskResult(failure=f"{reason}; {MOST_LOSSES} workers were lost", not_run=True), []

    def _after_death(self, task: Task, reason: str) -> tuple[TaskResult, list[Task]]:
        """Blame a worker's death on the first trial without a result, as trials of a task run in order."""
        left = self._left(task)
        if task.deaths + 1 < ATTEMPTS or not left:
            return TaskResult(failure=reason), [replace(task, trials=left, deaths=task.deaths + 1)] if left else []
        blamed, *rest = left
        failure = f"{reason}; {ATTEMPTS} workers died of it"
        return TaskResult((failed_result(blamed, failure),), failure=failure), [
            replace(task, trials=tuple(rest), deaths=0)
        ] if rest else []
