"""Time of every loss's gradient as lists grow longer and as they grow more.

Lists grow tenfold from 10 documents to 100,000; a loss that needs more than half a second for one is not given a longer
one. The slope of time over length between its two longest lists tells how it grows: 1 is linear, 2 is every pair.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import rankplug as rp
from rankplug.registry import LossSpecification, registry
from rankplug.system import use_threads
from rankplug_benchmarks.gradients.losses import drifting
from rankplug_benchmarks.harness.measurements import Curve, Measurement, at_least, at_most, measured, once
from rankplug_benchmarks.harness.rounds import Rounds, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import SHARES_OF_LABELS

LENGTHS = (10, 100, 1_000, 10_000, 100_000)
DOCUMENTS_AT_LEAST = 2_000
"""Short lists are many, so that a call takes long enough to be timed."""
COUNTS = (10, 100, 1_000, 10_000)
LENGTH_OF_MANY = 100
LONGEST_CALL = 0.5
"""Seconds."""


def losses() -> Iterator[LossSpecification]:
    """Yield all losses that are installed."""
    for plugin in registry().plugins("loss"):
        assert isinstance(plugin.specification, LossSpecification)
        yield plugin.specification


def rounds_of(loss: LossSpecification, lists: int, length: int, rounds: int) -> Rounds:
    """Time gradients of a loss on some lists of one length."""
    generator = np.random.default_rng(length)
    labels = generator.choice(len(SHARES_OF_LABELS), size=lists * length, p=SHARES_OF_LABELS).astype(np.float64)
    if "binary labels" in loss.needs:
        labels = (labels >= 2).astype(np.float64)
    starts = np.arange(lists + 1) * length
    objective = rp.loss(loss.name).on(labels, starts, step="newton")
    return by_turns({loss.name: drifting(objective, generator.normal(size=labels.size))}, rounds)


def along(loss: LossSpecification, sizes: Iterator[tuple[float, int, int]], rounds: int) -> list[tuple[float, float]]:
    """Return the seconds a gradient takes at each size, as far as a call stays short."""
    points = []
    for size, lists, length in sizes:
        began = time.perf_counter()
        seconds = rounds_of(loss, lists, length, rounds).spread(loss.name).median
        points.append((size, seconds))
        growth = seconds / points[-2][1] if len(points) > 1 else 1.0
        if seconds * max(growth, 1.0) > LONGEST_CALL or time.perf_counter() - began > 10 * LONGEST_CALL:
            break
    return points


def measure_lengths(loss: LossSpecification, effort: Effort) -> Iterator[Measurement | Curve]:
    """Measure one list of every length."""
    limit = loss.longest or max(LENGTHS)
    sizes = (
        (float(length), max(1, DOCUMENTS_AT_LEAST // length), length)
        for length in LENGTHS[: effort.size(len(LENGTHS), 2)]
        if length <= limit
    )
    points = [
        (length, seconds / (max(1, DOCUMENTS_AT_LEAST // int(length)) * length) * 1e6)
        for length, seconds in along(loss, sizes, effort.rounds)
    ]
    yield Curve("length", loss.name, "documents a list", "microseconds a document", tuple(points), "xy")
    if len(points) > 1:
        (shorter, before), (longer, after) = points[-2:]
        yield once(
            f"{loss.name}: power of the length in a list's time",
            1 + math.log(after / before) / math.log(longer / shorter),
            threads=1,
            note=f"from {shorter:,.0f} to {longer:,.0f} documents",
        )


def measure_counts(loss: LossSpecification, effort: Effort) -> Iterator[Curve]:
    """Measure more and more lists of one length."""
    sizes = ((float(count), count, LENGTH_OF_MANY) for count in COUNTS[: effort.size(len(COUNTS), 1)])
    points = along(loss, sizes, effort.rounds)
    per_list = tuple((count, seconds / count * 1e6) for count, seconds in points)
    yield Curve("lists", loss.name, f"lists of {LENGTH_OF_MANY} documents", "microseconds a list", per_list, "xy")


def measure_linearithmic(effort: Effort) -> Iterator[Measurement]:
    """Measure the target of uRank: no faster growth than n log n."""
    lengths = (1_000, effort.size(100_000, 2_000))
    generator = np.random.default_rng(5)
    contestants = {}
    for length in lengths:
        objective = rp.loss("urank").on(generator.permutation(length).astype(np.float64) % 50, [0, length])
        contestants[f"{length:,}"] = drifting(objective, generator.normal(size=length))
    short, long = contestants
    growth = lengths[1] * math.log(lengths[1]) / (lengths[0] * math.log(lengths[0]))
    yield measured(
        f"urank: time of {long} documents over {short}, relative to n log n",
        by_turns(contestants, effort.rounds),
        lambda seconds: seconds[long] / seconds[short] / growth,
        threads=1,
        target=at_most(1.5),
    )


def measure_ranksvm(effort: Effort) -> Iterator[Measurement]:
    """Measure the hinge of all pairs without looking at pairs: one long list, and how its time grows."""
    lengths = (effort.size(10_000, 300), effort.size(100_000, 3_000))
    generator = np.random.default_rng(6)
    for what in ("ranksvm", "ranksvm[squared=true]"):
        contestants = {}
        for length in lengths:
            labels = generator.choice(len(SHARES_OF_LABELS), size=length, p=SHARES_OF_LABELS).astype(np.float64)
            contestants[f"{length:,}"] = drifting(rp.loss(what).on(labels, [0, length]), generator.normal(size=length))
        short, long = contestants
        rounds = by_turns(contestants, effort.rounds)
        yield measured(
            f"{what}: one list of {long} documents with five labels",
            rounds,
            lambda seconds, long=long: 1e3 * seconds[long],
            threads=1,
            unit="ms",
            target=at_most(50),
        )
        yield measured(
            f"{what}: power of the length in its time from {short} to {long} documents",
            rounds,
            lambda seconds, short=short, long=long: (
                math.log(seconds[long] / seconds[short]) / math.log(lengths[1] / lengths[0])
            ),
            threads=1,
            target=at_most(1.2),
        )


def measure_sums(effort: Effort) -> Iterator[Measurement]:
    """Measure all pairs of a long list by sums along the order of scores: beside looking at each, and how they grow."""
    lengths = (effort.size(10_000, 2_500), effort.size(100_000, 5_000))
    generator = np.random.default_rng(7)
    for what in ("ranknet", "lambdarank", "approx_ndcg", "logrank_mle", "exp_gain"):
        contestants = {}
        for length, tolerance in ((lengths[0], "1e-12"), (lengths[0], "0"), (lengths[1], "1e-12")):
            labels = generator.choice(len(SHARES_OF_LABELS), size=length, p=SHARES_OF_LABELS).astype(np.float64)
            labels = labels if what in ("ranknet", "lambdarank", "approx_ndcg") else (labels >= 1).astype(np.float64)
            objective = rp.loss(f"{what}[tolerance={tolerance}]").on(labels, [0, length])
            contestants[f"{length:,} by {tolerance}"] = drifting(objective, generator.normal(size=length))
        short, pairs, long = contestants
        rounds = by_turns(contestants, effort.rounds)
        # Looking at each pair of the longer list would take seconds; its time grows with the square of the length.
        square = (lengths[1] / lengths[0]) ** 2
        yield measured(
            f"{what}, one list of {lengths[1]:,} documents: all pairs over sums with a relative error of 1e-12",
            rounds,
            lambda seconds, pairs=pairs, long=long, square=square: square * seconds[pairs] / seconds[long],
            threads=1,
            target=at_least(20),
        )
        yield measured(
            f"{what}: power of the length in the time of its sums from {lengths[0]:,} to {lengths[1]:,} documents",
            rounds,
            lambda seconds, short=short, long=long: (
                math.log(seconds[long] / seconds[short]) / math.log(lengths[1] / lengths[0])
            ),
            threads=1,
            target=at_most(1.2),
        )


def measure(effort: Effort) -> Iterator[Measurement | Curve]:
    """Measure on one thread how the time of one list grows."""
    with use_threads(1):
        yield from measure_linearithmic(effort)
        yield from measure_ranksvm(effort)
        yield from measure_sums(effort)
        found = list(losses())[: effort.size(1000, 3)]
        for loss in found:
            # The first call compiles, which must not make a loss seem too slow for longer lists.
            rounds_of(loss, 2, 5, 1)
            yield from measure_lengths(loss, effort)
            yield from measure_counts(loss, effort)
