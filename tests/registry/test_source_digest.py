"""Results of a package that is being worked on are named by its source; all others by versions alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.errors import NotRunError
from rankplug.registry import editable as digests
from rankplug.registry.editable import source_digest
from rankplug.registry.plugins import Registry, registry

KINDS = ("loss", "sampler", "scorer", "backend", "dataset", "transform", "metric")
PLUGIN = """
import rankplug as rp
from workbench.declared import {models}


@rp.hookimpl
def rankplug_losses():
    return [rp.LossSpecification(name="bench-loss", summary="a", implementation="workbench.loss:made", parameters=Loss)]

@rp.hookimpl
def rankplug_samplers():
    return [rp.SamplerSpecification(name="bench-sampler", summary="a", implementation="workbench.sampler:made")]

@rp.hookimpl
def rankplug_scorers():
    return [rp.ScorerSpecification(name="bench-scorer", summary="a", fitted_by={{"lightgbm": "workbench.scorer:made"}})]

@rp.hookimpl
def rankplug_backends():
    return [rp.BackendSpecification(name="bench-backend", summary="a", implementation="workbench.backend:made")]

@rp.hookimpl
def rankplug_datasets():
    return [rp.DatasetSpecification(name="bench-dataset", summary="a", implementation="workbench.dataset:made")]

@rp.hookimpl
def rankplug_transforms():
    return [rp.TransformSpecification(name="bench-transform", summary="a", implementation="workbench.transform:made")]

@rp.hookimpl
def rankplug_metrics():
    return [rp.MetricSpecification(name="bench-metric", summary="a", implementation="workbench.metric:made")]
"""
DATASET = """
import numpy as np
import rankplug as rp
from .helper import SCALE

def made(parameters, fold, seed):
    features = np.random.default_rng(seed).random((40, 3), np.float32) * SCALE
    lists = rp.Lists(features, (features[:, 0] * 3).astype(int), np.arange(0, 41, 8))
    return rp.Split(lists, lists, lists)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the sources of a package with a plugin of each kind, installed as ``pip install -e`` does."""
    root, site = tmp_path / "project", tmp_path / "site"
    package, about = root / "workbench", site / "workbench-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text(PLUGIN.format(models="Loss"))
    (package / "declared.py").write_text(
        "import rankplug as rp\n\nclass Loss(rp.Parameters):\n    width: float = 1.0\n"
    )
    (package / "helper.py").write_text("SCALE = 1\n")
    (package / "unrelated.py").write_text("x = 1\n")
    for kind in KINDS:
        (package / f"{kind}.py").write_text("from workbench import helper\n\ndef made():\n    return helper.SCALE\n")
    (package / "dataset.py").write_text(DATASET)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: workbench\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankplug]\nworkbench = workbench.plugin\n")
    (about / "direct_url.json").write_text(json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}}))
    for path in (root, site):
        monkeypatch.syspath_prepend(str(path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(site), os.environ.get("PYTHONPATH", "")]))
    forget()
    yield package
    forget()


def forget() -> None:
    """Forget everything, as if this were a new process: nothing imported, nothing seen."""
    registry.cache_clear()
    digests.editable_roots.cache_clear()
    digests._first_seen.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "workbench"]:
        del sys.modules[name]


def digest(kind: str) -> str:
    forget()
    plugin = Registry().find(kind, f"bench-{kind}")
    return source_digest(plugin.specification, plugin.distribution)


@pytest.mark.parametrize(
    "kind", [kind if kind == "loss" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_the_digest_changes_with_what_the_plugin_uses_and_with_nothing_else(package: Path, kind: str) -> None:
    before = digest(kind)
    assert before
    with (package / "unrelated.py").open("a") as file:
        file.write("y = 2\n")
    assert digest(kind) == before
    seen = {before}
    for name in ("helper.py", f"{kind}.py", "__init__.py"):
        with (package / name).open("a") as file:
            file.write("\nz = 3\n")
        seen.add(digest(kind))
    assert len(seen) == 4


def test_what_a_loss_says_of_itself_and_of_its_parameters_counts(package: Path) -> None:
    before = digest("loss")
    declared = package / "declared.py"
    declared.write_text(declared.read_text().replace("= 1", "= 2"))
    after = digest("loss")
    plugin = package / "plugin.py"
    plugin.write_text(plugin.read_text().replace("parameters=Loss", 'parameters=Loss, curvature="surrogate"'))
    assert len({before, after, digest("loss")}) == 3


def test_only_editable_packages_of_others_have_a_digest(package: Path) -> None:
    assert digest("loss")
    own = [plugin for plugin in Registry().plugins() if plugin.distribution == "rankplug"]
    assert own and not any(source_digest(plugin.specification, plugin.distribution) for plugin in own)
    (package.parents[1] / "site" / "workbench-1.0.dist-info" / "direct_url.json").unlink()
    assert digest("loss") == ""


def test_a_file_that_was_edited_after_it_was_imported_gives_no_result(package: Path) -> None:
    forget()
    parts = {"dataset": "bench-dataset", "backend": "lightgbm", "loss": "mse"}
    assert rp.Combination(**parts).identity
    rp.load("bench-dataset")
    with (package / "helper.py").open("a") as file:
        file.write("SCALE = 2\n")
    with pytest.raises(NotRunError, match=r"helper.py, which dataset bench-dataset of workbench uses, was edited"):
        rp.Combination(**parts).identity  # noqa: B018


@pytest.mark.slow
def test_a_sweep_runs_again_what_an_edit_concerns(package: Path, tmp_path: Path) -> None:
    words = ["dataset=bench-dataset", "backend=lightgbm", "scorer=trees[rounds=2,min_data=1]", "loss=mse"]
    program = [sys.executable, "-c", "from rankplug.cli import main; main()", "sweep", *words]

    def plan(*more: str) -> str:
        done = subprocess.run(
            [*program, "--store", str(tmp_path / "store"), *more], capture_output=True, text=True, check=True
        )
        return done.stdout.partition(",")[0]

    assert plan() == "1 to run"
    assert plan("--dry-run") == "0 to run"
    (package / "helper.py").write_text("SCALE = 2\n")
    assert plan("--dry-run") == "1 to run"
