"""Modules that the three ways through rankplug pass, in the order in which each is first called.

A way is run once for nothing, so that what happens at first use only, such as finding plugins and compiling, is over.
Then it is run again in the same process under ``sys.setprofile``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
DATA, TREES = "synthetic[queries=30,documents=6]", "trees[rounds=2,leaves=3,min_data=1]"
WAYS = ("rp.fit", "rankplug sweep", "rankplug reproduce")
PAGE = ROOT / "docs" / "architecture.md"


@contextmanager
def modules_called() -> Iterator[list[str]]:
    """Note the modules whose functions are called until the block ends, in the order of their first call."""
    import threading

    modules: dict[str, None] = {}
    folder = str(ROOT / "rankplug") + "/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # The bodies of modules and classes run when they are imported, whoever needs them.
        if event != "call" or not code.co_filename.startswith(folder) or "<module>" in code.co_qualname:
            return
        # Templates that are filled in are called too, and are no modules.
        path, _, suffix = code.co_filename.removeprefix(folder).rpartition(".")
        if suffix == "py":
            modules[path.removesuffix("/__init__")] = None

    names: list[str] = []
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        names += [name.replace("/", ".") for name in modules]


def way(name: str, folder: Path) -> Callable[[], Any]:
    """Return what runs a way through rankplug at its smallest."""
    import rankplug as rp
    from rankplug.cli import app

    if name == "rp.fit":
        train, valid, _ = rp.load(DATA)
        return lambda: rp.fit("lightgbm", scorer=TREES, loss="xe_ndcg", train=train, valid=valid, progress=False)
    count = iter(range(100))
    if name == "rankplug sweep":
        grid = ["loss=xe_ndcg", "backend=lightgbm", f"dataset={DATA}", f"scorer={TREES}"]
        return lambda: app(["sweep", *grid, "--store", str(folder / str(next(count)))], standalone_mode=False)
    paper = ["reproduce", "stochastic", "--profile", "smoke", "--jobs", "1", "--store", str(folder / "store")]
    return lambda: app([*paper, "--report", str(folder / f"report {next(count)}")], standalone_mode=False)


def passed(name: str) -> list[str]:
    """Return the modules that a way passes, found in a process of its own."""
    code = f"from rankplug_documentation.ways import told; told({name!r})"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, stderr=subprocess.DEVNULL)
    found: list[str] = json.loads(printed.splitlines()[-1])
    return found


def told(name: str) -> None:
    """Run a way twice, and print the modules of the second time as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        run = way(name, Path(folder))
        run()
        with modules_called() as names:
            run()
    print(json.dumps(names))


def block(name: str, modules: list[str]) -> str:
    """Return what the page says of a way."""
    words = textwrap.fill(", ".join(modules), 118)
    return f"`{name}`, {len(modules)} modules:\n\n```text\n{words}\n```\n"


def on_page(name: str) -> list[str]:
    """Return the modules that the page lists for a way."""
    match = re.search(rf"`{re.escape(name)}`, \d+ modules:\n\n```text\n(.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    return [one.strip() for one in match[1].replace("\n", " ").split(",")] if match else []
