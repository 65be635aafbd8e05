"""``rankplug new`` writes a package that works as it is, and refuses what would not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankplug.authoring._scaffold import KINDS, NewPlugin, ScaffoldError

EVERY = [(kind, "numba") for kind in KINDS] + [("loss", "torch")]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Write a package of each kind and flavour, by folder."""
    into = tmp_path_factory.mktemp("packages")
    return {(kind, flavour): NewPlugin(kind, f"new_{kind}_{flavour}", flavour).write(into) for kind, flavour in EVERY}


@pytest.mark.slow
def test_new_packages_have_sound_types(packages):
    for folder in packages.values():
        done = subprocess.run(
            [BIN / "mypy", "--cache-dir", folder.parent / "cache", "."], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("los", "mine", "there is no template for a los: did you mean loss?"),
        ("loss", "Mine", "'Mine' cannot name a new plugin: take small letters, digits and _"),
        ("loss", "lambda", "'lambda' cannot name a new plugin"),
        ("loss", "../mine", "'../mine' cannot name a new plugin"),
        ("loss", "lambdarank", "loss lambdarank is offered by rankplug already; take another"),
        ("loss", "torch", "a package rankplug_torch is installed already; take another name than torch"),
        ("loss", "scores", "the template itself uses the word scores; take another name than scores"),
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
