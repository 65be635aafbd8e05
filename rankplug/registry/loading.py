"""Loading of one plugin under supervision, so that none harms the process it is loaded into.

A plugin from elsewhere is tried in a child process first, see :mod:`rankplug.registry.rehearsal`. It is refused if it
needs another version of rankplug, does not come to an end, or replaces what others use, see
:mod:`rankplug.registry.replacements`; what it prints goes to the standard error stream. ``RANKPLUG_WITHOUT`` names
distributions that are not loaded at all, ``RANKPLUG_IMPORT_SECONDS`` how long one may take.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from rankplug.errors import BrokenPluginError, RankplugError
from rankplug.system import __version__, say

OWN = "rankplug"
SECONDS = 30.0
AT_END = "its end"
"""The stage of a child process that has imported all."""
_in_rehearsal = False


class PluginTimeoutError(BrokenPluginError):
    """A plugin whose import does not end."""


class TimeUp(BaseException):
    """Time is up in a block; no ``except Exception`` of a plugin holds it."""


def is_rehearsal() -> bool:
    """Tell whether this process is a child that tries a plugin, where what it prints is to be seen."""
    return _in_rehearsal


def begin_rehearsal() -> None:
    """Make this process one that tries a plugin."""
    global _in_rehearsal
    _in_rehearsal = True


def import_seconds() -> float:
    """Return how long the import of a plugin may take."""
    given = os.environ.get("RANKPLUG_IMPORT_SECONDS") or str(SECONDS)
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(given)) < 1e6:
            return seconds
    raise RankplugError(f"RANKPLUG_IMPORT_SECONDS must be a number of seconds above 0, got {given!r}")


@functools.cache
def own_packages() -> frozenset[str]:
    """Return the names of rankplug and of the packages of its own plugins."""
    own = (point for point in metadata.entry_points(group=OWN) if point.dist and point.dist.name == OWN)
    return frozenset({OWN, *(point.module.partition(".")[0] for point in own)})


def same_distribution(name: str, other: str) -> bool:
    """Tell whether an installer treats two names as one distribution."""
    return name.lower().replace("-", "_") == other.lower().replace("-", "_")


def is_left_out(distribution: str) -> bool:
    """Tell whether the user has disabled a distribution."""
    names = os.environ.get("RANKPLUG_WITHOUT", "").split(",")
    return any(same_distribution(distribution, name.strip()) for name in names if name.strip())


def check_requirement(distribution: metadata.Distribution | None) -> None:
    """Raise an error if a distribution requires another version of rankplug."""
    if distribution is None or distribution.name == OWN:
        return
    from packaging.requirements import Requirement

    for line in distribution.requires or ():
        if not line.startswith(OWN):
            continue
        wanted = Requirement(line)
        applies = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if wanted.name == OWN and applies and not wanted.specifier.contains(__version__, prereleases=True):
            raise BrokenPluginError(
                f"it needs rankplug {wanted.specifier}, but this is {__version__}; upgrade rankplug, or install"
                f" a version of {distribution.name} for this one"
            )


@contextlib.contextmanager
def limited_time(what: str) -> Iterator[None]:
    """Raise an error in the block when it takes too long; in a thread, where that is impossible, print a message."""
    seconds = import_seconds()
    sentence = f"its import did not end in {seconds:g} s (RANKPLUG_IMPORT_SECONDS)"
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        timer = threading.Timer(seconds, lambda: say(f"rankplug: {what}: {sentence}", error=True))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
        return

    def give_up(number: int, frame: Any) -> None:
        raise TimeUp(sentence)

    handler = signal.signal(signal.SIGALRM, give_up)
    # Again every second, for code that catches everything.
    timer_before = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    except TimeUp:
        raise PluginTimeoutError(sentence) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer_before)


@contextlib.contextmanager
def printing_elsewhere(who: str, *, deeply: bool = False) -> Iterator[list[str]]:
    """Send what the block prints to the standard error stream, with who said it; yield the lines at the end.

    Args:
        who: said it.
        deeply: whether also what does not pass Python is caught, now and when the process ends.
    """
    printed: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.callback(_say_all, who, printed)
        if deeply and not is_rehearsal():
            stack.enter_context(_descriptor_elsewhere(printed))
        caught = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        try:
            yield printed
        finally:
            printed += caught.getvalue().splitlines()


def _say_all(who: str, lines: list[str]) -> None:
    for line in lines:
        say(f"{who}: {line}", error=True)


@contextlib.contextmanager
def _descriptor_elsewhere(printed: list[str]) -> Iterator[None]:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdout.flush()
    with tempfile.TemporaryFile() as caught:
        before = os.dup(1)
        os.dup2(caught.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(before, 1)
            os.close(before)
            caught.seek(0)
            printed += caught.read().decode("utf-8", "replace").splitlines()
            # Of what runs at the end, the last that was registered comes first: this comes before the plugin's.
            atexit.register(_print_elsewhere_from_now_on)


def _print_elsewhere_from_now_on() -> None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdout.flush()
        os.dup2(2, 1)


def distribution_of(entry_point: metadata.EntryPoint) -> str:
    """Return the name of the distribution that has an entry point."""
    return entry_point.dist.name if entry_point.dist else "unknown"


def origin_of(entry_point: metadata.EntryPoint) -> tuple[str, str, str]:
    """Return entry point, distribution and version, as they are reported."""
    return entry_point.name, distribution_of(entry_point), entry_point.dist.version if entry_point.dist else ""


def reason_of(error: BaseException) -> str:
    """Return why a plugin could not be loaded, in words."""
    if isinstance(error, (BrokenPluginError, TimeUp)):
        return str(error)
    return f"{type(error).__name__}: {error}"
