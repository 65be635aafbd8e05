"""Reading LETOR text, beside XGBoost's reader and scikit-learn's.

The text has the shape of MSLR: 136 features a line, counts, zeros and fractions of up to six decimals. All read the
same file in turns, and the median of the rounds is reported. Memory is what a process of its own holds beyond the
mapped file, as a multiple of the feature matrix.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rankplug_data.text import letor

from rankplug.threads import threads, use_threads

MEGABYTES = 386
FEATURES = 136
LINES_DRAWN = 5_000


@dataclass(frozen=True)
class Row:
    """One reader; values differ from ours where it does not round to the nearest float."""

    contestant: str
    seconds: float
    megabytes_per_second: float
    times_ours: float
    values_that_differ: float


def write_text(path: Path, megabytes: float, seed: int = 0) -> None:
    """Lines like MSLR's; the same few thousand come again and again, each time as other queries."""
    generator = np.random.default_rng(seed)
    kinds = generator.integers(0, 3, FEATURES)
    lines = []
    for row in range(LINES_DRAWN):
        values = generator.lognormal(0, 2, FEATURES)
        zero = generator.random(FEATURES) < 0.3
        words = [
            "0" if zero[column] else f"{values[column]:.0f}" if kinds[column] == 0 else f"{values[column]:.6f}"
            for column in range(FEATURES)
        ]
        features = " ".join(f"{column + 1}:{word}" for column, word in enumerate(words))
        lines.append((f"{generator.integers(0, 5)} qid:", row // 120, f" {features}\n"))
    written, copy = 0, 0
    with path.open("w", newline="\n") as file:
        while written < megabytes * 1e6:
            written += file.write("".join(f"{label}{query + copy * 100}{rest}" for label, query, rest in lines))
            copy += 1


def first_part(path: Path, share: int) -> Path:
    """A file with the first lines."""
    part = path.with_suffix(".part")
    with path.open("rb") as whole:
        text = whole.read(path.stat().st_size // share)
    part.write_bytes(text[: text.rindex(b"\n") + 1])
    return part


def read_with_rankplug(path: Path) -> np.ndarray:
    return letor.read(path).features


def read_with_xgboost(path: Path) -> np.ndarray:
    import xgboost

    return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads())


def read_with_sklearn(path: Path) -> np.ndarray:
    from sklearn.datasets import load_svmlight_file

    features, _, _ = load_svmlight_file(str(path), dtype=np.float32, query_id=True, zero_based=False)
    return features


CONTESTANTS: dict[str, Callable[[Path], Any]] = {
    "rankplug": read_with_rankplug,
    "xgboost": read_with_xgboost,
    "scikit-learn": read_with_sklearn,
}


def as_rows(read: Any) -> np.ndarray:
    """What a reader gave as a dense matrix; XGBoost's has no column for number 0, which LETOR lacks."""
    if hasattr(read, "get_data"):
        return np.asarray(read.get_data().todense())[:, 1:]
    return read.toarray() if hasattr(read, "toarray") else read


def measure(megabytes: float = MEGABYTES, rounds: int = 3) -> list[dict[str, Any]]:
    """Seconds for the whole text, megabytes a second, and how many times our time that is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, megabytes)
        size = path.stat().st_size / 1e6
        seconds: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
        differ: dict[str, float] = {}
        expected = letor.read(path).features
        for _ in range(rounds):
            for name, read in CONTESTANTS.items():
                begin = time.perf_counter()
                result = read(path)
                seconds[name].append(time.perf_counter() - begin)
                if name not in differ:
                    differ[name] = float((as_rows(result) != expected).mean())
                del result
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return [
        asdict(
            Row(
                contestant=name,
                seconds=medians[name],
                megabytes_per_second=size / medians[name],
                times_ours=medians[name] / medians["rankplug"],
                values_that_differ=differ[name],
            )
        )
        for name in CONTESTANTS
    ]


def peak_memory(megabytes: float = MEGABYTES) -> float:
    """The most memory a process holds while it reads, beyond the mapped file, over the size of its feature matrix."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, megabytes)
        answer = subprocess.run(
            [sys.executable, __file__, "--watch", str(path)], check=True, capture_output=True, text=True
        )
    return float(answer.stdout)


def watch(path: Path) -> float:
    """Reads a file while another thread watches the memory of this process that no file backs."""

    def held() -> int:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")) * 1024

    letor.read(first_part(path, 100))
    before, peak, done = held(), 0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, held())

    watcher = threading.Thread(target=look)
    watcher.start()
    features = letor.read(path).features
    done.set()
    watcher.join()
    return (max(peak, held()) - before) / features.nbytes


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=MEGABYTES)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=threads())
    options.add_argument("--watch", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.watch:
        print(watch(given.watch))
        return
    with use_threads(given.threads):
        print(f"{given.megabytes:g} MB, {given.threads} threads")
        print(f"{'reader':14}{'seconds':>9}{'MB/s':>8}{'times ours':>12}{'values that differ':>20}")
        for row in measure(given.megabytes, given.rounds):
            print(
                f"{row['contestant']:14}{row['seconds']:>9.2f}{row['megabytes_per_second']:>8.0f}"
                f"{row['times_ours']:>12.1f}{row['values_that_differ']:>20.2%}"
            )
        print(f"peak memory beyond the file: {peak_memory(given.megabytes):.2f} times the feature matrix")


if __name__ == "__main__":
    main()
