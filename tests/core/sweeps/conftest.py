"""Made results, and a package of plugins that fail in every way, installed for one test module only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rankplug.store import Combination, Result, Store, Trial
from rankplug.training import LearningCurve

PLUGIN = '''
import pathlib

import rankplug as rp

EDITS = pathlib.Path(__file__).with_name("edits")


@rp.hookimpl
def rankplug_trial_started(trial):
    """Edits the file that is named in ``edits``, once, when a second trial begins."""
    if trial.number == 1 and EDITS.exists():
        path = pathlib.Path(EDITS.read_text())
        EDITS.unlink()
        path.write_text(path.read_text().replace("2 qid", "0 qid"))


@rp.hookimpl
def rankplug_datasets():
    """One data set that behaves as its parameters say."""
    return [
        rp.DatasetSpecification(
            name="trouble", summary="made data, with trouble", implementation="trouble_data:load",
            parameters=Trouble, folds=3, fingerprint="trouble_data:fingerprint",
        )
    ]


class Trouble(rp.Parameters):
    """What happens."""

    how: str = "none"
    where: str = ""
    rows: int = 200
'''
DATA = '''
import errno
import os
import pathlib
import signal
import time

import numpy as np

import rankplug as rp

version = os.environ.get("TROUBLE_VERSION", "1")


def fingerprint(parameters):
    """What the data are now."""
    return version


def load(parameters, fold, seed):
    """Twenty queries of ten documents, once the trouble is over."""
    folder = pathlib.Path(parameters.where or ".")
    if parameters.where:
        with open(folder / "log", "a") as log:
            log.write(f"{fold} {seed} {os.getpid()}\\n")
    if parameters.how == "raise":
        raise ValueError("trouble was asked for")
    if parameters.how == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if parameters.how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if parameters.how == "die once" and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if parameters.how == "mend" and not (folder / "mended").exists():
        raise ValueError("not mended yet")
    if parameters.how == "slow":
        time.sleep(0.3)
    if parameters.how == "sleep":
        time.sleep(60)
    noise = np.random.default_rng([seed, fold])
    features = noise.random((parameters.rows, 5), np.float32)
    labels = (features[:, 0] * 3).astype(int)
    lists = rp.Lists(features, labels, np.arange(0, parameters.rows + 1, 10))
    return rp.Split(lists, lists, lists)
'''


@pytest.fixture(scope="session")
def trouble_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds an installed distribution with the data set ``trouble``."""
    folder = tmp_path_factory.mktemp("trouble")
    (folder / "trouble_plugin.py").write_text(PLUGIN)
    (folder / "trouble_data.py").write_text(DATA)
    about = folder / "trouble-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: trouble\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankplug]\ntrouble = trouble_plugin\n")
    return folder


@pytest.fixture
def trouble(trouble_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The distribution is installed, in this process and in those it starts."""
    from rankplug.registry import registry

    monkeypatch.syspath_prepend(str(trouble_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(trouble_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("RANKPLUG_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    registry.cache_clear()
    yield trouble_path
    registry.cache_clear()


QUERIES = 30


def _combination(loss: str = "mse", **parts: str) -> Combination:
    return Combination(
        **{"dataset": "synthetic", "backend": "lightgbm", "metrics": ("ndcg@5", "mrr"), "loss": loss, **parts}
    )


def _made_result(trial: Trial, shift: float = 0.0) -> Result:
    noise = np.random.default_rng([trial.fold, trial.number])
    values = {metric: np.clip(noise.random(QUERIES) + shift, 0, 1) for metric in trial.combination.metrics}
    values["mrr"][3] = np.nan
    curve = LearningCurve()
    for iteration in range(4):
        curve.add(iteration, {"train ndcg@5": 0.5 + iteration / 10, "valid ndcg@5": 0.4 + iteration / 10})
    record = {"best_iteration": 2, "fit_seconds": 1.5, "threads": 1, "test_fingerprint": f"data {trial.fold}"}
    return Result(trial, values, tuple(f"q{number}" for number in range(QUERIES)), curve, record)


def _fill(
    store: Store, losses: dict[str, float], trials: int = 3, folds: tuple[int, ...] = (1, 2), **parts: str
) -> None:
    for loss, shift in losses.items():
        for fold in folds:
            for number in range(trials):
                store.write(_made_result(Trial(_combination(loss, **parts), fold, number), shift))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in a folder that is not there yet."""
    return Store(tmp_path / "results")


@pytest.fixture(scope="session")
def combination() -> Callable[..., Combination]:
    """Makes a combination on made data, measured by two metrics."""
    return _combination


@pytest.fixture(scope="session")
def made_result() -> Callable[..., Result]:
    """Makes the result of a trial that nobody ran: noise that fold and number determine, shifted."""
    return _made_result


@pytest.fixture(scope="session")
def fill() -> Callable[..., None]:
    """Writes made results of several losses, folds and trials into a store."""
    return _fill
