"""Jupyter's way to start a kernel, by forking where that gives the kernel that was asked for."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from rankplug.system import SocketFolder
from rankplug_jupyter.forking import can_fork, fork_server

NAME = "rankplug-forked"
LAUNCHER = "ipykernel_launcher"
HARMLESS = {"-m", "-Xfrozen_modules=off"}
CONNECT_AGAIN_AFTER_MS = 5


def kernel_arguments(command: list[str]) -> list[str] | None:
    """Return the arguments in a command that starts this interpreter's own kernel; None for any other.

    >>> import sys
    >>> kernel_arguments([sys.executable, "-m", "ipykernel_launcher", "-f", "kernel.json"])
    ['-f', 'kernel.json']
    >>> kernel_arguments(["R", "-f", "kernel.json"]) is None
    True
    """
    if LAUNCHER not in command or shutil.which(command[0]) != shutil.which(sys.executable):
        return None
    position = command.index(LAUNCHER)
    return command[position + 1 :] if set(command[1:position]) <= HARMLESS else None


class ForkedProvisioner(LocalProvisioner):
    """Forks this interpreter's own kernels; starts others as they always are."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel."""
        arguments = kernel_arguments(cmd)
        if arguments is None or not can_fork():
            return await super().launch_kernel(cmd, **kwargs)
        environment = kwargs.get("env") or dict(os.environ)
        folder = str(kwargs.get("cwd") or Path.cwd())
        process = fork_server(environment).launch(arguments, environment, os.path.abspath(folder))
        self.process = process  # type: ignore[assignment]
        # Without a process group of its own to signal, the parent class asks the process, whose server knows
        # whether the number is still this kernel's.
        self.pid, self.pgid, self.cwd = process.pid, None, folder
        return self.connection_info


class PromptKernelClient(AsyncKernelClient):
    """Knows that a kernel is ready when it says so, where Jupyter's waits for a fifth of a second of silence."""

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.kernel_info()
            try:
                reply = await self.shell_channel.get_msg(timeout=1)
                if reply["msg_type"] == "kernel_info_reply" and await self._is_heard():
                    self._handle_kernel_info_reply(reply)
                    return
            except Empty:
                if not await self._async_is_alive():
                    raise RuntimeError("Kernel died before replying to kernel_info") from None
        raise RuntimeError(f"Kernel didn't respond in {timeout} seconds")

    async def _is_heard(self) -> bool:
        """Tell whether this client receives what the kernel publishes; anything published before it connects is lost.

        Newer kernels greet whoever connects; of others we hear how they answered, or must ask again.
        """
        try:
            await self.iopub_channel.get_msg(timeout=0.2)
        except Empty:
            return False
        return True

    wait_for_ready = _async_wait_for_ready


class ForkedKernelManager(AsyncKernelManager):
    """Manages a kernel that is forked, and talks to it through files instead of ports that another may grab."""

    client_class = "rankplug_jupyter.provisioner.PromptKernelClient"
    client_factory = PromptKernelClient

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._folder: SocketFolder | None = None
        if can_fork():
            self._folder = SocketFolder()
            self.transport = "ipc"
            self.connection_file = os.path.join(self._folder.path, "kernel.json")
            # We knock before the kernel has made its files, and a tenth of a second later again if nothing is said;
            # what it publishes before we are in is lost.
            self.context.setsockopt(zmq.RECONNECT_IVL, CONNECT_AGAIN_AFTER_MS)

    @property
    def kernel_spec(self) -> KernelSpec | None:
        """The kernel's description, which names our way to start it unless it names one itself."""
        specification = super().kernel_spec
        if specification is not None:
            specification.metadata.setdefault("kernel_provisioner", {"provisioner_name": NAME, "config": {}})
        return specification

    async def _async_finish_shutdown(
        self, waittime: float | None = None, pollinterval: float = 0.01, restart: bool = False
    ) -> None:
        await super()._async_finish_shutdown(waittime, pollinterval, restart)

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        await super()._async_cleanup_resources(restart=restart)
        if self._folder is not None and not restart:
            self._folder.remove()

    cleanup_resources = _async_cleanup_resources
