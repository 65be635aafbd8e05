"""Imports a plugin in a child process, which may come to harm, and notes how far that came."""

from __future__ import annotations

import contextlib
import json
import threading
from importlib import metadata
from typing import Any

from rankplug.registry.health import load_code
from rankplug.registry.loading import AT_END, begin_rehearsal
from rankplug.registry.plugins import Registry
from rankplug.registry.replacements import ReplacementError


def rehearse(notes: str, distribution: str, *entry: str) -> None:
    """Import a plugin and the code behind it, in a child process, and note how far that came."""
    begin_rehearsal()
    # What a plugin might replace must be there before it is.
    import scipy.linalg
    import scipy.optimize
    import scipy.special  # noqa: F401

    def note(**facts: Any) -> None:
        with open(notes, "a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    points = metadata.distribution(distribution).entry_points
    point = next(point for point in points if (point.name, point.value, point.group) == entry)
    before = set(threading.enumerate())
    note(stage="its import")
    plugins = Registry(())
    try:
        error = plugins.take(point)
    except KeyboardInterrupt as interrupt:
        error = interrupt
    if isinstance(error, ReplacementError):
        note(refusal=str(error))
    elif isinstance(error, KeyboardInterrupt):
        note(refusal="its import raises KeyboardInterrupt, as if you had stopped it")
    for plugin in plugins.plugins():
        note(stage=f"importing the code of {plugin.specification}")
        with contextlib.suppress(Exception, SystemExit):
            load_code(plugin, plugins)
    started = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    note(stage=AT_END, threads=[thread.name for thread in started if not thread.name.startswith("rankplug")])
