"""Changes of notebooks are told as text and code, by the command of CONTRIBUTING.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_diff_of_a_notebook_is_text_and_code(tmp_path: Path) -> None:
    found = re.search(r"^git config (diff\.notebook\.textconv) '(.*)'$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert found
    command = found[2].replace(".venv/bin/", f"{Path(sys.executable).parent}/")

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "--quiet")
    git("config", found[1], command)
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    notebook = tmp_path / "reader.ipynb"
    before = (ROOT / "notebooks" / "tutorials" / "reader.ipynb").read_text(encoding="utf-8")
    notebook.write_text(before, encoding="utf-8")
    git("add", ".")
    changed = "from rankplug.studies import evaluate"
    assert changed in before
    notebook.write_text(before.replace(changed, f"{changed}, study"), encoding="utf-8")
    lines = [line for line in git("diff").splitlines() if line.startswith(("+", "-"))][2:]
    assert lines == [f"-{changed}", f"+{changed}, study"]
