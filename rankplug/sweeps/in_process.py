"""Tasks run in this process, one after another."""

from __future__ import annotations

from concurrent.futures import Future

from rankplug.sweeps.tasks import Task, TaskResult, run_task


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
