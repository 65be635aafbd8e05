"""Loads one plugin under supervision, so that none harms the process it is loaded into.

A plugin from elsewhere is refused if it needs another version of rankplug, does not come to an end, or replaces
functions of NumPy or PyTorch; what it prints goes to the standard error stream. ``RANKPLUG_WITHOUT`` names
distributions that are not loaded at all, ``RANKPLUG_IMPORT_SECONDS`` how long one may take.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from rankplug.errors import BrokenPluginError
from rankplug.system import __version__, say

OWN = "rankplug"
SECONDS = 30.0
WATCHED = ("numpy", "numpy.random", "numpy.linalg", "torch", "torch.nn.functional")


class PluginTimeoutError(BrokenPluginError):
    """A plugin whose import does not end."""


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
    seconds = float(os.environ.get("RANKPLUG_IMPORT_SECONDS") or SECONDS)
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
        raise PluginTimeoutError(sentence)

    handler = signal.signal(signal.SIGALRM, give_up)
    timer_before = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer_before)


@contextlib.contextmanager
def without_replacements(root: str) -> Iterator[None]:
    """Raise an error if the block replaces functions of NumPy or PyTorch, and restore them.

    Args:
        root: package the block imports; functions of it found in a library that came with it are replacements too.
    """
    before = {name: dict(space) for name, space in _namespaces()}
    try:
        yield
    finally:
        replaced = [change for name, space in _namespaces() for change in _changes(name, space, before.get(name), root)]
    if replaced:
        raise BrokenPluginError(
            f"it replaces {', '.join(replaced[:5])}{' and more' if len(replaced) > 5 else ''}, which would change the"
            " results of every other plugin"
        )


def _namespaces() -> Iterator[tuple[str, Any]]:
    for name in WATCHED:
        if name in sys.modules:
            yield name, vars(sys.modules[name])
    if hasattr(sys.modules.get("torch"), "Tensor"):
        yield "torch.Tensor", vars(sys.modules["torch"].Tensor)


def _changes(name: str, space: Any, before: dict[str, Any] | None, root: str) -> Iterator[str]:
    for attribute, value in list(space.items()):
        if attribute.startswith("__"):
            continue
        if before is not None and attribute in before and value is not before[attribute]:
            if _written_in(value, name.partition(".")[0]):
                continue
            owner = sys.modules["torch"].Tensor if name == "torch.Tensor" else sys.modules[name]
            setattr(owner, attribute, before[attribute])
            yield f"{name}.{attribute}"
        elif before is None and callable(value) and (getattr(value, "__module__", "") or "").partition(".")[0] == root:
            yield f"{name}.{attribute}"


def _written_in(function: Any, library: str) -> bool:
    """Tell whether a library replaces a function of its own, as PyTorch does when ``torch._dynamo`` is imported."""
    path = getattr(getattr(function, "__code__", None), "co_filename", "")
    return path.startswith(os.path.dirname(sys.modules[library].__file__ or "nowhere") + os.sep)


@contextlib.contextmanager
def printing_elsewhere(who: str) -> Iterator[list[str]]:
    """Redirect what the block prints to the standard error stream, naming who printed it; yields the list of lines."""
    printed: list[str] = []
    with contextlib.redirect_stdout(io.StringIO()) as caught:
        try:
            yield printed
        finally:
            printed += caught.getvalue().splitlines()
            for line in printed:
                say(f"{who}: {line}", error=True)
