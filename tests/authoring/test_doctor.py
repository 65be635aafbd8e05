"""``rankplug doctor`` tells what works, and names each problem with what to do."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rankplug import BackendSpecification
from rankplug.authoring import examine
from rankplug.cli import app
from rankplug.registry import BrokenPlugin, Registry, registry
from rankplug.system import available_cores


def backend(name: str, requires: tuple[str, ...], implementation: str = "json:dumps") -> Registry:
    registry = Registry(())
    registry.add(BackendSpecification(name=name, summary="an engine", requires=requires, implementation=implementation))
    return registry


def test_an_installed_engine_works_and_a_missing_one_says_which():
    assert examine(backend("fine", ("json",))).backends[0].works
    (missing,) = examine(backend("far", ("json", "an_engine_that_is_not_there"))).backends
    assert not missing.works
    assert missing.reason == "ModuleNotFoundError: No module named 'an_engine_that_is_not_there'"


def test_problems_are_sentences(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("RANKPLUG_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path / "absent"))
    registry = backend("far", ("an_engine_that_is_not_there",))
    registry.broken.append(BrokenPlugin("x", "x-pack", "1.0", "ImportError: no y"))
    assert examine(registry).problems == [
        "plugin x of x-pack failed: ImportError: no y",
        f"the folder for prepared data and compiled code, {tmp_path}/file/cache, cannot be written;"
        " set RANKPLUG_CACHE to another",
        f"the folder for data, {tmp_path}/absent, does not exist; correct RANKPLUG_DATA",
        "no backend works, so nothing can be trained: install one with pip install 'rankplug[lightgbm]'",
    ]


@pytest.fixture(scope="module")
def printed():
    return CliRunner().invoke(app, ["doctor", "--json"])


def test_the_command_prints_json(printed, monkeypatch):
    listing = json.loads(printed.output)
    assert printed.exit_code == (1 if listing["problems"] else 0)
    assert listing["cores"] == available_cores()
    installed = {plugin.specification.name for plugin in registry().plugins("backend")}
    assert installed and {entry["name"] for entry in listing["backends"] if entry["works"]} == installed
    assert listing["failed"] == []
