"""``rankplug new`` writes a package that works as it is, and refuses what would not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rankplug.authoring._scaffold import KINDS, NewPlugin, ScaffoldError
from rankplug.registry import parse
from rankplug.sweeps import read_words

EVERY = [(kind, "numba") for kind in KINDS] + [("loss", "torch")]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Write a package of each kind and flavour, by folder."""
    into = tmp_path_factory.mktemp("packages")
    return {(kind, flavour): NewPlugin(kind, f"new_{kind}_{flavour}", flavour).write(into) for kind, flavour in EVERY}


@pytest.mark.parametrize("which", EVERY, ids="-".join)
def test_a_new_package_names_its_module_and_has_a_test_and_a_readme(packages, which):
    folder = packages[which]
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    (name, target), *others = project["project"]["entry-points"]["rankplug"].items()
    assert name == folder.name and not others
    assert (folder / Path(*target.split("."))).with_suffix(".py").is_file()
    assert f'= "{folder.name}"' in (folder / "tests" / "test_contract.py").read_text()
    assert f"rankplug check {folder.name}" in (folder / "README.md").read_text()
    assert not [path for path in folder.rglob("*") if path.is_file() and "$" in path.read_text()]


@pytest.mark.slow
def test_new_packages_have_sound_types(packages):
    for folder in packages.values():
        done = subprocess.run(
            [BIN / "mypy", "--cache-dir", folder.parent / "cache", "."], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("which", EVERY, ids="-".join)
def test_the_sweep_a_new_package_suggests_is_a_grid(which):
    import shlex

    plugin = NewPlugin(which[0], "suggested", which[1])
    words = shlex.split(plugin.facts["sweep"])
    if which[0] == "study":
        assert plugin.facts["run"] == "rankplug reproduce suggested --profile smoke"
        return
    (grid,) = read_words(words).grids
    assert {"loss", "backend", "dataset"} <= set(grid)
    assert "suggested" in plugin.facts["sweep"]
    assert parse("suggested").name == plugin.name


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("los", "mine", "there is no template for a los: did you mean loss?"),
        (
            "figure",
            "mine",
            "there is no template for a figure: known: backend, dataset, loss, metric, sampler, scorer, study,",
        ),
        ("loss", "Mine", "'Mine' cannot name a new plugin: take small letters, digits and _"),
        ("loss", "two words", "'two words' cannot name a new plugin"),
        ("loss", "lambda", "'lambda' cannot name a new plugin"),
        ("loss", "_mine", "'_mine' cannot name a new plugin"),
        ("loss", "../mine", "'../mine' cannot name a new plugin"),
        pytest.param(
            *("loss", "lambdarank", "loss lambdarank is offered by rankplug already; take another"),
        ),
        pytest.param(
            *("backend", "torch", "backend torch is offered by rankplug already; take another"),
        ),
        pytest.param(
            *("loss", "torch", "a package rankplug_torch is installed already; take another name than torch"),
        ),
        ("loss", "scores", "the template itself uses the word scores; take another name than scores"),
        ("dataset", "lists", "the template itself uses the word"),
    ],
)
def test_a_name_that_would_not_work_is_refused(tmp_path, kind, name, sentence):
    with pytest.raises(ScaffoldError) as caught:
        NewPlugin(kind, name).write(tmp_path)
    assert str(caught.value).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_as_it_is(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ScaffoldError, match="mine exists already; remove it, or say with --into where else"):
        NewPlugin("loss", "mine").write(tmp_path)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
