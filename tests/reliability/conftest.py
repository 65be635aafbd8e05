"""A folder of good and bad files, and what rankplug answers when it is given something in it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tarfile
import types
import warnings
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from rankplug_data.text import letor

import rankplug as rp
from rankplug.cli import main
from rankplug.errors import RankplugError
from rankplug.registry import Registry, registry
from rankplug.report import check_parameters
from rankplug.studies import papers as studies
from rankplug.sweeps import read_file

# Programs of their own, which set variables of the environment for the whole process that imports them.
collect_ignore = ["campaign", "fuzzed_batch.py", "fuzz_with_atheris.py"]

TINY = "synthetic[queries=20,documents=5]"
TREES = "trees[rounds=2,leaves=3,min_data=1]"
GOOD_LINES = "".join(f"{n % 3} qid:{n // 5} 1:{n / 7:.3f} 2:{n % 4}\n" for n in range(50))
TEXTS = {
    "good.txt": GOOD_LINES,
    "bad.txt": GOOD_LINES + "1 qid:x 1:0.5\n",
    "empty.txt": "",
    "comments.txt": "# nothing else\n",
    "scattered.txt": GOOD_LINES + "1 qid:0 1:0.5\n",
    "no-label.txt": "qid:1 1:0.5\n",
    "negative.txt": "-1 qid:1 1:0.5\n",
    "no-query.txt": "1 1:0.5\n",
    "twice.txt": "1 qid:1 1:0.5 1:0.6\n",
    "zero.txt": "1 qid:1 0:0.5\n",
    "huge.txt": "1 qid:1 4000000000:0.5\n",
    "sweep.yaml": "dataset: synthetic\nbackend: lightgbm\nloss: mse\nprofiles:\n  smoke: {trials: 1}\n",
    "bad-syntax.yaml": "dataset: synthetic\nloss: [mse\n",
    "bad-part.yaml": "dataset: synthetic\nbackend: lightgbm\nlos: mse\n",
    "bad-grids.yaml": "dataset: synthetic\nbackend: lightgbm\ngrids: mse\n",
    "bad-profiles.yaml": "dataset: synthetic\nbackend: lightgbm\nloss: mse\nprofiles: smoke\n",
    "bad-value.yaml": "dataset: synthetic\nbackend: lightgbm\nloss: mse\ntrials: many\n",
    "bad-folds.yaml": "dataset: synthetic\nbackend: lightgbm\nloss: mse\nfolds: [1.5]\n",
    "bad-plugin.yaml": "dataset: synthetic\nbackend: lightgbm\nloss: {eta: 10}\n",
    "a-list.yaml": "- mse\n",
    "empty.yaml": "",
    "object.yaml": "dataset: !!python/object/apply:os.system ['touch canary']\n",
}


DAMAGED = (
    ("damaged-manifest.txt", "manifest.json", b"{"),
    ("changed-manifest.txt", "manifest.json", b'{"format": 1, "name": "x"}'),
    ("damaged-array.txt", "labels.npy", b"no array"),
    ("cut-array.txt", "labels.npy", b""),
)
"""Texts whose prepared data are damaged: the file, and what it holds instead; without anything, its end is missing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Fill a folder, which is the working folder of the module's tests."""
    here = tmp_path_factory.mktemp("inputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("RANKPLUG_DATA", "")
        patch.setenv("RANKPLUG_RESULTS", str(here / "results"))
        patch.setenv("COLUMNS", "200")
        for module in ("rankplug_data.public.sources", "rankplug_data.mslr_sample"):
            patch.setattr(f"{module}.cache_folder", lambda: here / "cache")
        patch.setattr("rankplug.sweeps.on_cluster.CONNECT_SECONDS", 0.5)
        _fill(here)
        yield here


def _fill(here: Path) -> None:
    for name, text in TEXTS.items():
        (here / name).write_text(text)
    (here / "latin.yaml").write_bytes("dataset: synthétic\n".encode("latin-1"))
    train, valid, _ = rp.load(TINY)
    model = rp.fit("lightgbm", scorer=TREES, loss="mse", train=train, valid=valid, progress=False)
    model.record.data.update({"dataset": TINY})
    for name in ("model.txt", "cut-model.txt", "foreign-model.txt", "empty-record.txt", "other-format.txt"):
        model.save(here / name)
    (here / "cut-model.txt").write_bytes((here / "model.txt").read_bytes()[:300])
    (here / "foreign-model.txt.rankplug.json").unlink()
    (here / "empty-record.txt.rankplug.json").write_text("{}")
    beside = here / "other-format.txt.rankplug.json"
    beside.write_text(beside.read_text().replace("rankplug model 1", "rankplug model 9"))
    grid = {"loss": ["mse", "ranknet"], "backend": "lightgbm", "scorer": TREES, "metrics": "ndcg@5"}
    for name in ("store", "cut-store", "old-store"):
        rp.sweep(grid, data=TINY, store=rp.Store(here / name), trials=2, progress=False)
    cut = rp.Store(here / "cut-store").paths()[0]
    cut.write_bytes(cut.read_bytes()[:-20])
    (here / "foreign-store" / "a").mkdir(parents=True)
    pd.DataFrame({"value": [1.0]}).to_parquet(here / "foreign-store" / "a" / "b.parquet")
    (here / "failed-store" / "a").mkdir(parents=True)
    (here / "failed-store" / "a" / "b.failed.json").write_text("{")
    record = rp.Store(here / "old-store").paths()[0]
    table = parquet.read_table(record)
    parquet.write_table(table.replace_schema_metadata({b"rankplug": b'{"format": 1}'}), record)
    for name, file, content in DAMAGED:
        (here / name).write_text(GOOD_LINES)
        rp.load({"name": "letor-file", "path": name})
        prepared = max((here / "cache" / "data").glob("letor-file-*/"), key=lambda path: path.stat().st_mtime_ns)
        (prepared / file).write_bytes(content or (prepared / file).read_bytes()[:-7])
    with zipfile.ZipFile(here / "whole.zip", "w") as archive:
        archive.writestr("Fold1/train.txt", GOOD_LINES)
    for name, place, value in (("encrypted.zip", 6, 1), ("unknown.zip", 8, 97)):
        content = bytearray((here / "whole.zip").read_bytes())
        content[content.index(b"PK\x03\x04") + place] = content[content.index(b"PK\x01\x02") + place + 2] = value
        (here / name).write_bytes(content)
    with tarfile.open(here / "nested.tar", "w") as tar:
        tar.add(here / "whole.zip", "whole.zip")
    (here / "cut.zip").write_bytes((here / "whole.zip").read_bytes()[:200])
    with tarfile.open(here / "cut.tar", "w") as tar:
        tar.add(here / "good.txt", "Fold1/train.txt")
    (here / "cut.tar").write_bytes((here / "cut.tar").read_bytes()[: 512 * 4])
    info = tarfile.TarInfo("Fold1/train.txt")
    info.size = 1 << 60
    (here / "claiming.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(1536))
    for name in ("train.txt", "trainingset.txt"):
        (here / "twice" / "Fold1").mkdir(parents=True, exist_ok=True)
        (here / "twice" / "Fold1" / name).write_text(GOOD_LINES)
    os.mkfifo(here / "pipe.txt")
    (here / "packed.rar").write_bytes(b"Rar!\x1a\x07\x00" + b"\0" * 600)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a Dask cluster inside this process, and yield its client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def answer(folder: Path, cluster: Any) -> Callable[[str, str], str]:
    """Return a function that tells what a user sees: the error's sentence, or everything that was printed."""
    names = {**_names(), "cluster": cluster}

    def ask(section: str, given: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if section == "shell":
                said = _ask_shell(given)
            elif section == "environment":
                said = _ask_with_variable(given)
            else:
                said = _ask_python(given, names)
        return " ".join(said.replace(str(folder), "FOLDER").split())

    return ask


def _names() -> dict[str, Any]:
    import lightgbm
    import torch
    import xgboost

    train, valid, test = rp.load(TINY)
    noise = np.random.default_rng(0)
    X, y, qid = noise.random((60, 3), np.float32), np.arange(60) % 3, np.arange(60) // 5
    whole = rp.Lists(X, y, np.arange(0, 61, 5))
    holes = X.copy()
    holes[3, 1] = np.nan
    once = rp.Clicks.from_log(np.arange(60), np.arange(60) % 3 + 1, np.arange(60) % 2)
    return {
        "np": np, "pd": pd, "rp": rp, "torch": torch, "lgb": lightgbm, "xgb": xgboost, "Path": Path,
        "train": train, "valid": valid, "test": test, "X": X, "y": y, "qid": qid,
        "narrow": rp.Lists(X[:, :2], y, whole.starts), "holes": rp.Lists(holes, y, whole.starts),
        "clicked": rp.Lists(X, y, whole.starts, clicks=once),
        "model": rp.load_model("model.txt"), "tiny": TINY, "trees": TREES,
        "use": lambda context: context.__enter__(), "check": _check, "check_study": _check_study,
        "add": registry().add, "loaded": _loaded,
        "letor": letor, "read_file": read_file, "one_list": one_list,
    }  # fmt: skip


def _package_of(error: Exception) -> str:
    """Return the package whose code raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def one_list(scores, labels, gradient, curvature):  # type: ignore[no-untyped-def]
    """Compute a loss of one list that is always 0."""
    return 0.0


def _check(**parameters: Any) -> None:
    check_parameters(parameters)


def _check_study(**parameters: Any) -> None:
    studies.check_parameters(parameters)


class ReportedError(RankplugError):
    """Message of ``rankplug plugins`` about a plugin that it leaves out."""


def _loaded(module: str = "", **hooks: Callable[[], Any]) -> None:
    """Install a plugin of the hooks given, and raise what is reported of it."""
    name = module or "mine_plugin"
    made: Any = types.ModuleType(name)
    for hook, function in hooks.items():
        setattr(made, hook, rp.hookimpl(types.FunctionType(function.__code__, {"rp": rp}, hook)))
    with mock.patch.dict(sys.modules, {} if module else {name: made}):
        found = Registry([metadata.EntryPoint("mine", name, "rankplug")])
    raise ReportedError("; ".join(broken.reason for broken in found.broken))


def _ask_python(given: str, names: dict[str, Any]) -> str:
    """Return the error a piece of code ends in; the errors of others are marked, as they need a reason in the table."""
    try:
        exec(given, {**names})
    except RankplugError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__} of {_package_of(error)}: {error}"
    return "no error"


def _ask_with_variable(given: str) -> str:
    """Return what a command says that finds a variable of the environment set."""
    variable, _, command = given.partition(" ")
    name, _, value = variable.partition("=")
    with mock.patch.dict(os.environ, {name: value}):
        return _ask_shell(command)


def _ask_shell(given: str) -> str:
    printed, complained = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", shlex.split(given)),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complained),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        else:
            code = 0
    if code in (0, None):
        return f"no error: {printed.getvalue()}"
    said = re.sub("[╭╮╰╯│─]", " ", complained.getvalue() or printed.getvalue())
    return re.sub(r"^.*?Usage: .*?\sError(?:  |: )", "", said, flags=re.DOTALL)
