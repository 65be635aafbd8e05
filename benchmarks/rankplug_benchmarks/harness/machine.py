"""Conditions of a measurement: processor, cores, memory, load and versions."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from rankplug.authoring import installed_versions
from rankplug.system import available_cores

COMPARED = ("catboost", "ir-measures", "pytrec-eval-terrier", "ranx")
"""Libraries we are measured beside that are not among our dependencies."""


def describe_machine() -> dict[str, Any]:
    """Return the conditions that measurements depend on, as plain values."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gib": round(_memory() / 2**30, 1),
        "system": platform.platform(terse=True),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": installed_versions(COMPARED),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
