"""environment.yml holds the packages of pyproject.toml, no more, no fewer, and with the same bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"pytorch": "torch", "python-duckdb": "duckdb"}
LEFT_OUT_OF_ALL = {"mlflow", "pyterrier", "python-terrier"}
"""Extras and packages that only some users want, and that bring much: in no environment of ours."""
PARTS_OF_OTHERS = {"mkdocstrings-python": "mkdocstrings[python]"}

REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?P<extra>\[[^]]*\])?(?P<bounds>.*)")


def split(requirement: str) -> tuple[str, str]:
    match = REQUIREMENT.fullmatch(requirement)
    assert match, requirement
    return match["name"].lower(), match["bounds"].strip()


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def environment() -> list:
    return yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]


def required(project: dict) -> dict[str, str]:
    extras = project["project"]["optional-dependencies"]
    groups = [project["project"]["dependencies"], *extras.values(), *project["dependency-groups"].values()]
    found = dict(split(requirement) for group in groups for requirement in group)
    return {name: bounds for name, bounds in found.items() if name not in {"rankplug", *LEFT_OUT_OF_ALL}}


def listed(environment: list) -> dict[str, str]:
    (pip,) = [entry["pip"] for entry in environment if isinstance(entry, dict)]
    lines = [line for line in environment if isinstance(line, str)] + [line for line in pip if not line.startswith("-")]
    packages = dict(split(line) for line in lines)
    packages = {CONDA_NAMES.get(name, name): bounds for name, bounds in packages.items()}
    return {name: bounds for name, bounds in packages.items() if name not in {"python", "pip", *PARTS_OF_OTHERS}}


def test_both_files_name_the_same_packages_with_the_same_bounds(project, environment):
    assert listed(environment) == required(project)


def test_both_files_ask_for_the_same_python(project, environment):
    assert f"python{project['project']['requires-python']}" in environment


def test_an_extra_of_a_package_is_listed_as_the_package_conda_knows(project, environment):
    everything = str(project["dependency-groups"]) + str(project["project"])
    for conda, pip in PARTS_OF_OTHERS.items():
        assert conda in environment and pip in everything


def test_the_environment_installs_rankplug_itself(environment):
    assert "--editable ." in environment[-1]["pip"]


def test_every_package_that_make_installs_has_an_exact_version_in_the_constraints(project):
    exact = {split(line)[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert set(required(project)) - LEFT_OUT_OF_ALL <= exact


def test_the_extra_all_holds_every_extra_but_those_known_to_be_left_out(project):
    extras = project["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.search(r"\[(.*)\]", everything)
    assert named and set(named[1].split(",")) == set(extras) - {"all"} - LEFT_OUT_OF_ALL


def test_hooks_before_a_commit_run_the_tools_that_make_lint_runs():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = [hook["entry"].split()[0] for hook in repository["hooks"]]
    makefile = (ROOT / "Makefile").read_text()
    lint = makefile[makefile.index("\nlint:") : makefile.index("\nformat:")].replace("$(BIN)", ".venv/bin")
    assert {entry for entry in entries if entry in lint} == set(entries)
