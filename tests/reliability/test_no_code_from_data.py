"""Nothing that rankplug reads is run: not models, results, caches or sweep files."""

from __future__ import annotations

import io
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.sweeps import read_file
from rankplug.training._models import file_digest, sidecar_of


class Bomb:
    """Whoever unpickles it leaves a file behind."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch '{self.canary}'",)


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """Name a file that must not exist at the end."""
    path = tmp_path / "canary"
    assert pickle.dumps(Bomb(path))
    yield path
    assert not path.exists(), "code from data was run"


@pytest.fixture
def poisons(canary: Path) -> dict[str, bytes]:
    """Make files that run code when a careless program reads them."""
    array = io.BytesIO()
    np.save(array, np.array([Bomb(canary)], dtype=object), allow_pickle=True)
    return {
        "pickle": pickle.dumps(Bomb(canary)),
        "npy": array.getvalue(),
        "yaml": f"!!python/object/apply:os.system ['touch {canary}']\n".encode(),
    }


KINDS = ("pickle", "npy", "yaml")


@pytest.mark.parametrize("kind", KINDS)
def test_poisoned_files_are_refused(kind: str, poisons: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"x")
    sidecar_of(tmp_path / "model").write_bytes(poisons[kind])
    with pytest.raises(RankplugError, match="damaged or not of rankplug"):
        rp.load_model(tmp_path / "model")
    for number, name in enumerate(("x.parquet", "x.failed.json")):
        folder = tmp_path / str(number) / "x"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(poisons[kind])
        with pytest.raises(RankplugError, match="damaged"):
            rp.results(folder.parent)
    (tmp_path / "sweep.yaml").write_bytes(poisons[kind])
    with pytest.raises(RankplugError):
        read_file(tmp_path / "sweep.yaml")
    (tmp_path / "text.txt").write_bytes(poisons[kind])
    with pytest.raises(RankplugError):
        rp.load({"name": "letor-file", "path": str(tmp_path / "text.txt")})


@pytest.mark.parametrize("backend", ["torch[epochs=1]", "lbfgs[iterations=2]"])
def test_a_poisoned_model_is_refused(backend: str, poisons: dict[str, bytes], tmp_path: Path) -> None:
    lists = rp.Lists(np.random.default_rng(0).random((60, 3), np.float32), np.arange(60) % 2, np.arange(0, 61, 10))
    saved = rp.fit(backend, scorer="linear", loss="mse", train=lists, progress=False).save(tmp_path / "model")
    saved.write_bytes(poisons["pickle"])
    beside = sidecar_of(saved)
    sidecar = json.loads(beside.read_text())
    beside.write_text(json.dumps(sidecar | {"digest": file_digest(poisons["pickle"], sidecar)}))
    with pytest.raises(RankplugError, match="cannot be read by"):
        rp.load_model(saved)
