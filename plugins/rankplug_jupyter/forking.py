"""The owner's side of the fork server: starts it when it is first needed, and hands out forked kernels."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from rankplug.errors import RankplugError
from rankplug_jupyter.preloading import import_environment

START = (
    "import sys; sys.path.pop(0); import rankplug_jupyter.ending;"
    " from rankplug_jupyter.fork_server import main; main({descriptor})"
)


class ForkServerError(RankplugError, RuntimeError):
    """The process that kernels are forked from is gone."""


def can_fork() -> bool:
    """Tell whether kernels can be forked here; elsewhere than on Linux, system libraries do not survive it."""
    return sys.platform == "linux"


class ForkServer:
    """A running fork server with a given environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START.format(descriptor=theirs.fileno())],
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.channel = ours
        self.lines = ours.makefile("rb")
        self.lock = threading.Lock()
        self.lost = False

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request to the server, and return its answer."""
        with self.lock:
            try:
                self.channel.sendall(json.dumps(request).encode() + b"\n")
                line = self.lines.readline()
            except OSError:
                line = b""
        if not line:
            if not self.lost:
                self.lost = True
                _lost.append(self.process.pid)
            raise ForkServerError(
                f"the process that notebook kernels are forked from has ended (exit code {self.process.poll()});"
                " run the notebook again, or without --engine rankplug"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def launch(self, arguments: list[str], environment: Mapping[str, str], folder: str) -> ForkedProcess:
        """Fork a kernel now."""
        words = {"arguments": arguments, "environment": dict(environment), "folder": folder}
        return ForkedProcess(self, self.ask(launch=words)["process"])

    def alive(self) -> bool:
        """Tell whether the server runs, as far as is known."""
        return not self.lost and self.process.poll() is None

    def close(self) -> None:
        """End the server, with the kernels that still run."""
        self.lines.close()
        self.channel.close()
        self.process.wait()


class ForkedProcess:
    """A forked kernel, with the methods of :class:`subprocess.Popen` that Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.server, self.pid = server, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the kernel's exit code, negative after a signal; None while it runs."""
        if self.returncode is None:
            try:
                self.returncode = self.server.ask(poll=self.pid)["status"]
            except ForkServerError:
                # Kernels end when their server does.
                self.returncode = -signal.SIGKILL
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the kernel to end, and return its exit code."""
        pause = threading.Event()
        while self.poll() is None:
            if timeout is not None and (timeout := timeout - 0.02) < 0:
                raise subprocess.TimeoutExpired("a forked kernel", 0)
            pause.wait(0.02)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel and its children, unless it has ended."""
        self.server.ask(signal=[self.pid, int(number)])

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the kernel."""
        self.send_signal(signal.SIGKILL)


_lost: list[int] = []


def servers_lost() -> int:
    """Return how many servers of this process have ended without being told to, and their kernels with them."""
    return len(_lost)


_servers: dict[tuple[tuple[str, str], ...], ForkServer] = {}
_lock = threading.Lock()


def fork_server(environment: Mapping[str, str]) -> ForkServer:
    """Return the server for kernels with an environment; one is kept for each set of variables that imports read."""
    wanted = import_environment(environment)
    with _lock:
        server = _servers.get(wanted)
        if server is None or not server.alive():
            server = _servers[wanted] = ForkServer(environment)
        return server


@atexit.register
def close_fork_servers() -> None:
    """End all servers of this process."""
    with _lock:
        while _servers:
            _servers.popitem()[1].close()


def _forget_servers() -> None:
    """Close the channels in a forked copy of this process, which must not speak on those of its parent."""
    global _lock
    for server in _servers.values():
        server.lines.close()
        server.channel.close()
    _servers.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_servers)
