"""Reading LETOR text, beside XGBoost's reader and scikit-learn's, and opening what has been read.

The text has the shape of MSLR: 136 features a line, counts, zeros and fractions of up to six decimals. All read the
same file by turns. Memory is what a process of its own holds beyond the mapped file, as a multiple of the feature
matrix.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rankplug_data.text import letor

import rankplug as rp
from rankplug.system import threads, use_threads
from rankplug_benchmarks.data_sets import text_readers
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_least, at_most, measured, once, repeated
from rankplug_benchmarks.harness.rounds import by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.resident_memory import growth

MEGABYTES = 386
PART_FOR_RACES = 4
"""All readers race on this part of the text, as scikit-learn's takes 17 s for all of it."""
ON_ONE_THREAD = ("scikit-learn",)
FEATURES = 136
LINES_DRAWN = 5_000
TARGETS = {"xgboost": at_least(1.5), "scikit-learn": at_least(20)}


def write_text(path: Path, megabytes: float, seed: int = 0) -> None:
    """Write lines like MSLR's; the same few thousand come again and again, each time as other queries."""
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
    """Write a file with the first lines."""
    part = path.with_suffix(f".part{share}")
    with path.open("rb") as whole:
        text = whole.read(path.stat().st_size // share)
    part.write_bytes(text[: text.rindex(b"\n") + 1])
    return part


def read_with_rankplug(path: Path) -> np.ndarray:
    return letor.read(path).features


def read_with_xgboost(path: Path) -> np.ndarray:
    import xgboost

    warnings.filterwarnings("ignore", message=".*Text file input", category=UserWarning)
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
    """Convert what a reader returned to a dense matrix; XGBoost's has no column for number 0, which LETOR lacks."""
    if hasattr(read, "get_data"):
        return np.asarray(read.get_data().todense())[:, 1:]
    return read.toarray() if hasattr(read, "toarray") else read


def watch(path: Path) -> float:
    """Return the peak memory of reading a file beyond the file itself, over the size of its feature matrix."""
    letor.read(first_part(path, 100))
    with growth() as found:
        features = letor.read(path).features
    return found.bytes / features.nbytes


@contextlib.contextmanager
def written(megabytes: float) -> Iterator[Path]:
    """Write a text of some size, and remove it at the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, megabytes)
        yield path


def share_that_differs(path: Path, contestant: str) -> float:
    """Return the share of a reader's values that differ from ours, as XGBoost does not round to the nearest float."""
    return float((as_rows(CONTESTANTS[contestant](path)) != letor.read(path).features).mean())


def measure_reading(path: Path, effort: Effort, number: int) -> Iterator[Measurement]:
    """Measure all readers by turns."""
    size = path.stat().st_size / 1e6
    readers = {name: read for name, read in CONTESTANTS.items() if number == 1 or name not in ON_ONE_THREAD}
    with use_threads(number):
        rounds = by_turns(
            {name: (lambda read=read: read(path)) for name, read in readers.items()}, effort.rounds, yardstick="xgboost"
        )
    for name in [name for name in readers if name in TARGETS]:
        yield measured(
            f"LETOR text of {size:.0f} MB: {name} over ours",
            rounds,
            lambda seconds, name=name: seconds[name] / seconds["rankplug"],
            threads=number,
            target=TARGETS[name] if number == 1 else None,
        )
    yield measured(
        f"LETOR text of {size:.0f} MB: speed",
        rounds,
        lambda seconds: size / seconds["rankplug"],
        threads=number,
        unit="MB/s",
    )


def measure_tables(path: Path, effort: Effort, number: int) -> Iterator[Measurement]:
    """Measure the same documents as text and as a Parquet file, whose rows are sorted by query or in any order."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    lists = letor.read(path)
    # Digits that differ from row to row, as the text comes again and again and would be packed to nearly nothing.
    noise = np.random.default_rng(0).random(lists.features.shape, np.float32)
    columns = {f"f{place}": column for place, column in enumerate((lists.features * (1 + 1e-3 * noise)).T)}
    table = pa.table({"query": lists.query_ids[lists.query_of_document], "label": lists.labels, **columns})
    kinds = {"sorted": table, "unsorted": table.take(np.random.default_rng(1).permutation(table.num_rows))}
    ways: dict[str, Callable[[], Any]] = {"text": lambda: letor.read(path)}
    for kind, rows in kinds.items():
        file = path.with_suffix(f".{kind}.parquet")
        parquet.write_table(rows, file)
        ways[kind] = lambda file=file: rp.Lists.from_table(file, query="query", label="label")
    # What the columns cost alone, before a row of anything is put together.
    only = path.with_suffix(".sorted.parquet")
    ways["pyarrow"] = lambda: parquet.read_table(only, use_threads=number > 1)
    with use_threads(number):
        rounds = by_turns(ways, effort.rounds, yardstick="text")
    for kind in kinds:
        yield measured(
            f"Parquet of {path.with_suffix(f'.{kind}.parquet').stat().st_size / 1e6:.0f} MB, rows {kind}: text over it",
            rounds,
            lambda seconds, kind=kind: seconds["text"] / seconds[kind],
            threads=number,
            target=at_least(5) if kind == "sorted" and number == 1 else None,
        )
    yield measured(
        f"Parquet of {only.stat().st_size / 1e6:.0f} MB, its columns by pyarrow alone: text over it",
        rounds,
        lambda seconds: seconds["text"] / seconds["pyarrow"],
        threads=number,
    )


def peak_memory(path: Path) -> float:
    """Return the peak memory of a process that reads, beyond the mapped file, over the size of its feature matrix."""
    program = f"import pathlib, {__name__} as reading; print(reading.watch(pathlib.Path({str(path)!r})))"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(answer.stdout)


def measure_opening(path: Path, effort: Effort) -> Iterator[Measurement]:
    """Measure the same text as a data set: prepared once, then opened."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("RANKPLUG_CACHE")
        data = Path(folder) / "data"
        data.mkdir()
        (data / "train.txt").symlink_to(path)
        for name in ("vali.txt", "test.txt"):
            first_part(path, 50).rename(data / name)
        os.environ["RANKPLUG_CACHE"] = f"{folder}/cache"
        try:
            name = f"letor-file[path='{data}']"
            seconds = []
            for _ in range(1 + effort.rounds):
                begin = time.perf_counter()
                split = rp.load(name)
                _ = split.train.fingerprint, split.train.features[-1].sum()
                seconds.append(time.perf_counter() - begin)
        finally:
            os.environ.pop("RANKPLUG_CACHE")
            os.environ.update({} if before is None else {"RANKPLUG_CACHE": before})
    size = f"{path.stat().st_size / 1e6:.0f} MB of text"
    yield once(f"{size}: first load, prepared for the cache", seconds[0], threads=threads(), unit="s")
    yield repeated(f"{size}: every other load", seconds[1:], threads=threads(), unit="s", target=at_most(0.1))


def measure(effort: Effort) -> Iterator[Measurement | Table]:
    """Measure on one thread, which the targets are about, then on all."""
    with written(effort.size(MEGABYTES, 4)) as path:
        part = first_part(path, PART_FOR_RACES)
        for number in effort.threads:
            yield from measure_reading(part, effort, number)
            yield from text_readers.measure_cat(part, effort, number)
            yield from text_readers.measure_engines(part, effort, number)
            yield from measure_tables(part, effort, number)
        if effort.peers:
            yield from text_readers.measure_peers(part, effort)
        what = "LETOR text: peak memory beyond the file, over the feature matrix"
        yield once(what, peak_memory(path), threads=threads(), target=at_most(1.3))
        yield from measure_opening(path, effort)
