"""Prediction at the sizes of serving, one thread: compiled trees beside LightGBM's own call and onnxruntime.

With ``--peers`` lleaves and treelite take part, in processes of their own, on the same trees and documents. Each call
is timed by itself; what counts is the median, and the worst of a hundred.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_least, once
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.peers import PEERS, Peer, PeerError, PeerProcess, install

DOCUMENTS = (1, 10, 100, 1000)
TREES = 100
CALLS = 300


def contestants(model: Any, folder: Path) -> dict[str, Callable[[np.ndarray], Any]]:
    """Return each way to predict that is installed."""
    booster, compiled = model.booster, model.compile()
    found: dict[str, Callable[[np.ndarray], Any]] = {
        "Booster.predict": lambda rows: booster.predict(rows, raw_score=True, num_threads=1),
        "model.predict": model.predict,
        "model.compile()": compiled.predict,
    }
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model.export(folder / "model.onnx")), options)
        found["onnxruntime"] = lambda rows: session.run(None, {"features": rows})
    return found


def microseconds(predict: Callable[[np.ndarray], Any], rows: np.ndarray, calls: int) -> np.ndarray:
    """Return how long each of some calls takes."""
    predict(rows)
    taken = np.empty(calls)
    for call in range(calls):
        begin = time.perf_counter()
        predict(rows)
        taken[call] = time.perf_counter() - begin
    return taken * 1e6


def microseconds_of(peer: Peer, way: str, model: Any, rows: np.ndarray, calls: int) -> np.ndarray:
    """Return how long each of some calls of a peer takes."""
    with PeerProcess(peer, install(peer), way, 1, rows=rows, model=np.array(model.text)) as process:
        return np.array([process.contestant() for _ in range(calls)]) * 1e6


def measure_peers(model: Any, rows: np.ndarray, what: str, calls: int) -> Iterator[Measurement | Table]:
    """Measure the ways of other libraries, and name those that cannot be run here."""
    failed = []
    for peer, way in ((one, way) for one in PEERS for way in one.predictions):
        try:
            taken = microseconds_of(peer, way, model, rows, calls)
        except PeerError as error:
            failed.append((peer.title, way, str(error)))
            continue
        name = f"{what}: {peer.name}, {way}"
        yield once(f"{name}, p50", float(np.median(taken)), threads=1, unit="µs", note=peer.title)
        yield once(f"{name}, p99", float(np.percentile(taken, 99)), threads=1, unit="µs", note=peer.title)
    if failed:
        yield Table(f"{what}: not run", ("peer", "way", "why"), tuple(failed))


def measure(effort: Effort) -> Iterator[Measurement | Table]:
    """Measure all ways on one thread."""
    split = rp.load("synthetic[queries=300]")
    scorer = f"trees[rounds={TREES},leaves=31,feature_fraction=1]"
    model = rp.fit("lightgbm", scorer=scorer, loss="lambdarank", train=split.train, train_curve=False)
    repeated = np.tile(split.test.features, (3, 1))
    with tempfile.TemporaryDirectory() as folder, use_threads(1):
        ways = contestants(model, Path(folder))
        for documents in DOCUMENTS:
            rows = np.ascontiguousarray(repeated[:documents])
            what = f"{documents:,} documents, {TREES} trees"
            medians = {}
            for name, predict in ways.items():
                taken = microseconds(predict, rows, effort.size(CALLS, 20))
                medians[name] = float(np.median(taken))
                yield once(f"{what}: {name}, p50", medians[name], threads=1, unit="µs")
                yield once(f"{what}: {name}, p99", float(np.percentile(taken, 99)), threads=1, unit="µs")
            if effort.peers:
                yield from measure_peers(model, rows, what, effort.size(CALLS, 20))
            yield once(
                f"{what}: Booster.predict over model.compile(), p50",
                medians["Booster.predict"] / medians["model.compile()"],
                threads=1,
                target=at_least(2) if documents == 100 else None,
            )
