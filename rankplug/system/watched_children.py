"""Child processes that do what might harm this one: hang, crash, exit or print."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankplug.system.folders import SocketFolder

PR_SET_PDEATHSIG = 1
"""Number by which Linux knows the wish for a signal when the parent ends."""
LOOKS = 0.01
"""Seconds between two looks at a child."""


@dataclass(frozen=True)
class ChildEnd:
    """End of a child process.

    Args:
        code: what it gave back, negative for the signal that ended it; None where it took too long and was killed.
        printed: what it wrote to its standard output.
        complained: what it wrote to its standard error stream.
        notes: what it wrote into the file that it was given for notes.
    """

    code: int | None
    printed: bytes
    complained: bytes
    notes: bytes

    def describe(self) -> str:
        """Name the end in words.

        >>> ChildEnd(-11, b"", b"", b"").describe(), ChildEnd(3, b"", b"", b"").describe()
        ('SIGSEGV', 'exit code 3')
        """
        if self.code is None:
            return "no end"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-self.code).name
        return f"exit code {self.code}"


def run_watched(
    code: str,
    words: list[str],
    *,
    seconds: float,
    given: bytes = b"",
    variables: Mapping[str, str] | None = None,
    start_seconds: float = 60.0,
) -> ChildEnd:
    """Run Python code in a child process of its own group, which is killed whole at the end.

    Args:
        code: what the child runs; ``sys.argv`` holds the path of a file for notes, and then the words.
        words: further arguments.
        seconds: how long it may take from one note to the next.
        given: its standard input.
        variables: of its environment, beside those of this process.
        start_seconds: how long it may take until its first note.
    """
    folder = SocketFolder()
    try:
        return _run(code, words, Path(folder.path), given, seconds, start_seconds, variables or {})
    finally:
        folder.remove()


def _run(
    code: str,
    words: list[str],
    folder: Path,
    given: bytes,
    seconds: float,
    start_seconds: float,
    variables: Mapping[str, str],
) -> ChildEnd:
    notes, given_file = folder / "notes", folder / "given"
    notes.touch()
    given_file.write_bytes(given)
    ours = [path for path in sys.path if isinstance(path, str)]
    # After its own: a file of ours called json.py must not stand in for Python's.
    setup = (
        f"import sys; sys.path += [path for path in {ours!r} if path not in sys.path]\n"
        f"from rankplug.system.watched_children import end_with_parent; end_with_parent({os.getpid()})\n"
    )
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err, given_file.open("rb") as stdin:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", setup + code, str(notes), *words],
            stdin=stdin,
            stdout=out,
            stderr=err,
            env={**os.environ, **variables},
            start_new_session=True,
        )
        try:
            ended = _wait(child, notes, seconds, start_seconds)
        finally:
            _kill_group(child)
        return ChildEnd(ended, _content(out), _content(err), notes.read_bytes())


def end_with_parent(parent: int) -> None:
    """End this child when the process that watches it is killed, and in any case after an hour."""
    if hasattr(signal, "alarm"):
        signal.alarm(3600)
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _wait(child: subprocess.Popen[Any], notes: Path, seconds: float, start_seconds: float) -> int | None:
    size, deadline = 0, time.monotonic() + max(seconds, start_seconds)
    while (code := child.poll()) is None:
        if time.monotonic() > deadline:
            return None
        time.sleep(LOOKS)
        if (now := notes.stat().st_size) != size:
            size, deadline = now, time.monotonic() + seconds
    return code


def _kill_group(child: subprocess.Popen[Any]) -> None:
    """End a child, and whatever it started that is still there."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()


def _content(file: Any) -> bytes:
    file.seek(0)
    content: bytes = file.read()
    return content
