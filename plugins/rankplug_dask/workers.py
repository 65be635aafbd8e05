"""Tasks run on a Dask cluster: an existing one, or one started on this machine.

Workers need rankplug, the plugins and the prepared data; they share neither a file system for results nor a working
folder with the process of the sweep. A cluster of a batch system is started with ``dask_jobqueue`` or ``submitit`` and
named by its scheduler's address.

Everyone who can connect to a scheduler can run code as its user. A cluster that is started here uses TLS with
certificates that only its own processes have. For an existing one at ``tls://...``, the certificates are those of
Dask's own configuration, ``distributed.comm.tls``.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import Any

from rankplug.sweeps import (
    Task,
    TaskResult,
    WorkerDiedError,
    WorkersGoneError,
    environment,
    run_task,
    run_task_in_notebook,
)
from rankplug.system import require_modules, safe_children, use_threads

LOCAL = "local"
CONNECT_SECONDS = 30
NO_PAGES: dict[str, list[Any]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Settings of Dask by which its web servers, which need no credentials, show nothing."""


class ClusterError(WorkersGoneError):
    """A cluster that cannot be reached, or no longer."""


class DaskWorkers:
    """A Dask cluster; a worker has one task at a time and all its threads for it.

    Args:
        address: address of the scheduler, such as ``tls://10.0.0.1:8786``, or ``local`` to start workers here.
        jobs: number of workers to start here; an existing cluster has its own number.
        threads: threads of each worker that is started here.
        notebooks: whether tasks run as notebooks.
    """

    def __init__(self, address: str, jobs: int, threads: int, *, notebooks: bool) -> None:
        require_modules("distributed", *(["cryptography"] if address == LOCAL else []))
        import dask
        import distributed

        self._notebooks = notebooks
        self.address = address
        self._local: Any = None
        if address == LOCAL:
            # Dask sets the threads of each worker in this process's environment, which later processes would inherit.
            with environment({}), safe_children(), dask.config.set(NO_PAGES):
                self._local = distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=threads,
                    dashboard_address=None,
                    silence_logs=logging.ERROR,
                    protocol="tls",
                    security=distributed.Security.temporary(),
                )
        try:
            self.client = distributed.Client(self._local or address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({error}); start one, or use --cluster local"
            ) from error

    @property
    def slots(self) -> int:
        """Number of workers at this moment; a cluster may grow and shrink."""
        self.check_alive()
        return max(1, len(self.client.scheduler_info(n_workers=-1).get("workers", ())))

    def check_alive(self) -> None:
        """Raise an error if the scheduler is gone; Dask's client would wait for it and lose what was submitted."""
        if self.client.status != "running":
            raise ClusterError(
                f"the Dask scheduler at {self.address} is gone; finished trials are stored, so start a cluster and run"
                " the sweep again"
            )

    def submit(self, task: Task) -> Future[TaskResult]:
        """Send a task to an idle worker; Dask runs it elsewhere if that worker is lost."""
        answer: Future[TaskResult] = Future()
        answer.set_running_or_notify_cancel()
        remote: Any = self.client.submit(run_task_on_worker, task, self._notebooks, pure=False)
        remote.add_done_callback(lambda remote: self._pass_on(remote, answer))
        return answer

    def _pass_on(self, remote: Any, answer: Future[TaskResult]) -> None:
        from distributed.scheduler import KilledWorker

        if remote.status == "finished":
            answer.set_result(remote.result())
            return
        error = remote.exception() if remote.status == "error" else None
        if error is None or isinstance(error, KilledWorker):
            try:
                self.check_alive()
            except ClusterError as gone:
                answer.set_exception(gone)
            else:
                reason = f"the cluster lost every worker that tried: {error or remote.status}"
                answer.set_exception(WorkerDiedError(reason))
        else:
            answer.set_exception(error)

    def close(self) -> None:
        """Release the cluster; one that was started here ends."""
        self.client.close()
        if self._local is not None:
            self._local.close()


def run_task_on_worker(task: Task, notebook: bool) -> TaskResult:
    """Run a task with all threads of its Dask worker."""
    import distributed

    with use_threads(distributed.get_worker().state.nthreads):
        return run_task_in_notebook(task) if notebook else run_task(task)
