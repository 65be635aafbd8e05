"""Fuzzing that follows coverage, for hours if need be; atheris is no dependency: ``pip install atheris`` first.

``python tests/reliability/fuzz_with_atheris.py grammar -max_total_time=600`` runs one target until its time is over or
something other than an error of rankplug is raised, whose input is then left in a file. What follows the target's name
are options of libFuzzer, such as ``-rss_limit_mb=1024`` and ``-timeout=10``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1"}


def targets(folder: Path) -> dict[str, Callable[[bytes], Any]]:
    """Return the functions that are given bytes: names of plugins, sweep files, and LETOR texts."""
    from rankplug_data.text import letor

    from rankplug.registry import expand, registry
    from rankplug.store import Store
    from rankplug.sweeps import read_file

    def kept(name: str, content: bytes) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    def grammar(content: bytes) -> None:
        for one in expand(content.decode("utf-8", "replace")):
            registry().resolve("loss", one)

    return {
        "grammar": grammar,
        "sweep": lambda content: read_file(kept("sweep.yaml", content)).plan(Store(folder / "store")),
        "letor": lambda content: letor.read(kept("text.txt", content)),
    }


def main() -> None:
    """Hand the process over to libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=["rankplug", "rankplug_data", "yaml"]):
        importlib.import_module("rankplug.sweeps.sweep_files")
    from rankplug.errors import RankplugError

    folder = Path(tempfile.mkdtemp(prefix="rankplug-fuzz-"))
    target = targets(folder)[sys.argv[1]]

    def one(content: bytes) -> None:
        with contextlib.suppress(RankplugError):
            target(content)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
