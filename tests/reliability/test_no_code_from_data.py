"""Nothing that rankplug reads is ever run: not models, results, caches or settings, whatever is hidden in them."""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.sweeps import read_file
from rankplug.training._models import file_digest, sidecar_of

ROOT = Path(__file__).parents[2]
TREES = ("rankplug", "plugins", "data_prep", "benchmarks")
RUNS_CODE = {
    "eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.loads",
    "shelve.open", "joblib.load", "cloudpickle.load", "cloudpickle.loads", "dill.load", "dill.loads",
    "yaml.load", "yaml.full_load", "yaml.unsafe_load", "torch.load", "pd.read_pickle", "pandas.read_pickle",
    "os.system", "os.popen", "runpy.run_path", "importlib.import_module",
}  # fmt: skip
ALLOWED = {
    ("rankplug/compiled/lifting.py", "exec"): "runs a template of this package, into which only names of arguments go",
    ("rankplug/compiled/lifting.py", "compile"): "of the same template",
    ("rankplug/compiled/machine_code.py", "pickle.load"): "reads the version in numba's index of our own compiled code",
    ("rankplug/compiled/machine_code.py", "pickle.loads"): "reads compiled code after the digest it was kept with",
    ("rankplug/testing/loss_checks.py", "pickle.loads"): "reads what the line before has written",
    ("rankplug/losses/session_losses.py", "pickle.loads"): "reads what the asking session has sent to its worker",
    ("rankplug/registry/specifications.py", "importlib.import_module"): "imports what a plugin names as its code",
    ("plugins/rankplug_jupyter/preloading.py", "importlib.import_module"): "imports a fixed list of packages",
    ("rankplug/authoring/doctor.py", "importlib.import_module"): "imports what an installed backend requires",
}
"""Every place that may run or import code by name, and why what runs there never comes from data."""


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield name_of(node.func), node


@pytest.fixture(scope="module")
def all_calls() -> list[tuple[str, str, ast.Call]]:
    """Return path, name and node of every call in our code."""
    return [
        (path.relative_to(ROOT).as_posix(), name, call)
        for folder in TREES
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, call in calls(ast.parse(path.read_text()))
    ]


def test_only_the_places_with_a_reason_run_code_by_name(all_calls: list[tuple[str, str, ast.Call]]) -> None:
    found = {(path, name) for path, name, _ in all_calls if name in RUNS_CODE}
    assert found == {(path, name) for path, name in ALLOWED if (ROOT / path).exists()}


def test_arrays_are_never_read_with_pickle_nor_programs_started_through_a_shell(
    all_calls: list[tuple[str, str, ast.Call]],
) -> None:
    for path, name, call in all_calls:
        given = {word.arg: word.value for word in call.keywords}
        for word in ("allow_pickle", "shell"):
            value = given.get(word)
            assert value is None or (isinstance(value, ast.Constant) and value.value is False), (path, name)


def test_archives_are_never_unpacked_by_their_own_names(all_calls: list[tuple[str, str, ast.Call]]) -> None:
    for path, name, _ in all_calls:
        assert name.rpartition(".")[2] not in ("extractall", "unpack_archive"), path


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
    array, arrays, torch_file = io.BytesIO(), io.BytesIO(), io.BytesIO()
    hidden = np.array([Bomb(canary)], dtype=object)
    np.save(array, hidden, allow_pickle=True)
    np.savez(arrays, features=hidden, allow_pickle=True)
    with zipfile.ZipFile(torch_file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Bomb(canary)))
        archive.writestr("archive/version", "3")
    return {
        "pickle": pickle.dumps(Bomb(canary)),
        "npy": array.getvalue(),
        "npz": arrays.getvalue(),
        "torch": torch_file.getvalue(),
        "yaml": f"!!python/object/apply:os.system ['touch {canary}']\n".encode(),
        "json": json.dumps({"py/reduce": [{"py/type": "os.system"}, [f"touch {canary}"]]}).encode(),
    }


def test_the_poisons_work_on_careless_programs(poisons: dict[str, bytes], tmp_path: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    canary = tmp_path / "canary"
    readers: dict[str, Callable[[], object]] = {
        "pickle": lambda: pickle.loads(poisons["pickle"]),
        "npy": lambda: np.load(io.BytesIO(poisons["npy"]), allow_pickle=True),
        "yaml": lambda: yaml.unsafe_load(poisons["yaml"]),
    }
    for name, read in readers.items():
        read()
        assert canary.exists(), name
        canary.unlink()


KINDS = ("pickle", "npy", "npz", "torch", "yaml", "json")
BACKENDS = {
    "lightgbm": "trees[rounds=2,leaves=3,min_data=1]",
    "xgboost": "trees[rounds=2,leaves=3]",
    "torch[epochs=1]": "mlp[layers=(3,)]",
    "lbfgs[iterations=2]": "linear",
    "rankboost": "stumps[rounds=2]",
}


@pytest.fixture(scope="module")
def lists() -> rp.Lists:
    features = np.random.default_rng(0).random((60, 3), np.float32)
    return rp.Lists(features, np.arange(60) % 2, np.arange(0, 61, 10))


@pytest.mark.parametrize("backend", list(BACKENDS))
@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])])
def test_a_poisoned_model_is_refused(
    backend: str, kind: str, poisons: dict[str, bytes], tmp_path: Path, lists: rp.Lists
) -> None:
    saved = rp.fit(backend, scorer=BACKENDS[backend], loss="mse", train=lists, progress=False).save(tmp_path / "model")
    saved.write_bytes(poisons[kind])
    beside = sidecar_of(saved)
    sidecar = json.loads(beside.read_text())
    beside.write_text(json.dumps(sidecar | {"digest": file_digest(poisons[kind], sidecar)}))
    with pytest.raises(RankplugError, match="cannot be read by"):
        rp.load_model(saved)


@pytest.mark.parametrize("kind", KINDS)
def test_a_poisoned_record_of_a_model_is_refused(kind: str, poisons: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"x")
    sidecar_of(tmp_path / "model").write_bytes(poisons[kind])
    with pytest.raises(RankplugError, match="damaged or not of rankplug"):
        rp.load_model(tmp_path / "model")


@pytest.mark.parametrize("kind", KINDS)
def test_poisoned_results_and_failures_are_refused(kind: str, poisons: dict[str, bytes], tmp_path: Path) -> None:
    for number, name in enumerate(("x.parquet", "x.failed.json")):
        folder = tmp_path / str(number) / "x"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(poisons[kind])
        with pytest.raises(RankplugError, match="damaged"):
            rp.results(folder.parent)


@pytest.mark.parametrize("kind", KINDS)
def test_poisoned_sweep_files_and_texts_are_refused(kind: str, poisons: dict[str, bytes], tmp_path: Path) -> None:
    for name in ("sweep.yaml", "text.txt"):
        path = tmp_path / name
        path.write_bytes(poisons[kind])
        with pytest.raises(RankplugError):
            read_file(path) if name == "sweep.yaml" else rp.load({"name": "letor-file", "path": str(path)})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["manifest.json", "labels.npy", "features.npy", "query_ids.npy"])
def test_poisoned_caches_are_refused(
    name: str, kind: str, poisons: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{n % 2} qid:{n // 5} 1:{n}\n" for n in range(50)))
    rp.load({"name": "letor-file", "path": str(text)})
    prepared = next((tmp_path / "cache" / "data").glob("letor-file-*/"))
    (prepared / name).write_bytes(poisons[kind])
    if (name, kind) == ("manifest.json", "json"):
        assert rp.load({"name": "letor-file", "path": str(text)}), "a manifest of another format is written anew"
        return
    with pytest.raises(RankplugError, match="damaged"):
        rp.load({"name": "letor-file", "path": str(text)})


@pytest.mark.parametrize("kind", ["npy", "pickle"])
@pytest.mark.parametrize("name", ["features.npy", "labels.npy"])
def test_poisoned_made_data_are_refused(
    name: str, kind: str, poisons: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug_data.synthetic.collection.IN_MEMORY_BYTES", 0)
    monkeypatch.setattr("rankplug_data.synthetic.collection.cache_folder", lambda: tmp_path / "cache")
    rp.load("synthetic[queries=20,documents=5,sample=0]")
    made = next((tmp_path / "cache" / "data").glob("synthetic-*/"))
    (made / name).write_bytes(poisons[kind])
    with pytest.raises(RankplugError, match="damaged"):
        rp.load("synthetic[queries=20,documents=5,sample=0]")
