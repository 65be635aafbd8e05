"""Tasks run on a Dask cluster, an existing one or one made for the occasion on this machine.

Workers need rankplug and the plugins installed and the data prepared; they share neither a file system for results nor
a working folder with the process that asks. A cluster of a batch system is made by ``dask_jobqueue`` or ``submitit``
and named by its scheduler's address.
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future
from typing import Any

from rankplug.sweeps.tasks import Task, TaskResult, WorkerDiedError, WorkersGoneError, put_back_environment, run_task
from rankplug.system import require_modules, use_threads

LOCAL = "local"
CONNECT_SECONDS = 30


class ClusterError(WorkersGoneError):
    """A cluster that cannot be reached, or no longer."""


class Cluster:
    """A Dask cluster; a worker has one task at a time and all its threads for it.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``, or ``local`` to start workers here.
        jobs: workers to start here; a cluster that exists has its own number.
        threads: of each worker that is started here.
        notebooks: whether tasks run as notebooks.
    """

    def __init__(self, address: str, jobs: int, threads: int, *, notebooks: bool) -> None:
        require_modules("distributed")
        import distributed

        self._notebooks = notebooks
        self.address = address
        self._local: Any = None
        self._changed: dict[str, str | None] = {}
        if address == LOCAL:
            ours = dict(os.environ)
            self._local = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=jobs, threads_per_worker=threads, dashboard_address=None, silence_logs=logging.ERROR
            )
            # Dask sets threads here for each worker that it starts, which later kernels and processes would inherit.
            self._changed = {name: ours.get(name) for name, value in os.environ.items() if value != ours.get(name)}
            put_back_environment(self._changed)
        try:
            self.client = distributed.Client(  # type: ignore[no-untyped-call]
                self._local or address, timeout=CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({error}); start one, or say --cluster local"
            ) from error

    @property
    def slots(self) -> int:
        """Workers that are there now; a cluster may grow and shrink."""
        self.check_alive()
        return max(1, len(self.client.scheduler_info(n_workers=-1).get("workers", ())))

    def check_alive(self) -> None:
        """Raise an error if the scheduler is gone; Dask's client would wait for it and lose what was submitted."""
        if self.client.status != "running":
            raise ClusterError(
                f"the Dask scheduler at {self.address} is gone; what was finished is kept, so start a cluster and run"
                " the sweep again"
            )

    def submit(self, task: Task) -> Future[TaskResult]:
        """Send a task to an idle worker; Dask runs it elsewhere if that worker is lost."""
        answer: Future[TaskResult] = Future()
        answer.set_running_or_notify_cancel()
        asked: Any = self.client.submit(run_task_on_worker, task, self._notebooks, pure=False)
        asked.add_done_callback(lambda asked: self._hand_over(asked, answer))
        return answer

    def _hand_over(self, asked: Any, answer: Future[TaskResult]) -> None:
        from distributed.scheduler import KilledWorker

        if asked.status == "finished":
            answer.set_result(asked.result())
            return
        error = asked.exception() if asked.status == "error" else None
        if error is None or isinstance(error, KilledWorker):
            try:
                self.check_alive()
            except ClusterError as gone:
                answer.set_exception(gone)
            else:
                reason = f"the cluster lost every worker that tried: {error or asked.status}"
                answer.set_exception(WorkerDiedError(reason))
        else:
            answer.set_exception(error)

    def close(self) -> None:
        """Release the cluster; one that was started here ends."""
        self.client.close()  # type: ignore[no-untyped-call]
        if self._local is not None:
            self._local.close()
            put_back_environment(self._changed)


def run_task_on_worker(task: Task, notebook: bool) -> TaskResult:
    """Run a task with all threads of its Dask worker."""
    import distributed

    with use_threads(distributed.get_worker().state.nthreads):
        if not notebook:
            return run_task(task)
        from rankplug.sweeps.in_notebooks import run_task_in_notebook

        return run_task_in_notebook(task)
