"""Papers in packages of strangers: in the report where they are installed, and nowhere else."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rankplug.testing import study_checks
from rankplug.testing._study_case import StudyCase

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "plugins" / "examples"
NAMES = ("neuralndcg", "toy")
BIN = Path(sys.executable).parent
UV = BIN / "uv"
CLI = "import sys; from rankplug.cli import main; sys.argv[0] = 'rankplug'; main()"


def test_the_examples_are_no_part_of_rankplug():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    own = {name: tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text())["project"] for name in NAMES}
    assert sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()) == sorted(NAMES)
    for name, about in own.items():
        assert about["entry-points"]["rankplug"] == {name: f"rankplug_{name}.plugin"}
        assert not [path for path in shipped if name in path or "examples" in path]
    for path in (ROOT / "rankplug").rglob("*.py"):
        assert not [name for name in NAMES if f"rankplug_{name}" in path.read_text()], path


@pytest.mark.parametrize("name", NAMES)
def test_an_example_keeps_what_a_study_promises_without_training(name, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / name))
    case = StudyCase(name)
    vars(case)["study"] = importlib.import_module(f"rankplug_{name}.study").study
    for check in (
        study_checks.it_says_which_paper_it_is,
        study_checks.every_profile_plans,
        study_checks.published_numbers_say_what_they_are,
        study_checks.the_notebook_is_a_stripped_template,
    ):
        assert not (found := check.finding(case)).failed, found.what
    for module in [module for module in sys.modules if module.partition(".")[0] == f"rankplug_{name}"]:
        monkeypatch.delitem(sys.modules, module)


@pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python")
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_example_papers_come_to_the_report_with_their_package_and_go_with_it(tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    kernel = tmp_path / "venv" / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}

    def rankplug(*words):
        done = subprocess.run(
            [python, "-c", CLI, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def studies():
        return {
            plugin["name"]: plugin["distribution"]
            for plugin in json.loads(rankplug("plugins", "--kind", "study", "--json"))["plugins"]
        }

    before = studies()
    packages = [str(EXAMPLES / name) for name in NAMES]
    subprocess.run([UV, "pip", "install", "--quiet", "--python", python, "--no-deps", *packages], check=True)
    assert studies() == {**before, **{name: f"rankplug-{name}" for name in NAMES}}
    rankplug("reproduce", *NAMES, "--profile", "smoke", "--store", "store", "--report", "with")
    claims = {name: json.loads((tmp_path / "with" / name / "verdicts.json").read_text())["claims"] for name in NAMES}
    assert {name: len(claim) for name, claim in claims.items()} == {"neuralndcg": 3, "toy": 2}
    (exact,) = [claim for claim in claims["neuralndcg"] if "any accuracy" in claim["text"]]
    assert exact["verdict"] == "holds"
    for name in NAMES:
        assert (tmp_path / "with" / name / "exhibits" / "figure-1.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "with" / f"{name}.html").is_file()
    subprocess.run(
        [UV, "pip", "uninstall", "--quiet", "--python", python, *(f"rankplug-{name}" for name in NAMES)], check=True
    )
    assert studies() == before
