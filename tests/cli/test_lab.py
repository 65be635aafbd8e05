"""``rankplug lab`` gives the notebooks to whoever has only the package, and writes over nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.studies import studies
from rankplug.system import notebooks_folder


def lab(*words: str) -> str:
    done = CliRunner().invoke(app, ["lab", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_every_notebook_is_copied_once(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shipped = {
        path.name for path in notebooks_folder().glob("**/[!.]*.ipynb") if ".ipynb_checkpoints" not in path.parts
    }
    told = lab(str(folder), "--copy-only")
    copied = {path.name for path in folder.rglob("*.ipynb")}
    assert copied == shipped | {study.notebook_path.name for study in studies()}
    assert told == f"copied {len(copied)} notebooks into {folder}\n"
    (folder / "combination.ipynb").write_text("changed")
    (folder / "data.ipynb").unlink()
    told = lab(str(folder), "--copy-only")
    assert told == f"copied 1 notebooks into {folder} ({len(copied) - 1} already present)\n"
    assert (folder / "combination.ipynb").read_text() == "changed"


@pytest.mark.parametrize("words", [["mine", "--", "--port", "9999", "--allow-root"], ["--", "--port", "9999"]])
def test_options_reach_jupyterlab(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "call", lambda command, env: commands.append(command) or 0)
    lab(*words)
    folder = words[0] if words[0] != "--" else "notebooks"
    assert commands[0][-1 - len(words[words.index("--") + 1 :]) :] == [folder, *words[words.index("--") + 1 :]]
