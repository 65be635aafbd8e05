"""Runs tasks in this process, one after another."""

from __future__ import annotations

from concurrent.futures import Future

from rankplug.sweeps.tasks import Done, Task, run_task


class Here:
    """The process itself as its one worker."""

    slots = 1

    def submit(self, task: Task) -> Future[Done]:
        """Run the task now, and return a finished future."""
        future: Future[Done] = Future()
        future.set_result(run_task(task))
        return future

    def close(self) -> None:
        """Do nothing, as there is nothing to end."""
