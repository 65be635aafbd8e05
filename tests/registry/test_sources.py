"""Digests of code: an edit, or the same version with other code, gives results another name."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.errors import NotRunError
from rankplug.registry import Registry, code_digest, registry, source_digest, sources

PLUGIN = """
import rankplug as rp

@rp.hookimpl
def rankplug_datasets():
    return [rp.DatasetSpecification(name="bench-data", summary="a", implementation="workbench.data:load")]
"""
DATA = """
import numpy as np
import rankplug as rp
from bench_helper.scales import SCALE

def load(parameters, fold, seed):
    features = np.random.default_rng(seed).random((40, 3), np.float32) * SCALE
    lists = rp.Lists(features, (features[:, 0] * 3).astype(int), np.arange(0, 41, 8))
    return rp.Split(lists, lists, lists)
"""
FILES = {
    "workbench/__init__.py": "",
    "workbench/plugin.py": PLUGIN,
    "workbench/data.py": DATA,
    "workbench/figures.py": "from . import data",
    "bench_helper/__init__.py": "",
    "bench_helper/scales.py": "SCALE = 1\n",
    "bench_unrelated/__init__.py": "",
}
PARTS = {"dataset": "bench-data", "backend": "lightgbm", "loss": "mse"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write a plugin's packages and metadata; two distributions, both editable."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("workbench", "bench-helper"):
        about = tmp_path / "site" / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "direct_url.json").write_text(json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}}))
    (tmp_path / "site/workbench-1.0.dist-info/entry_points.txt").write_text("[rankplug]\nworkbench=workbench.plugin\n")
    folders = [str(tmp_path), str(tmp_path / "site")]
    for folder in folders:
        monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Forget what this process imported and digested, as if it were a new one."""
    registry.cache_clear()
    sources.editable_roots.cache_clear()
    sources._is_editable.cache_clear()
    sources._recorded_digest.cache_clear()
    sources._first_states.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("workbench", "bench_helper")]:
        del sys.modules[name]


def digest() -> str:
    forget()
    plugin = Registry().find("dataset", "bench-data")
    return source_digest(plugin.specification, plugin.distribution)


def record(root: Path) -> None:
    """Turn the distribution into one that an installer copied: RECORD lists its files with their digests."""
    about = root / "site/workbench-1.0.dist-info"
    (about / "direct_url.json").unlink(missing_ok=True)
    lines = ["workbench-1.0.dist-info/RECORD,,", "../../bin/bench,sha256=local,1", "workbench/x.pyc,,"]
    for name in FILES:
        if name.startswith("workbench"):
            hashed = base64.urlsafe_b64encode(hashlib.sha256((root / name).read_bytes()).digest()).decode().rstrip("=")
            lines.append(f"{name},sha256={hashed},{(root / name).stat().st_size}")
    (about / "RECORD").write_text("\n".join(lines) + "\n")


USED = ("workbench/__init__.py", "workbench/data.py", "bench_helper/__init__.py", "bench_helper/scales.py")


@pytest.mark.parametrize("name", USED)
def test_an_edit_of_an_imported_module_changes_it(root: Path, name: str) -> None:
    before = digest()
    assert before and before == digest()
    for unrelated in ("bench_unrelated/__init__.py", "workbench/figures.py"):
        (root / unrelated).write_text("y = 2\n")
    assert digest() == before
    (root / name).write_text((root / name).read_text() + "\n")
    assert digest() != before


def test_a_change_of_what_is_declared_changes_it(root: Path) -> None:
    before = digest()
    (root / "workbench/plugin.py").write_text(PLUGIN.replace('summary="a"', 'summary="a", folds=2'))
    assert digest() != before


def test_another_build_of_one_version_changes_it(root: Path) -> None:
    record(root)
    before, identity = digest(), rp.Combination(**PARTS).identity
    listed = root / "site/workbench-1.0.dist-info/RECORD"
    listed.write_text(listed.read_text().replace("../../bin/bench,sha256=local", "../../../Scripts/bench,sha256=other"))
    assert digest() == before, "another machine"
    (root / "workbench/data.py").write_text(DATA.replace("[:, 0]", "[:, 1]"))
    record(root)
    forget()
    assert before and digest() not in ("", before)
    assert rp.Combination(**PARTS).identity != identity


def test_code_digest_covers_one_package(root: Path) -> None:
    before = code_digest("bench_unrelated")
    assert before != code_digest("bench_helper") != code_digest("no_such_package") == code_digest()
    (root / "bench_unrelated/more.so").write_bytes(b"\x7f")
    assert code_digest("bench_unrelated") != before


def test_an_edit_after_the_import_gives_no_result(root: Path) -> None:
    forget()
    assert rp.Combination(**PARTS).identity
    rp.load("bench-data")
    (root / "bench_helper/scales.py").write_text("SCALE = 22\n")
    with pytest.raises(NotRunError, match=r"scales.py was edited after it was imported"):
        rp.Combination(**PARTS).identity  # noqa: B018


def test_own_plugins_of_a_checkout_have_a_digest_of_their_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specification = rp.LossSpecification(name="own", summary="a", implementation="bench_helper.scales:SCALE")
    monkeypatch.setattr(sources, "_own_editable_packages", lambda: frozenset())
    assert source_digest(specification, "rankplug") == ""
    monkeypatch.setattr(sources, "_own_editable_packages", lambda: frozenset({"bench_helper"}))
    forget()
    before = source_digest(specification, "rankplug")
    (root / "bench_helper" / "scales.py").write_text("SCALE = 12\n")
    forget()
    assert "" != before != source_digest(specification, "rankplug")
