"""Equal seeds give equal results, to the last bit: on any number of threads, by any number of jobs, in this process, in
notebooks or on a cluster, today and in a process started later.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rankplug as rp
from rankplug.system import use_threads

DATA = "synthetic[queries=30,documents=12]"
GRIDS: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "scorer": "trees[rounds=4,leaves=4,min_data=2,feature_fraction=0.5]",
        "loss": "xe_ndcg[gamma=per_iteration]",
        "sampler": "gumbel[samples=2]",
    },
    "xgboost": {"scorer": "trees[rounds=4,leaves=4]", "loss": "lambdarank", "sampler": "gumbel[samples=2]"},
    "torch[epochs=2,batch=8]": {"scorer": "mlp[layers=(8,),dropout=0.3]", "loss": "approx_ndcg", "sampler": ""},
    "lbfgs[iterations=4]": {"scorer": "linear", "loss": "cross_entropy", "sampler": ""},
    "rankboost": {"scorer": "stumps[rounds=4]", "loss": "rankboost", "sampler": ""},
}
WAYS: dict[str, dict[str, Any]] = {
    "two jobs": {"jobs": 2},
    "notebooks": {"notebooks": True, "jobs": 2},
    "dask": {"cluster": "local", "jobs": 2},
    "notebooks on dask": {"cluster": "local", "jobs": 2, "notebooks": True},
}
FAST = ("lightgbm",)
BACKENDS = [FAST, pytest.param(tuple(GRIDS), marks=pytest.mark.slow)]
NEW_PROCESS = """
import json, sys
import rankplug as rp
grid, folder = json.loads(sys.argv[1]), sys.argv[2]
print(len(rp.sweep(grid, store=folder, trials=2, progress=False).store.paths()))
"""


def grids_of(backends: tuple[str, ...]) -> list[dict[str, Any]]:
    shared = {"dataset": DATA, "metrics": ["ndcg@5", "mrr"], "seed": 7}
    return [shared | {"backend": backend} | GRIDS[backend] for backend in backends]


def numbers(store: rp.Store) -> pd.DataFrame:
    """Return all values that were measured, exactly as they are stored."""
    frame = store.frame()[["backend", "trial", "measure", "part", "metric", "iteration", "query", "value"]]
    assert len(frame) > 30
    return frame.sort_values(list(frame.columns[:-1]), kind="stable", ignore_index=True)


def swept(backends: tuple[str, ...], folder: Path, **way: Any) -> pd.DataFrame:
    outcome = rp.sweep(grids_of(backends), store=folder, trials=2, progress=False, **way)
    assert not outcome.failures
    return numbers(outcome.store)


@pytest.fixture(autouse=True)
def one_thread_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each job one thread, as torch promises equal bits for equal numbers of threads only."""
    monkeypatch.setenv("RANKPLUG_THREADS", "1")
    monkeypatch.setattr("rankplug.sweeps._running.available_cores", lambda: 1)


@pytest.mark.parametrize(
    ("backends", "way"),
    [
        (FAST, "two jobs"),
        (FAST, "notebooks"),
        *(pytest.param(tuple(GRIDS), way, marks=pytest.mark.slow) for way in WAYS),
    ],
)
def test_wherever_trials_run_their_numbers_are_the_same(backends: tuple[str, ...], way: str, tmp_path: Path) -> None:
    pd.testing.assert_frame_equal(
        swept(backends, tmp_path / "here"), swept(backends, tmp_path / "there", **WAYS[way]), check_exact=True
    )


@pytest.mark.parametrize("backends", BACKENDS)
def test_any_number_of_threads_gives_the_same_numbers(
    backends: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug.system.thread_limits.MILLISECONDS_A_THREAD", 1e-6)
    backends = tuple(backend for backend in backends if not backend.startswith("torch"))
    frames = []
    for number in (1, 2, 5):
        monkeypatch.setenv("RANKPLUG_THREADS", str(number))
        with use_threads(number):
            frames.append(swept(backends, tmp_path / str(number)))
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["lbfgs[iterations=6]", "cutting_planes[planes=6]"])
def test_linear_models_do_not_depend_on_how_jobs_share_the_cores(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data are so large that one job computes on several threads."""
    monkeypatch.delenv("RANKPLUG_THREADS")
    monkeypatch.setattr("rankplug.sweeps._running.available_cores", lambda: 2)
    monkeypatch.setattr("rankplug.system.thread_limits.available_cores", lambda: 2)
    data, losses = "synthetic[queries=700]", ["listnet", "ranknet"]
    grid = {"dataset": data, "backend": backend, "loss": losses, "metrics": "ndcg@5"}
    frames = [numbers(rp.sweep(grid, store=tmp_path / str(jobs), jobs=jobs, progress=False).store) for jobs in (1, 2)]
    pd.testing.assert_frame_equal(frames[0], frames[1], check_exact=True)


@pytest.mark.parametrize("backends", BACKENDS)
def test_a_process_started_later_gives_the_same_numbers(backends: tuple[str, ...], tmp_path: Path) -> None:
    """Also with another order of sets and dictionaries of texts, which Python draws for each process."""
    grids = grids_of(backends)
    here = rp.sweep(grids, store=tmp_path / "here", trials=2, progress=False).store
    environment = os.environ | {"RANKPLUG_THREADS": "1", "PYTHONHASHSEED": "1"}
    words = [sys.executable, "-c", NEW_PROCESS, json.dumps(grids), str(tmp_path / "later")]
    subprocess.run(words, check=True, env=environment, timeout=280, capture_output=True)
    later = rp.Store(tmp_path / "later")
    assert [path.relative_to(later.folder) for path in later.paths()] == [
        path.relative_to(here.folder) for path in here.paths()
    ]
    pd.testing.assert_frame_equal(
        here.frame().drop(columns="fit_seconds"), later.frame().drop(columns="fit_seconds"), check_exact=True
    )


@pytest.mark.parametrize("backend", GRIDS)
def test_equal_seeds_give_equal_model_files_and_other_seeds_others(backend: str, tmp_path: Path) -> None:
    train, valid, _ = rp.load(DATA, seed=1)
    parts = {name: value or None for name, value in GRIDS[backend].items()}

    def digest(seed: int, number: int) -> str:
        model = rp.fit(backend, train=train, valid=valid, seed=seed, progress=False, **parts)
        return hashlib.sha256(model.save(tmp_path / f"model-{number}").read_bytes()).hexdigest()

    first, again, other = digest(3, 0), digest(3, 1), digest(4, 2)
    assert first == again
    # Neither L-BFGS on a linear scorer nor RankBoost draws anything for these losses.
    assert (first != other) == (backend not in ("lbfgs[iterations=4]", "rankboost"))
