"""Free memory, and a warning before training that cannot fit into it."""

from __future__ import annotations

from pathlib import Path

from rankplug.errors import FitError, RankplugError

MEMORY_OF_MACHINE = Path("/proc/meminfo")
LIMIT_OF_GROUP = Path("/sys/fs/cgroup/memory.max")
USE_OF_GROUP = Path("/sys/fs/cgroup/memory.current")


def available_memory() -> int | None:
    """Return how many bytes this process may still take; None where the system does not tell."""
    known = []
    try:
        line = next(line for line in MEMORY_OF_MACHINE.read_text().splitlines() if line.startswith("MemAvailable:"))
        known.append(int(line.split()[1]) * 1024)
        limit = LIMIT_OF_GROUP.read_text().strip()
        if limit.isdigit():
            known.append(int(limit) - int(USE_OF_GROUP.read_text()))
    except (OSError, StopIteration, ValueError):
        pass
    return max(0, min(known)) if known else None


def check_memory(needed: int, owner: str, advice: str, error: type[RankplugError] = FitError) -> None:
    """Raise an error if an array cannot fit into memory.

    Args:
        needed: bytes, a cautious estimate from below.
        owner: who needs them.
        advice: what would need less.
        error: that is raised.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise error(
            f"{owner} needs at least {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB are left;"
            f" {advice}"
        )
