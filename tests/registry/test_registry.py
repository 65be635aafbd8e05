"""Each plugin is loaded on its own: a broken one is reported with its reason, and never stops the others."""

from __future__ import annotations

import sys
import textwrap
from importlib import metadata

import pytest

from rankplug import LossSpecification, Parameters
from rankplug.errors import PluginConflictError, UnknownPluginError
from rankplug.registry import Registry, third_party_problems

HEALTHY = """
    from rankplug import LossSpecification, hookimpl

    @hookimpl
    def rankplug_losses():
        return [LossSpecification(name="hinge", summary="a hinge")]
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a small distribution beside others, as an installer would, and return a registry of them all."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def add(name: str, source: str, version: str = "1.0") -> None:
        package = name.replace("-", "_")
        (tmp_path / f"{package}.py").write_text(textwrap.dedent(source))
        information = tmp_path / f"{package}-{version}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (information / "entry_points.txt").write_text(f"[rankplug]\n{package} = {package}\n")

    def registry(**sources: str) -> Registry:
        for name, source in sources.items():
            add(name.replace("_", "-"), source)
        found = metadata.MetadataPathFinder.find_distributions(
            metadata.DistributionFinder.Context(path=[str(tmp_path)])
        )
        return Registry(point for one in found for point in one.entry_points if point.group == "rankplug")

    yield registry
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def names(registry: Registry) -> list[str]:
    return [plugin.specification.name for plugin in registry.plugins()]


BROKEN = {
    "missing import": ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
    "syntax error": ("def oops(:", "SyntaxError: invalid syntax"),
    "exit at import": ("raise SystemExit('no licence')", "SystemExit: no licence"),
    "error that is no Exception": (
        "class PanicException(BaseException):\n    pass\nraise PanicException('out of bounds')",
        "PanicException: out of bounds",
    ),
    "unknown hook": (
        "import rankplug\n@rankplug.hookimpl\ndef rankplug_loses():\n    return []",
        "TypeError: there is no hook rankplug_loses: did you mean rankplug_losses",
    ),
}
RETURNED = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "exec('raise SystemExit(3)')": "SystemExit: 3",
    "None": "TypeError: rankplug_losses must return a list of LossSpecification, not NoneType",
    "[loss(name='two words', summary='x')]": "SpecificationError: loss two words: name='two words' is not possible",
    "[loss(name='x', summary='x', parameters=Broken)]": "ZeroDivisionError: division by zero",
    "[loss(name='twice', summary='one'), loss(name='twice', summary='two')]": "loss twice is offered twice by bad-pack",
}
HOOK = """
import rankplug as rp
from pydantic import Field
loss = rp.LossSpecification
class Broken(rp.Parameters):
    sigma: float = Field(default_factory=lambda: 1 / 0)
@rp.hookimpl
def rankplug_losses():
    return {}
"""
BROKEN |= {returned: (HOOK.replace("{}", returned), reason) for returned, reason in RETURNED.items()}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_reported_and_stops_no_other(install, case):
    source, reason = BROKEN[case]
    registry = install(aaa_pack=HEALTHY.replace("hinge", "first"), bad_pack=source, zzz_pack=HEALTHY)
    assert {"first", "hinge"} <= set(names(registry))
    (broken,) = registry.broken
    assert broken.reason.startswith(reason)
    assert (broken.entry_point, broken.distribution, broken.version) == ("bad_pack", "bad-pack", "1.0")
    assert broken.describe()["reason"] == broken.reason
    assert ("Traceback" in broken.traceback) == ("twice" not in case)


def test_what_a_plugin_prints_goes_to_the_error_stream(install, capsys):
    registry = install(loud_pack="print('buy now')\n" + textwrap.dedent(HEALTHY))
    assert names(registry) == ["hinge"]
    assert capsys.readouterr() == ("", "buy now\n")


def test_a_distribution_can_be_left_out(install, monkeypatch):
    monkeypatch.setenv("RANKPLUG_WITHOUT", "other, Healthy_Pack")
    registry = install(healthy_pack=HEALTHY)
    assert names(registry) == registry.broken == []
    assert registry.remarks == ["plugin healthy_pack of healthy-pack is left out, as RANKPLUG_WITHOUT says"]


def test_code_that_cannot_be_imported_is_a_problem(install):
    lacking = HEALTHY.replace('"a hinge"', '"a hinge", implementation="not_there.code:loss"')
    registry = install(
        lacking_pack=lacking,
        fine_pack=lacking.replace("not_there.code", "math").replace("hinge", "fine").replace(":loss", ":pow"),
    )
    problems = third_party_problems(registry)
    assert problems["loss fine of fine-pack 1.0"] == ""
    assert "not_there is not installed" in problems["loss hinge of lacking-pack 1.0"]


def test_a_prefix_resolves_a_conflict_of_names(install):
    registry = install(first_pack=HEALTHY, second_pack=HEALTHY.replace("a hinge", "another hinge"))
    assert registry.broken == []
    assert registry.conflicts() == [("loss", "hinge", ["first-pack", "second-pack"])]
    with pytest.raises(PluginConflictError, match="say which, as in first-pack:hinge"):
        registry.find("loss", "hinge")
    assert registry.find("loss", "second-pack:hinge").specification.summary == "another hinge"
    plugin = registry.find("loss", "Second_Pack:hinge")
    assert (plugin.distribution, plugin.version) == ("second-pack", "1.0")
    with pytest.raises(UnknownPluginError, match="loss hinge is not offered by other, but by first-pack"):
        registry.find("loss", "other:hinge")


def test_an_unknown_name_suggests_near_ones(install):
    registry = install(first_pack=HEALTHY, bad_pack="import a_module_that_is_not_there")
    with pytest.raises(UnknownPluginError, match=r"did you mean hinge. .1 plugins failed to load"):
        registry.find("loss", "hinje")


def test_a_plugin_of_the_session_replaces_an_earlier_one():
    class Scale(Parameters):
        scale: float = 1.0

    registry = Registry(())
    registry.add(LossSpecification(name="mine", summary="first try"))
    registry.add(LossSpecification(name="mine", summary="second try", parameters=Scale))
    specification, parameters = registry.resolve("loss", "mine[scale=2]")
    assert specification.summary == "second try" and parameters == Scale(scale=2)
    assert [plugin.distribution for plugin in registry.plugins()] == ["this session"]
