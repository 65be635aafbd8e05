"""Reading LETOR text beside scikit-learn and XGBoost, and opening a prepared data set."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from rankplug_data import letor

import rankplug as rp
from rankplug.system import available_cores, threads, use_threads
from rankplug_benchmarks.mslr_shape import FEATURES
from rankplug_benchmarks.rounds import Row, interleave, ratio_row, value_row


def write_text(path: Path, megabytes: float) -> None:
    """Write lines like MSLR's: counts, zeros and fractions with six decimals."""
    generator = np.random.default_rng(0)
    is_count = generator.integers(0, 3, FEATURES) == 0
    lines = []
    for row in range(5_000):
        values = np.where(generator.random(FEATURES) < 0.3, 0.0, generator.lognormal(0, 2, FEATURES))
        words = [
            f"{value:.0f}" if count or not value else f"{value:.6f}"
            for value, count in zip(values, is_count, strict=True)
        ]
        features = " ".join(f"{number}:{word}" for number, word in enumerate(words, 1))
        lines.append((f"{generator.integers(0, 5)} qid:", row // 120, f" {features}\n"))
    written, copy = 0, 0
    with path.open("w", newline="\n") as file:
        while written < megabytes * 1e6:
            written += file.write("".join(f"{label}{query + copy * 100}{rest}" for label, query, rest in lines))
            copy += 1


def read_with_sklearn(path: Path) -> object:
    """Read with scikit-learn, on one thread."""
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path), dtype=np.float32, query_id=True, zero_based=False)


def read_with_xgboost(path: Path) -> object:
    """Read with XGBoost."""
    import xgboost

    warnings.filterwarnings("ignore", message=".*Text file input", category=UserWarning)
    return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads())


def measure_reading(path: Path, number: int, rounds: int) -> Iterator[Row]:
    """Measure readers of text."""
    readers: dict[str, Callable[[], object]] = {"ours": lambda: letor.read(path)}
    readers |= {"XGBoost": lambda: read_with_xgboost(path)}
    if number == 1:
        readers["scikit-learn"] = lambda: read_with_sklearn(path)
    timings = interleave(readers, rounds)
    megabytes = path.stat().st_size / 1e6
    for name, limit in (("scikit-learn", 10), ("XGBoost", 1.5)):
        if name in readers:
            what = f"LETOR text of {megabytes:.0f} MB: {name} over ours"
            headline = name == "scikit-learn"
            yield ratio_row(what, timings, name, "ours", threads=number, at_least=limit, headline=headline)
    speed = [megabytes / seconds for seconds in timings.seconds["ours"]]
    yield value_row(f"LETOR text of {megabytes:.0f} MB: speed", speed, threads=number, unit="MB/s")


def measure_opening(path: Path, rounds: int) -> Iterator[Row]:
    """Measure the first load of a data set, which prepares it, and later loads."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"RANKPLUG_CACHE": f"{folder}/cache"}):
        data = Path(folder) / "data"
        data.mkdir()
        for name in ("train", "vali", "test"):
            (data / f"{name}.txt").write_bytes(path.read_bytes())
        for _ in range(1 + rounds):
            begin = time.perf_counter()
            split = rp.load(f"letor-file[path='{data}']")
            split.train.features[-1].sum()
            seconds.append(time.perf_counter() - begin)
    megabytes = f"{3 * path.stat().st_size / 1e6:.0f} MB of text"
    yield value_row(f"{megabytes}: first load, with preparation", seconds[:1], threads=threads(), unit="s")
    yield value_row(f"{megabytes}: later loads", seconds[1:], threads=threads(), unit="s", at_most=0.1)


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure on one thread and on all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, 4 if quick else 96)
        for number in sorted({1, available_cores()}):
            with use_threads(number):
                yield from measure_reading(path, number, rounds)
        yield from measure_opening(path, rounds)
