"""Execution of a notebook in a forked kernel, once its parameters are seen to be right."""

from __future__ import annotations

from typing import Any

from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import NBClientEngine, NotebookExecutionManager

from rankplug.registry import import_object
from rankplug_jupyter.forking import ForkServerError, servers_lost
from rankplug_jupyter.provisioner import ForkedKernelManager


class ForkedExecution(NBClientEngine):  # type: ignore[misc]
    """Execution of notebooks in forked kernels."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: NotebookExecutionManager, kernel_name: str, **kwargs: Any) -> Any:
        """Execute a notebook after validating its parameters; a kernel that dies is noted in the cell that ran."""
        check_parameters(nb_man.nb)
        kwargs.setdefault("kernel_manager_class", ForkedKernelManager)
        lost_before = servers_lost()
        try:
            return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)
        except DeadKernelError as error:
            mark_death(nb_man, error)
            if servers_lost() > lost_before:
                raise ForkServerError("the process that notebook kernels are forked from has ended") from error
            raise


def check_parameters(nb: NotebookNode) -> None:
    """Pass the given parameters to the function that a notebook's metadata name as ``rankplug.check``.

    A misspelt or impossible parameter is then an error before a kernel starts, where papermill only warns.
    """
    check = nb.metadata.get("rankplug", {}).get("check")
    if check:
        import_object(check, "the notebook's check of its parameters")(nb.metadata.papermill.get("parameters", {}))


def mark_death(nb_man: NotebookExecutionManager, error: DeadKernelError) -> None:
    """Record in the cell that ran that the kernel died; papermill would call the cell completed."""
    begun = [(index, cell) for index, cell in enumerate(nb_man.nb.cells) if cell.metadata.papermill["start_time"]]
    if not begun:
        return
    place, cell = begun[-1]
    nb_man.cell_exception(cell, cell_index=place, exception=error)
    output = new_output("error", ename="DeadKernelError", evalue=str(error), traceback=[str(error)])  # type: ignore[no-untyped-call]
    cell.outputs.append(output)
