"""``rankplug doctor`` tells what works, and names each problem with what to do."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from rankplug import BackendSpecification
from rankplug.authoring import examine
from rankplug.cli import app
from rankplug.registry import Registry, registry
from rankplug.system import available_cores


def backend(name: str, requires: tuple[str, ...]) -> Registry:
    registry = Registry(())
    registry.add(BackendSpecification(name=name, summary="x", requires=requires, implementation="json:dumps"))
    return registry


def test_an_installed_engine_works_and_a_missing_one_says_which():
    assert examine(backend("fine", ("json",))).backends[0].works
    (missing,) = examine(backend("far", ("json", "an_engine_that_is_not_there"))).backends
    assert not missing.works
    assert missing.reason == "ModuleNotFoundError: No module named 'an_engine_that_is_not_there'"


def test_the_command_prints_json():
    printed = CliRunner().invoke(app, ["doctor", "--json"])
    listing = json.loads(printed.output)
    assert printed.exit_code == (1 if listing["problems"] else 0)
    assert listing["cores"] == available_cores()
    installed = {plugin.specification.name for plugin in registry().plugins("backend")}
    assert installed and {entry["name"] for entry in listing["backends"] if entry["works"]} == installed
    assert listing["failed"] == []
