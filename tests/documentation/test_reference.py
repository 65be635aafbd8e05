"""Everything a user can name is in the reference: plugins, parameters, hooks, commands, options, variables, names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from rankplug_documentation.docstrings import markdown
from rankplug_documentation.reference import reference_pages
from rankplug_documentation.reference_pages.commands import commands, targets
from rankplug_documentation.reference_pages.environment import VARIABLES
from rankplug_documentation.reference_pages.plugins import built_in
from rankplug_documentation.reference_pages.python_names import home, public_names

import rankplug
from rankplug.registry import HOOK_OF_KIND, KINDS, registry
from rankplug.system import notebooks_folder

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PLUGINS = [plugin for kind in KINDS for plugin in built_in(kind)]
COMMANDS = list(commands())


def page(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text()


def section(text: str, heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    match = re.search(rf"^#+ {re.escape(heading)}(?: \{{[^}}]*\}})?\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"nothing under {heading}; run make docs"
    return match[1]


@pytest.mark.parametrize("path", reference_pages(DOCS), ids=lambda path: path.name)
def test_the_page_in_the_tree_is_up_to_date(path: Path) -> None:
    assert path.read_text() == reference_pages(DOCS)[path], "run make docs"


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: str(plugin.specification))
def test_every_plugin_is_documented_with_every_parameter(plugin) -> None:
    specification = plugin.specification
    text = (DOCS / "losses.md").read_text() if specification.kind == "loss" else page("plugins")
    described = section(text, specification.name) if specification.kind == "loss" else text
    assert specification.name in page("plugins")
    for name, field in specification.parameters.model_fields.items():
        assert field.description, f"{specification}: {name} has no description"
        assert f"`{name}`" in described


def test_every_hook_is_documented_and_every_kind_of_plugin_has_one() -> None:
    manager = registry().manager
    hooks = [name for name in vars(manager.hook) if name.startswith("rankplug_")]
    assert set(hooks) >= set(HOOK_OF_KIND.values())
    for hook in hooks:
        assert "def " + hook in section(page("hooks"), hook)


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_is_documented_with_every_argument_and_option(name: str, command) -> None:
    described = section(page("commands"), name)
    assert command.help and command.help.strip() in described
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.name} has no help"
        assert parameter.help.replace("|", "\\|") in described
        for word in parameter.opts:
            assert not word.startswith("-") or f"`{word}`" in described


def test_every_target_of_the_makefile_is_documented() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony and set(phony[1].split()) == set(targets(ROOT / "Makefile"))
    for target in phony[1].split():
        assert f"`make {target}`" in page("commands")


def test_every_environment_variable_that_the_code_reads_is_documented() -> None:
    searched = ["rankplug", "plugins", "data_prep", "notebooks", "benchmarks", "Makefile"]
    listed = subprocess.run(["git", "ls-files", *searched], cwd=ROOT, capture_output=True, text=True, check=True)
    read = set()
    for path in listed.stdout.split():
        if "documentation" not in path:
            read |= set(re.findall(r"\bRANKPLUG_[A-Z_]+\b", (ROOT / path).read_text(errors="ignore")))
    assert read == set(VARIABLES)
    assert all(f"`{name}`" in page("environment") for name in read)


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_is_documented(name: str) -> None:
    assert (getattr(rankplug, name).__doc__ or "").strip(), f"{name} has no docstring"
    assert f"::: {home(name)}\n" in page("python")


def test_the_pages_name_nothing_that_is_not_there() -> None:
    for path in re.findall(r"^::: ([\w.]+)$", page("python"), re.MULTILINE):
        module, _, name = path.rpartition(".")
        holder = __import__(module, fromlist=[name])
        assert hasattr(holder, name) or __import__(path, fromlist=["_"])


def test_every_page_and_tutorial_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    pages += [f"tutorials/{path.stem}.md" for path in (notebooks_folder() / "tutorials").glob("*.ipynb")]
    assert [page for page in pages if not re.search(rf"(- |: ){re.escape(page)}$", navigation, re.MULTILINE)] == []


def test_doctests_in_docstrings_become_blocks_of_code() -> None:
    text = "Sum.\n\n>>> 1 + 1\n2\n>>> for i in [1]:\n...     i\n1\n\nMore."
    assert markdown(text) == ("Sum.\n\n```pycon\n>>> 1 + 1\n2\n>>> for i in [1]:\n...     i\n1\n```\n\nMore.")
