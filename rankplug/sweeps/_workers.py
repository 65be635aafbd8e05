"""Tasks of a sweep and the workers of this machine: this process itself, a pool of worker processes, or notebooks.

The pools of the standard library give up all their work when one worker dies, so each worker here has a pipe and a
thread that waits for it; a worker that dies is replaced, and only its own task is lost.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import multiprocessing.util
import os
import sys
import tempfile
import threading
import time
import types
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from rankplug.errors import MissingPackageError, NotRunError, RankplugError
from rankplug.registry import registry
from rankplug.store import Combination, Result, Store, StoredScores, StoreError, Trial
from rankplug.sweeps._trial_runs import failed_result, run_trial
from rankplug.system import (
    OwnedFolder,
    SocketFolder,
    end_kernels,
    execute_notebook,
    has_room,
    notebooks_folder,
    require_modules,
    safe_children,
    thread_environment,
    use_threads,
)

NOTICED_AFTER = 1.0


class WorkerDiedError(RankplugError):
    """The process a task ran in is gone: killed, out of memory, or crashed in compiled code."""


class WorkerLostError(WorkerDiedError):
    """A worker that was lost before its task began, or whose parent process was killed."""


class WorkersGoneError(RankplugError):
    """No worker can be reached any more: the sweep ends, and nothing is recorded of the trials."""


DataName = tuple[int, int, str, str]
"""Name of the data of a trial."""


def data_of(trial: Trial) -> DataName:
    """Name the data of a trial; trials of other combinations with this name have the same data."""
    combination = trial.combination
    return trial.number, trial.fold, combination.dataset, str(combination.transforms)


@dataclass(frozen=True)
class Task:
    """Trials of one combination.

    Args:
        trials: the trials, all of one combination.
        deaths: number of workers that died while they ran it.
        losses: number of workers that were lost before they began.
        session_losses: losses defined in the session, for workers that do not know them.
        keep_scores: whether results have the scores of the test documents.
        stored: stored scores by the identity of the trial, which needs no training.
    """

    trials: tuple[Trial, ...]
    deaths: int = 0
    losses: int = 0
    session_losses: bytes = field(default=b"", repr=False)
    keep_scores: bool = False
    stored: Mapping[str, StoredScores] = field(default_factory=dict, repr=False)

    @property
    def combination(self) -> Combination:
        """The combination of its trials."""
        return self.trials[0].combination

    @property
    def data(self) -> DataName:
        """Name of the data that it begins with."""
        return data_of(self.trials[0])


@dataclass(frozen=True)
class TaskResult:
    """Answer of a task.

    Args:
        results: results that are not in the store yet.
        notebook: the executed notebook, where it is not in the store yet.
        failure: reason for an early end; trials without a result failed because of it.
        not_run: whether that is no fault of the combination, so that these trials did not fail.
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
        run_trial(trial, progress=False, keep_scores=task.keep_scores, stored=task.stored.get(trial.identity))
        for trial in task.trials
    )
    return TaskResult(tuple(replace(result, model=None) for result in results))


def tasks_of(trials: Iterable[Trial], *, whole: bool, scored: Collection[str] = ()) -> Iterator[Task]:
    """Yield the tasks of some trials: one a combination if ``whole``, else one a trial, first trials first.

    Args:
        trials: the trials.
        whole: whether the trials of a combination are one task.
        scored: identities of the trials whose test scores are to be stored.
    """
    together: dict[str, list[Trial]] = {}
    for trial in trials if whole else _apart(trials):
        together.setdefault(trial.combination.identity if whole else trial.identity, []).append(trial)
    for group in together.values():
        keep = any(trial.identity in scored for trial in group)
        yield Task(tuple(group), session_losses=_session_losses(group[0].combination), keep_scores=keep)


def _apart(trials: Iterable[Trial]) -> list[Trial]:
    """Return trials in an order in which those of one loss are apart, and those on the same data together.

    Workers that begin two trials of one loss at once both compile it, which takes longer than many trainings. In this
    order, an interrupted sweep also has results of all combinations.
    """
    data_sets: dict[DataName, int] = {}
    begun: Counter[tuple[int, str]] = Counter()
    keyed = []
    for trial in trials:
        data = data_sets.setdefault(data_of(trial), len(data_sets))
        loss = trial.combination.loss
        keyed.append(((trial.number, trial.fold, data, begun[data, loss]), trial))
        begun[data, loss] += 1
    return [trial for _, trial in sorted(keyed, key=lambda pair: pair[0])]


def _session_losses(combination: Combination) -> bytes:
    if not registry().written_here("loss", combination.loss):
        return b""
    from rankplug.losses import packed

    return packed([combination.loss])


@contextlib.contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore on exit whatever the block changed in the environment."""
    before = dict(os.environ)
    os.environ |= variables
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ |= before


class Here:
    """The process itself as its one worker."""

    slots = 1

    def submit(self, task: Task) -> Future[TaskResult]:
        """Run the task now, and return a finished future."""
        future: Future[TaskResult] = Future()
        future.set_result(run_task(task))
        return future

    def close(self) -> None:
        """Do nothing, as there is nothing to end."""


class Processes:
    """Worker processes.

    Args:
        jobs: number of processes.
        threads: threads of each process.
        packages: packages that all of them need.
    """

    def __init__(self, jobs: int, threads: int, packages: Sequence[str] = ()) -> None:
        self.slots = jobs
        self._context = _context(packages)
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="worker")
        self._mine = threading.local()
        self._workers: set[_Worker] = set()
        self._threads = threads
        self._closed = False

    def submit(self, task: Task) -> Future[TaskResult]:
        """Send a task to a free worker."""
        return self._pool.submit(self._run, task)

    def _run(self, task: Task) -> TaskResult:
        worker: _Worker | None = getattr(self._mine, "worker", None)
        if worker is None:
            worker = self._mine.worker = _Worker(self._context, self._threads)
            self._workers.add(worker)
        try:
            if self._closed:
                worker.kill()
            return worker.run(task)
        except WorkerDiedError:
            self._mine.worker = None
            self._workers.discard(worker)
            worker.kill()
            raise

    def close(self) -> None:
        """End the workers."""
        self._closed = True
        for worker in list(self._workers):
            worker.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    def __init__(self, context: Any, threads: int) -> None:
        self.pipe, theirs = context.Pipe()
        line, self.lifeline = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(theirs, line, threads), daemon=True)
        self._ready = False
        try:
            with _without_the_users_script(), safe_children():
                self.process.start()
        except (EOFError, ConnectionError) as error:
            # The fork server was killed; the next start makes another once its end is noticed.
            time.sleep(NOTICED_AFTER)
            raise WorkerLostError("the process that workers are forked from has ended") from error
        # Only the worker may hold its ends, so that they close when it dies.
        theirs.close()
        line.close()

    def _wait_until_ready(self) -> None:
        try:
            self.pipe.recv()
        except (EOFError, OSError) as error:
            self.process.join(5)
            way = _way(self.process.exitcode)
            raise WorkerLostError(f"the worker process ended {way} before it began") from error
        self._ready = True

    def run(self, task: Task) -> TaskResult:
        if not self._ready:
            self._wait_until_ready()
        try:
            self.pipe.send(task)
            done: TaskResult = self.pipe.recv()
        except (EOFError, OSError) as error:
            self.process.join(5)
            raise WorkerDiedError(f"the worker process ended {_way(self.process.exitcode)}") from error
        return done

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


_starting = threading.Lock()


@contextlib.contextmanager
def _without_the_users_script() -> Iterator[None]:
    """Keep a starting process from running the user's script, which would start the sweep in every worker."""
    with _starting:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


def _way(code: int | None) -> str:
    if code is not None and code < 0:
        hint = ", perhaps because memory ran out" if code == -9 else ""
        return f"by signal {-code}{hint}"
    return f"with exit code {code}"


@functools.cache
def _sockets() -> SocketFolder:
    """Let multiprocessing use a folder for its sockets that the next sweep removes if this process is killed."""
    folder = SocketFolder()
    usual = tempfile.tempdir
    try:
        tempfile.tempdir = str(folder.path)
        # multiprocessing chooses its temporary folder once.
        multiprocessing.util.get_temp_dir()
    finally:
        tempfile.tempdir = usual
    # multiprocessing removes its own folder before, with priority -100.
    multiprocessing.util.Finalize(None, folder.remove, exitpriority=-101)
    return folder


def _context(packages: Sequence[str]) -> Any:
    """Return a context that forks processes from a clean one with the engines imported, or spawns them.

    The fork server has a socket in a folder of its own, whose path must be short.
    """
    if sys.platform == "win32" or not has_room(str(_sockets().path)):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rankplug.sweeps._workers", "rankplug.training._fitting", *packages])
    return context


def _work(pipe: Connection, lifeline: Connection, threads: int) -> None:
    os.environ |= thread_environment(threads)
    threading.Thread(target=_end_with_owner, args=(lifeline,), daemon=True).start()
    with use_threads(threads), contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        pipe.send("ready")
        while True:
            pipe.send(run_task(pipe.recv()))


def _end_with_owner(lifeline: Connection) -> None:
    """End this worker in the middle of its task when the process of the sweep is gone."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(1)


NOTEBOOK = "combination.ipynb"
OF_THE_MACHINE = (NotRunError.__name__, StoreError.__name__)
"""Errors of the notebook that are no fault of its combination."""


class Notebooks:
    """Kernels on this machine, which write into the store themselves, trial by trial.

    Args:
        store: the store of results and executed notebooks.
        jobs: number of kernels at once.
    """

    def __init__(self, store: Store, jobs: int) -> None:
        try:
            require_modules("papermill", "nbclient", "ipykernel")
        except MissingPackageError as error:
            raise MissingPackageError(f"{error}, or run without notebooks", name=error.name) from None
        self.slots = jobs
        self.store = store
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="notebook")

    def submit(self, task: Task) -> Future[TaskResult]:
        """Execute a combination's notebook in a thread."""
        return self._pool.submit(self._run, task)

    def _run(self, task: Task) -> TaskResult:
        target = self.store.notebook_path(task.combination)
        return TaskResult(failure=execute(task, self.store, target))

    def close(self) -> None:
        """End the running kernels, and with them their notebooks."""
        end_kernels()
        self._pool.shutdown(wait=True, cancel_futures=True)


def execute(task: Task, store: Store, target: Path) -> str:
    """Execute the notebook of a task's combination, and return how it failed, or an empty string."""
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    # Errors are recorded and shown at the end; papermill's own messages would break into the progress display.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        execute_notebook(notebooks_folder() / NOTEBOOK, target, notebook_parameters(task, store))
    except PapermillExecutionError as error:
        if error.ename in OF_THE_MACHINE:
            raise NotRunError(str(error.evalue)) from error
        return str(error)
    except DeadKernelError as error:
        raise WorkerDiedError(f"the notebook's kernel died: {error}") from error
    except RuntimeError as error:  # Jupyter's, for a kernel that is never ready.
        raise WorkerLostError(f"the notebook's kernel died: {error}") from error
    return ""


def notebook_parameters(task: Task, store: Store) -> dict[str, object]:
    """Return the notebook's parameters for a task, with its trials one by one."""
    return {
        **task.combination.model_dump(mode="json"),
        "runs": [[trial.fold, trial.number] for trial in task.trials],
        "identity": task.combination.identity,
        "store": str(store.folder.resolve()),
        "progress": False,
    }


def run_task_in_notebook(task: Task) -> TaskResult:
    """Run a task as a notebook on a machine that does not share the store, and return everything with the answer."""
    with OwnedFolder() as folder:
        store, target = Store(folder / "results"), folder / NOTEBOOK
        failure, not_run = "", False
        try:
            failure = execute(task, store, target)
        except NotRunError as error:
            failure, not_run = str(error), True
        results = [store.read(trial) for trial in task.trials if store.has(trial)]
        results += [failed_result(trial, store.failure(trial)) for trial in task.trials if store.has_failed(trial)]
        return TaskResult(tuple(results), target.read_text(), failure, not_run)
