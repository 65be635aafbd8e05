"""The process that kernels are forked from: it imports, waits, forks at request, and never computes.

It has one thread and one open channel. Its owner asks in lines of JSON, one answer each: ``launch`` a kernel, ``poll``
one, send it a ``signal``. When the owner is gone, however it went, the kernels are killed and the server ends; when the
server is gone, the kernels notice and end.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from rankplug_jupyter import ending, preloading

OWNER_IS_CHECKED_EVERY = 1.0
CONTROL_ENDS_WITHIN = 5.0


@dataclass(frozen=True)
class Launch:
    """A kernel to be: the arguments after the launcher's name, its environment and its working folder."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str


class Server:
    """Forks kernels for its owner, at the other end of the channel."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.owner = os.getppid()
        self.status: dict[int, int | None] = {}

    def is_wanted(self) -> bool:
        """Tell whether the owner is still there."""
        asked = select.select([self.channel], [], [], 0)[0]
        return os.getppid() == self.owner and (not asked or bool(self.channel.recv(1, socket.MSG_PEEK)))

    def serve(self) -> Launch | None:
        """Answer requests until the owner is gone; in a forked child, return the kernel that the child is to become."""
        lines = self.channel.makefile("rb")
        try:
            while self._wait():
                line = lines.readline()
                if not line:
                    break
                request = json.loads(line)
                if "launch" in request:
                    launch = Launch(**request["launch"])
                    process = os.fork()
                    if process == 0:
                        lines.close()
                        self.channel.close()
                        os.setpgid(0, 0)
                        return launch
                    # Both sides set the group, so that it is set when either goes on.
                    with contextlib.suppress(OSError):
                        os.setpgid(process, process)
                    self.status[process] = None
                    self._answer({"process": process})
                elif "poll" in request:
                    self._answer({"status": self._poll(request["poll"])})
                else:
                    self._signal(*request["signal"])
                    self._answer({})
        except (BrokenPipeError, ConnectionResetError):
            pass
        for process in self.status:
            self._signal(process, signal.SIGKILL)
        return None

    def _wait(self) -> bool:
        while os.getppid() == self.owner:
            if select.select([self.channel], [], [], OWNER_IS_CHECKED_EVERY)[0]:
                return True
        return False

    def _answer(self, words: dict[str, Any]) -> None:
        self.channel.sendall(json.dumps(words).encode() + b"\n")

    def _poll(self, process: int) -> int | None:
        if self.status[process] is None:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self.status[process] = os.waitstatus_to_exitcode(status)
        return self.status[process]

    def _signal(self, process: int, number: int) -> None:
        # A process that was waited for has given its number back; another may have it by now.
        if self._poll(process) is None:
            with contextlib.suppress(OSError):
                os.killpg(process, number)


def become_kernel(launch: Launch) -> None:
    """Turn this forked process into a kernel; return when the kernel has ended."""
    os.environ.clear()
    os.environ.update(launch.environment)
    os.chdir(launch.folder)
    import ipykernel_launcher
    from ipykernel.kernelapp import IPKernelApp

    sys.argv = [str(ipykernel_launcher.__file__), *launch.arguments]
    preloading.become_fresh()
    application = IPKernelApp.instance(parent_handle=os.getppid())
    application.initialize(launch.arguments)  # type: ignore[no-untyped-call]
    application.log.addFilter(_is_news)
    preloading.use_notebook_figures()
    application.start()  # type: ignore[no-untyped-call]
    # The thread that was told to shut down still writes through one that the end of the process stops first. If it
    # comes too late, it waits for an answer until Jupyter kills the kernel.
    if application.control_thread is not None:
        application.control_thread.join(CONTROL_ENDS_WITHIN)
    ending.end_at_once(application.shell)


def _is_news(record: logging.LogRecord) -> bool:
    # Whoever shuts a kernel down interrupts it first, and an idle kernel calls that an error.
    return "KeyboardInterrupt caught" not in record.getMessage()


def main(descriptor: int) -> None:
    """Run the server on an inherited channel."""
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    server = Server(channel)
    # On a busy machine imports may take longer than the owner lives.
    preloading.preload(server.is_wanted)
    # Collections in the children would otherwise copy every page they share.
    gc.freeze()
    launch = server.serve()
    if launch is not None:
        become_kernel(launch)
