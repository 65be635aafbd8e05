"""Tasks run as notebooks: papermill executes ``combination.ipynb`` for each combination."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rankplug.errors import MissingPackageError, NotRunError
from rankplug.store import Store, StoreError
from rankplug.sweeps._trial_runs import failed_result
from rankplug.sweeps._workers import Task, TaskResult, WorkerDiedError, WorkerLostError
from rankplug.system import OwnedFolder, end_kernels, execute_notebook, notebooks_folder, require_modules

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
