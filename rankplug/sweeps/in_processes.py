"""Tasks run in worker processes of this machine; one that dies is replaced, and only its own task is lost.

The pools of the standard library give up all their work when one worker dies, so each worker here has a pipe and a
thread of its own that waits for it.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import multiprocessing.util
import os
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from rankplug.sweeps.tasks import Task, TaskResult, WorkerDiedError, WorkerLostError, run_task
from rankplug.system import SocketFolder, has_room, thread_environment, use_threads

SEEN_TO_BE_GONE_AFTER = 1.0


class Processes:
    """Worker processes.

    Args:
        jobs: how many.
        threads: of each.
        packages: that all of them will need.
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
            with _without_the_users_script():
                self.process.start()
        except (EOFError, ConnectionError) as error:
            # What workers are forked from was killed. The next start makes another once it is seen to be gone.
            time.sleep(SEEN_TO_BE_GONE_AFTER)
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
    """Keep a starting process from running the user's script again, which would start the sweep in every worker."""
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
    """Make multiprocessing keep its sockets in a folder that the next sweep removes where this process is killed."""
    folder = SocketFolder()
    usual = tempfile.tempdir
    try:
        tempfile.tempdir = folder.path
        # It asks for a temporary folder once, and stays with it.
        multiprocessing.util.get_temp_dir()
    finally:
        tempfile.tempdir = usual
    # Multiprocessing removes its own folder before, with priority -100.
    multiprocessing.util.Finalize(None, folder.remove, exitpriority=-101)
    return folder


def _context(packages: Sequence[str]) -> Any:
    """Return a context that forks new processes from a clean one with the engines imported, or spawns them.

    They ask it by a socket in a folder of its own, whose path must be short.
    """
    if sys.platform == "win32" or not has_room(_sockets().path):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rankplug.store.trials", "rankplug.training._fitting", *packages])
    return context


def _work(pipe: Connection, lifeline: Connection, threads: int) -> None:
    os.environ |= thread_environment(threads)
    threading.Thread(target=_end_with_owner, args=(lifeline,), daemon=True).start()
    with use_threads(threads), contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        pipe.send("ready")
        while True:
            pipe.send(run_task(pipe.recv()))


def _end_with_owner(lifeline: Connection) -> None:
    """End this worker in the middle of its task when the process that wants the result is gone."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(1)
