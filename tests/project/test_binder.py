"""A hosted Jupyter that reads .binder opens the notebooks: its files build an environment that runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
BINDER = ROOT / ".binder"
NOTEBOOKS = ("tutorials/paper.ipynb", "xendcg.ipynb")
"""Notebooks that are executed in the new environment."""


def test_its_files_ask_for_the_python_and_the_torch_that_make_installs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = (BINDER / "runtime.txt").read_text().strip().removeprefix("python-")
    assert SpecifierSet(project["requires-python"]).contains(version)
    (torch,) = re.findall(r"^torch==\S+$", (BINDER / "requirements.txt").read_text(), re.MULTILINE)
    assert torch in (ROOT / "constraints.txt").read_text().split() and torch in (ROOT / "Makefile").read_text()
    assert os.access(BINDER / "postBuild", os.X_OK)
    words = (BINDER / "postBuild").read_text()
    assert "--constraint constraints.txt --overrides overrides.txt --editable '.[all]'" in words


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_an_environment_of_exactly_these_files_executes_notebooks_and_has_jupyterlab(tmp_path):
    checkout, python = tmp_path / "checkout", tmp_path / "venv" / "bin" / "python"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_bytes((ROOT / name).read_bytes())
            (checkout / name).chmod((ROOT / name).stat().st_mode)
    version = (BINDER / "runtime.txt").read_text().strip().removeprefix("python-")
    if version != f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip(f"a hosted Jupyter has Python {version}, and this is another")
    ours = ("VIRTUAL_ENV", "PYTHONPATH", "RANKPLUG_RESULTS", "RANKPLUG_CACHE")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    outside = {**kept, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path / "home")}

    def run(*words):
        done = subprocess.run(list(map(str, words)), cwd=checkout, env=outside, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(python, "-m", "pip", "install", "--requirement", checkout / ".binder" / "requirements.txt")
    run(checkout / ".binder" / "postBuild")
    assert run(python, "-c", "import torch; print(torch.cuda.is_available())").strip() == "False"
    assert run(python, "-c", "import rankplug; print(rankplug.__file__)").startswith(str(checkout))
    for name in NOTEBOOKS:
        path = checkout / "notebooks" / name
        out = tmp_path / "out" / path.name
        out.parent.mkdir(exist_ok=True)
        run(
            python.with_name("papermill"),
            "--no-progress-bar",
            "-p",
            "profile",
            "smoke",
            "--cwd",
            path.parent,
            path,
            out,
        )
        assert '"output_type": "error"' not in out.read_text() and '"image/png"' in out.read_text()
    assert run(python, "-m", "jupyterlab", "--version").startswith("4.")
