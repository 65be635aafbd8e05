"""Knowledge of commands that nothing disturbs: what they leave, how long they take, which modules they import."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import rankplug

ROOT = Path(rankplug.__file__).parents[1]
FOLDERS = (ROOT / "rankplug", ROOT / "plugins", ROOT / "data_prep", Path(__file__).parent)


class Undisturbed:
    """States, times and modules of commands, kept in a file for as long as the code is the same."""

    def __init__(self, file: Path) -> None:
        self.file, self.code = file, code_digest()
        known = json.loads(file.read_text()) if file.exists() else {}
        same = known.get("code") == self.code
        self.states: dict[str, str] = known["states"] if same else {}
        self.seconds: dict[str, float] = known.get("seconds", {})
        self.computed: dict[str, float] = known["computed"] if same else {}
        self.modules: list[str] = known["modules"] if same else []
        import_all(self.modules)

    def took(self, name: str, seconds: float, computed: float) -> None:
        """Note the shortest time that a command has taken, and the least processor time."""
        self.seconds[name] = min(self.seconds.get(name, seconds), seconds)
        self.computed[name] = min(self.computed.get(name, computed), computed)
        self._keep()

    def leaves(self, name: str, state: str, modules: Iterable[str]) -> None:
        """Note what a command leaves, and import what it imports, so that those forked later need not."""
        self.states[name] = state
        self.modules = sorted({*self.modules, *modules})
        import_all(self.modules)
        self._keep()

    def _keep(self) -> None:
        parts = ("code", "states", "seconds", "computed", "modules")
        self.file.write_text(json.dumps({name: getattr(self, name) for name in parts}))


def code_digest() -> str:
    """Return a digest of the times of all modules that matter."""
    files = sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))
    return hashlib.sha256(repr([(str(path), path.stat().st_mtime_ns) for path in files]).encode()).hexdigest()


def import_all(names: Iterable[str]) -> None:
    """Import modules as far as they can be imported, without starting a thread of Python, which no fork would have."""
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    assert threading.active_count() == 1, "a module that was imported has started threads"
