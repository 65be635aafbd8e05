"""Notebooks executed by papermill, in kernels that talk through files of this user and end when they are told to."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankplug.system.folders import SocketFolder
from rankplug.system.machine import child_environment

_started: list[Any] = []
"""Processes of the kernels that were started here."""


def execute_notebook(source: Path, target: Path, parameters: Mapping[str, Any], folder: Path | None = None) -> None:
    """Execute a notebook.

    Args:
        source: the notebook.
        target: where the executed notebook is written.
        parameters: of the notebook.
        folder: in which its kernel works; this process's by default.
    """
    import papermill
    from traitlets.config import Config

    options: dict[str, Any] = {"kernel_manager_class": _recorded_kernels()}
    if folder is not None:  # papermill's own argument for it changes the folder of all threads of this process.
        options["resources"] = {"metadata": {"path": str(folder)}}
    sockets = SocketFolder() if os.name == "posix" else None
    if sockets is not None:  # Any user of the machine could listen at a port.
        connection = os.path.join(sockets.path, "kernel.json")
        options["config"] = Config(KernelManager=Config(transport="ipc", connection_file=connection))
    try:
        papermill.execute_notebook(str(source), str(target), parameters=dict(parameters), progress_bar=False, **options)
    finally:
        if sockets is not None:
            sockets.remove()


def end_kernels() -> None:
    """End the kernels that still run, and with them their notebooks."""
    for process in _started:
        if process.poll() is None:
            process.kill()


@functools.cache
def _recorded_kernels() -> type:
    """Return the class of managers that record the processes of their kernels."""
    from jupyter_client.manager import AsyncKernelManager

    class RecordedKernel(AsyncKernelManager):
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            await super().start_kernel(**{"env": child_environment(), **options})
            _started.append(getattr(self.provisioner, "process", None))

    return RecordedKernel
