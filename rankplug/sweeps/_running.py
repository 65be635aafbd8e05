"""Running sweeps: trials that are not finished are given to workers, and what comes back is stored."""

from __future__ import annotations

import contextlib
import itertools
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import BrokenPluginError, NotRunError
from rankplug.registry import BackendSpecification, registry
from rankplug.store import Store, StoredScores, StoreError, Trial, grids_of
from rankplug.sweeps._plan import Folds, Plan, Sweep, planned_on_data, require
from rankplug.sweeps._progress import SweepProgress
from rankplug.sweeps._trial_runs import failed_result
from rankplug.sweeps._workers import (
    DataName,
    Here,
    Notebooks,
    Processes,
    Task,
    TaskResult,
    WorkerDiedError,
    WorkerLostError,
    Workers,
    WorkersGoneError,
    environment,
    tasks_of,
)
from rankplug.system import (
    available_cores,
    free_cores,
    given_threads,
    is_environment_error,
    thread_environment,
    use_threads,
    whole_number,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_DEATHS, MOST_LOSSES = 2, 3
"""Workers that may die of a task, since the first death may be the machine's fault, and workers that a task may lose
through no fault of its own before it is left to another sweep.
"""
LOOK_AGAIN_AFTER = 0.5
AHEAD = 8
"""Waiting tasks per worker among which the next is chosen; where more are on the same data, workers share these."""


@dataclass
class Outcome:
    """Outcome of a sweep; ``frame()`` gives the results.

    Args:
        plan: the plan.
        store: the store of the results.
        failures: a sentence for each trial that failed, now or before.
        not_run: a sentence for each trial that could not run and of which nothing is recorded.
    """

    plan: Plan
    store: Store
    failures: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """Return all rows of the sweep's finished trials."""
        return self.store.frame(self.plan.trials)

    @property
    def measured(self) -> int:
        """Number of trials that were measured on stored scores, and not trained."""
        return sum("measured_from" in self.store.about(trial).get("record", {}) for trial in self.plan.measurable)

    @property
    def trained(self) -> int:
        """Number of trials that were trained."""
        return sum(self.store.has(trial) for trial in self.plan.waiting) - self.measured


def sweep(
    grid: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    data: Any = None,
    store: Store | str | Path | None = None,
    folds: Folds = (1,),
    trials: int = 1,
    retry_failed: bool = False,
    progress: bool = True,
    jobs: int = 1,
    cluster: str = "",
    notebooks: bool = False,
    keep_scores: bool = False,
    **fixed: Any,
) -> Outcome:
    """Run every trial of a grid that is not finished, and return access to all results.

    Args:
        grid: values for each part of a combination, see :func:`rankplug.store.combinations`.
        data: the data set, or several, unless the grid names it.
        store: the folder of results.
        folds: folds of the data set, or ``"all"``.
        trials: number of repetitions, each with its own seed.
        retry_failed: whether trials run again that failed before.
        progress: whether to show the progress.
        jobs: number of trials at once, each with its share of the cores.
        cluster: address of a Dask scheduler, or ``"local"``.
        notebooks: whether to execute the notebook ``combination.ipynb`` for each combination, and store it.
        keep_scores: whether to store the scores of all test documents, by which other metrics need no training.
        fixed: parts that are the same in all combinations, such as ``patience=50``.
    """
    if data is not None:
        fixed["dataset"] = data
    if any(plugin.source for plugin in registry().plugins("loss")):
        from rankplug.losses import renew

        renew()
    results = Store.named(store)
    todo = Sweep(tuple(grids_of(grid)), folds, trials, fixed).plan(results, retry_failed=retry_failed)
    return run(
        todo, results, progress=progress, jobs=jobs, cluster=cluster, notebooks=notebooks, keep_scores=keep_scores
    )


def run(
    todo: Plan,
    store: Store,
    *,
    progress: bool = True,
    jobs: int = 1,
    cluster: str = "",
    notebooks: bool = False,
    keep_scores: bool = False,
    workers: Workers | None = None,
) -> Outcome:
    """Run the waiting trials of a plan, after checking that their packages and data are there.

    Args:
        todo: the plan.
        store: the store of the results.
        progress: whether to show the progress.
        jobs: number of trials at once, each with its share of the cores.
        cluster: address of a Dask scheduler, or ``"local"``.
        notebooks: whether to execute the notebook ``combination.ipynb`` for each combination, and store it.
        keep_scores: whether to store the scores of all test documents, by which other metrics need no training.
        workers: worker processes of :func:`shared_workers`, in place of new ones.
    """
    whole_number(jobs, "jobs", least=1)
    if notebooks:
        if keep_scores:
            raise NotRunError("notebooks store no scores; sweep without notebooks to store them")
        # A notebook shows a model, so it trains one.
        todo = replace(todo, measurable=(), scored=())
    if todo.waiting and cluster in ("", "local"):
        require(todo.waiting)
        todo = planned_on_data(todo, store)
    failures = [f"{trial}: {store.failure(trial).strip().splitlines()[-1]}" for trial in todo.failed]
    outcome = Outcome(todo, store, failures)
    if not todo.waiting:
        return outcome
    losses = {trial.combination.loss for trial in todo.waiting}
    if notebooks and (here := [loss for loss in losses if registry().written_here("loss", loss)]):
        raise BrokenPluginError(
            f"loss {here[0]} lives in this session only, and notebooks run in kernels of their own; sweep without"
            " notebooks, or make a package of the loss with rankplug new"
        )
    store.check_writable()
    for trial in todo.waiting:
        store.failure_path(trial).unlink(missing_ok=True)
    scored = frozenset(trial.identity for trial in (todo.waiting if keep_scores else todo.scored))
    measurable = frozenset(trial.identity for trial in todo.measurable)
    with contextlib.nullcontext(workers) if workers else _workers(todo, store, jobs, cluster, notebooks) as pool:
        shown = SweepProgress(todo.waiting, pool.slots, progress)
        try:
            tasks = tasks_of(todo.waiting, whole=notebooks, scored=scored)
            _Schedule(pool, store, shown, measurable, deque(tasks)).run()
        finally:
            shown.close()
    outcome.failures += shown.failures.values()
    outcome.not_run += shown.not_run.values()
    return outcome


@contextlib.contextmanager
def shared_workers(trials: Iterable[Trial], jobs: int) -> Iterator[Workers | None]:
    """Start worker processes that the runs of several plans use one after another; None where one job needs none.

    Args:
        trials: trials of all plans.
        jobs: number of processes.
    """
    backends = _backends(trials)
    if jobs == 1 or not backends:
        yield None
        return
    with contextlib.closing(_processes(backends, jobs)) as workers:
        yield workers


def _backends(trials: Iterable[Trial]) -> list[BackendSpecification]:
    return [registry().specification("backend", name) for name in {trial.combination.backend for trial in trials}]


def _processes(backends: Iterable[BackendSpecification], jobs: int) -> Processes:
    share = threads_of_job(jobs, same_bits=all(backend.same_bits for backend in backends))
    return Processes(jobs, share, sorted({package for backend in backends for package in backend.requires}))


@contextlib.contextmanager
def _workers(todo: Plan, store: Store, jobs: int, cluster: str, notebooks: bool) -> Iterator[Workers]:
    backends = _backends(todo.waiting)
    share = threads_of_job(jobs, same_bits=all(backend.same_bits for backend in backends))
    if cluster:
        if "cluster_workers" not in registry().exports():
            raise NotRunError(
                "no plugin that is loaded runs trials on a cluster; see rankplug plugins and RANKPLUG_WITHOUT"
            )
        # Dask changes the environment for each worker that it starts in place of one that died.
        with (
            environment({}),
            contextlib.closing(
                registry().exported("cluster_workers")(cluster, jobs, share, notebooks=notebooks)
            ) as workers,
        ):
            yield workers
    elif notebooks:
        with environment(thread_environment(share)), contextlib.closing(Notebooks(store, jobs)) as kernels:
            yield kernels
    elif jobs > 1:
        with contextlib.closing(_processes(backends, jobs)) as processes:
            yield processes
    else:
        with use_threads():
            yield Here()


def threads_of_job(jobs: int, *, same_bits: bool = False) -> int:
    """Return the threads of each of several jobs.

    Args:
        jobs: number of jobs at once.
        same_bits: whether results do not depend on it, so that it may follow how busy the machine is.
    """
    cores, limit = free_cores() if same_bits else available_cores(), given_threads()
    if jobs == 1:
        return limit or cores
    return min(limit or cores, max(1, cores // jobs))


@dataclass
class _Schedule:
    """The state of a sweep that runs.

    Args:
        workers: the workers.
        store: the store of the results.
        progress: display of the progress.
        measurable: identities of the trials whose test scores are stored.
        waiting: the tasks that have not begun.
    """

    workers: Workers
    store: Store
    progress: SweepProgress
    measurable: frozenset[str]
    waiting: deque[Task]
    elsewhere: deque[Task] = field(default_factory=deque)
    running: dict[Future[TaskResult], tuple[Task, contextlib.ExitStack]] = field(default_factory=dict)
    freed: deque[DataName] = field(default_factory=deque)

    def run(self) -> None:
        """Run all tasks; an interruption ends the workers and leaves finished results in the store."""
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
        except BaseException:
            self.workers.close()
            raise
        finally:
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
            task = replace(task, trials=left, stored=self._stored_scores(left))
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
        running = [task for task, _ in self.running.values()]
        data, losses = {task.data for task in running}, {task.combination.loss for task in running}
        own = self.freed[0] if self.freed else None
        candidates = itertools.islice(self.waiting, AHEAD * self.workers.slots)
        task = min(candidates, key=lambda task: (task.data != own, task.data in data, task.combination.loss in losses))
        self.waiting.remove(task)
        return task

    def _stored_scores(self, trials: Iterable[Trial]) -> dict[str, StoredScores]:
        """Read the stored scores of trials when they begin, so that few are in memory; damaged ones are left out."""
        scores = {}
        for trial in trials:
            if trial.identity in self.measurable:
                try:
                    scores[trial.identity] = self.store.stored_scores(trial)
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
            except WorkerDiedError as error:
                done, again = self._after_death(task, error)
            except WorkersGoneError:
                raise
            except NotRunError as error:
                done = TaskResult(failure=str(error), not_run=True)
            except Exception as error:
                done = TaskResult(failure=traceback.format_exc(), not_run=is_environment_error(error))
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
                else:
                    reason = not_run.get(trial.identity, done.failure)
                    self._settle(trial, reason, not_run=done.not_run or trial.identity in not_run)
        self.waiting.extend(again)

    def _settle(self, trial: Trial, failure: str, *, not_run: bool) -> None:
        # A sweep removes the failures of what it runs before it begins, so one that is there is new.
        if not self.store.has(trial) and not self.store.has_failed(trial):
            failure = failure or "the worker gave no result, and no reason"
            if not_run:
                self.progress.ended(trial, failure, not_run=True)
                return
            self.store.write(failed_result(trial, failure))
        self.progress.ended(trial, "" if self.store.has(trial) else self.store.failure(trial))

    def _after_death(self, task: Task, error: WorkerDiedError) -> tuple[TaskResult, list[Task]]:
        """Run the rest of a task again, or blame the first trial without a result, as trials of a task run in order."""
        lost = isinstance(error, WorkerLostError)
        left = tuple(trial for trial in task.trials if not self.store.has(trial) and not self.store.has_failed(trial))
        task = replace(task, trials=left, losses=task.losses + lost, deaths=task.deaths + (not lost))
        if not left or (task.losses < MOST_LOSSES and task.deaths < MOST_DEATHS):
            return TaskResult(failure=str(error)), [task] if left else []
        if lost:
            return TaskResult(failure=f"{error}; {MOST_LOSSES} workers were lost", not_run=True), []
        failure = f"{error}; {MOST_DEATHS} workers died of it"
        rest = [replace(task, trials=left[1:], deaths=0)] if left[1:] else []
        return TaskResult((failed_result(left[0], failure),), failure=failure), rest
