"""Readers of LETOR text that others have: the boosting engines' own readers, svmloader, Vowpal Wabbit, and ``cat``.

``cat`` reads a file and drops it, which no reader can do faster. LightGBM bins what it reads, and Vowpal Wabbit learns
from each line on its way; neither can do without. What knows no queries gets the same text without them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rankplug_data.text import letor

from rankplug.system import threads, use_threads
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_most, measured
from rankplug_benchmarks.harness.rounds import by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.peers import PEERS, Peer, PeerError, PeerProcess, install

TIMES_OF_CAT = 3


def read_with_cat(path: Path) -> None:
    with path.open("rb") as file, open("/dev/null", "wb") as nowhere:
        subprocess.run(["cat"], stdin=file, stdout=nowhere, check=True)


def read_with_lightgbm(path: Path) -> Any:
    """Read by LightGBM, which bins what it reads."""
    import lightgbm

    return lightgbm.Dataset(str(path), params={"verbose": -1, "num_threads": threads()}).construct()


def read_with_catboost(path: Path) -> Any:
    """Read by CatBoost, which bins when it trains."""
    import catboost

    return catboost.Pool(f"libsvm://{path}", thread_count=threads())


def without_queries(path: Path, after_label: bytes = b" ") -> Path:
    """Write the text without query ids, which the others take from a file of its own or not at all."""
    plain = path.with_suffix(f".plain{len(after_label)}")
    with path.open("rb") as source, plain.open("wb") as target:
        for line in source:
            label, _, rest = line.split(b" ", 2)
            target.write(label + after_label + rest)
    return plain


def measure_cat(path: Path, effort: Effort, number: int) -> Iterator[Measurement]:
    """Measure ours over ``cat``."""
    with use_threads(number):
        rounds = by_turns({"rankplug": lambda: letor.read(path), "cat": lambda: read_with_cat(path)}, effort.rounds)
    yield measured(
        f"LETOR text of {path.stat().st_size / 1e6:.0f} MB: ours over cat file > /dev/null",
        rounds,
        lambda seconds: seconds["rankplug"] / seconds["cat"],
        threads=number,
        target=at_most(TIMES_OF_CAT) if number == max(effort.threads) else None,
    )


def measure_engines(path: Path, effort: Effort, number: int) -> Iterator[Measurement]:
    """Measure the engines' own readers, on the text without queries."""
    plain = without_queries(path)
    readers: Mapping[str, Callable[[Path], Any]] = {"LightGBM": read_with_lightgbm, "CatBoost": read_with_catboost}
    with use_threads(number):
        rounds = by_turns(
            {
                "rankplug": lambda: letor.read(path),
                **{name: (lambda read=read: read(plain)) for name, read in readers.items()},
            },
            effort.rounds,
        )
    for name in readers:
        yield measured(
            f"LETOR text of {path.stat().st_size / 1e6:.0f} MB: {name}'s own reader over ours",
            rounds,
            lambda seconds, name=name: seconds[name] / seconds["rankplug"],
            threads=number,
        )


def measure_peers(path: Path, effort: Effort) -> Iterator[Measurement | Table]:
    """Measure readers that are fetched, on one thread as they have no other, and name those that cannot be run here."""
    failed = []
    for peer, way in ((one, way) for one in PEERS for way in one.readings):
        try:
            yield _measure_peer(peer, way, path, effort)
        except PeerError as error:
            failed.append((peer.title, way, str(error)))
    if failed:
        yield Table("not run", ("peer", "way", "why"), tuple(failed))


def _measure_peer(peer: Peer, way: str, path: Path, effort: Effort) -> Measurement:
    # Vowpal Wabbit has a bar between the label and the features.
    theirs = without_queries(path, b" | " if way == "learning" else b" ")
    with use_threads(1), PeerProcess(peer, install(peer), way, 1, path=np.array(str(theirs))) as process:
        rounds = by_turns({"rankplug": lambda: letor.read(path), peer.name: process.contestant}, effort.rounds)
    return measured(
        f"LETOR text of {path.stat().st_size / 1e6:.0f} MB: {peer.name}, {way}, over ours",
        rounds,
        lambda seconds: seconds[peer.name] / seconds["rankplug"],
        threads=1,
        note=peer.title,
    )
