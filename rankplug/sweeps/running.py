"""Sweeps: the combinations that are not finished yet are run, and those that are stay."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import BrokenPluginError, NotRunError
from rankplug.registry import registry
from rankplug.store import Store, Trial
from rankplug.sweeps.on_cluster import LOCAL
from rankplug.sweeps.plans import Folds, Plan, Sweep, plan_sweeps
from rankplug.sweeps.readiness import renewed, require
from rankplug.sweeps.schedule import Schedule
from rankplug.sweeps.sweep_progress import SweepProgress
from rankplug.sweeps.tasks import Workers, put_back_environment, tasks_of
from rankplug.system import available_cores, free_cores, given_threads, thread_environment, use_threads, whole_number

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Outcome:
    """Outcome of a sweep; ``frame()`` gives the results.

    Args:
        plan: what was to be done.
        store: where the results are.
        failures: a sentence for each trial that failed, now or before.
        not_run: a sentence for each trial that could not run, of which nothing is recorded; the same sweep runs it.
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
        """Trials that were measured on kept scores, and not trained."""
        return sum("measured_from" in self.store.about(trial).get("record", {}) for trial in self.plan.measurable)

    @property
    def trained(self) -> int:
        """Trials that were trained."""
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
        store: where results go.
        folds: of the data set, or ``"all"``.
        trials: repetitions with seeds of their own.
        retry_failed: runs trials again that failed before.
        progress: shows how it goes.
        jobs: trials at once, each with its share of the cores.
        cluster: address of a Dask scheduler, or ``"local"``.
        notebooks: executes the notebook ``combination.ipynb`` for each combination, and keeps it.
        keep_scores: keeps the scores of all test documents, from which other metrics are measured without training.
        fixed: parts that are the same in all combinations, such as ``patience=50``.
    """
    if data is not None:
        fixed["dataset"] = data
    if any(plugin.source for plugin in registry().plugins("loss")):
        from rankplug.losses import renew

        renew()
    grids = [grid] if isinstance(grid, Mapping) or not isinstance(grid, Iterable) else list(grid)
    asked = Sweep(tuple(grids), folds, trials, fixed)
    results = Store.named(store)
    todo = plan_sweeps([asked], results, retry_failed=retry_failed)
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
) -> Outcome:
    """Run the waiting trials of a plan, after checking that their packages and data are there.

    Args:
        todo: what is to be done.
        store: where results go.
        progress: shows how it goes.
        jobs: trials at once, each with its share of the cores.
        cluster: address of a Dask scheduler, or ``"local"``.
        notebooks: executes the notebook ``combination.ipynb`` for each combination, and keeps it.
        keep_scores: keeps the scores of all test documents, from which other metrics are measured without training.
    """
    whole_number(jobs, "jobs", least=1)
    if notebooks:
        if keep_scores:
            raise NotRunError("notebooks keep no scores; sweep without notebooks to keep them")
        # A notebook shows a model, so it trains one.
        todo = replace(todo, measurable=(), scored=())
    if todo.waiting and cluster in ("", LOCAL):
        require(todo.waiting)
        todo = renewed(todo, store)
    outcome = Outcome(todo, store, [_sentence(trial, store) for trial in todo.failed])
    if not todo.waiting:
        return outcome
    here = [trial.combination.loss for trial in todo.waiting if registry().written_here("loss", trial.combination.loss)]
    if notebooks and here:
        raise BrokenPluginError(
            f"loss {here[0]} lives in this session only, and notebooks run in kernels of their own; sweep without"
            " notebooks, or make a package of the loss with rankplug new"
        )
    store.check_writable()
    for trial in todo.waiting:
        store.failure_path(trial).unlink(missing_ok=True)
    with _workers(todo, store, jobs, cluster, notebooks) as workers:
        shown = SweepProgress(todo.waiting, workers.slots, progress)
        try:
            kept = todo.waiting if keep_scores else todo.scored
            tasks = tasks_of(todo.waiting, whole=notebooks, scored=frozenset(trial.identity for trial in kept))
            Schedule(tasks, workers, store, shown, frozenset(trial.identity for trial in todo.measurable)).run()
        finally:
            shown.close()
    outcome.failures += shown.failures.values()
    outcome.not_run += shown.not_run.values()
    return outcome


def _sentence(trial: Trial, store: Store) -> str:
    return f"{trial}: {store.failure(trial).strip().splitlines()[-1]}"


@contextlib.contextmanager
def _workers(todo: Plan, store: Store, jobs: int, cluster: str, notebooks: bool) -> Iterator[Workers]:
    from rankplug.sweeps.in_notebooks import Notebooks
    from rankplug.sweeps.in_process import Here
    from rankplug.sweeps.in_processes import Processes
    from rankplug.sweeps.on_cluster import Cluster

    backends = {trial.combination.backend for trial in todo.waiting}
    specifications = [registry().specification("backend", name) for name in backends]
    share = _share(jobs, all(backend.same_bits for backend in specifications))
    if cluster:
        yield Cluster(cluster, jobs, share, notebooks=notebooks)
    elif notebooks:
        with _environment(thread_environment(share)):
            yield Notebooks(store, jobs)
    elif jobs > 1:
        packages = {package for backend in specifications for package in backend.requires}
        yield Processes(jobs, share, sorted(packages))
    else:
        with use_threads():
            yield Here()


def _share(jobs: int, same_bits: bool) -> int:
    """Return the threads of each of several jobs; of the cores that others leave free, where that changes no result."""
    cores, given = free_cores() if same_bits else available_cores(), given_threads()
    if jobs == 1:
        return given or cores
    return min(given or cores, max(1, cores // jobs))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        put_back_environment(before)
