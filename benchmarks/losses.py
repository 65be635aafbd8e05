"""Losses beside LightGBM's own C++ objectives and beside padded n x n tensors in PyTorch, on one thread.

Data have the shape of MSLR-WEB30K: 6,000 queries of 119 documents on average. Contestants of one row run by turns in
one process; the median of the rounds is reported. LightGBM's time for a gradient alone is that of a boosting iteration
with a tree of two leaves less that of the same iteration with an objective that does nothing.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dense_losses
import lightgbm as lgb
import numpy as np
import torch
from metrics import lists_like_mslr

import rankplug as rp
from rankplug.losses import Objective
from rankplug.threads import use_threads
from rankplug.torch_losses import objective_value

QUERIES = 6000
QUERIES_WITH_FEATURES = 2000
FEATURES = 136
BATCH = 128
Contestant = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """Ours beside a peer. ``ratio`` is ours over the peer's where less is wanted, else the peer's over ours."""

    what: str
    ours: float
    peer: float
    ratio: float
    required: str


def medians(contestants: Sequence[Contestant], rounds: int, calls: int = 1) -> list[float]:
    """Seconds of one call of each, by turns, after one call that is not counted."""
    seconds: list[list[float]] = [[] for _ in contestants]
    for turn, (place, run) in itertools.product(range(rounds + 1), enumerate(contestants)):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        if turn:
            seconds[place].append((time.perf_counter() - begin) / calls)
    return [statistics.median(each) for each in seconds]


def drifting(objective: Objective, scores: np.ndarray, by: float = 0.02) -> Contestant:
    """Calls an objective as boosting does, with scores that move a little from call to call."""
    generator = np.random.default_rng(1)
    states = itertools.cycle([scores + by * generator.normal(size=scores.size) for _ in range(4)])
    iterations = itertools.count()
    return lambda: objective(next(states), iteration=next(iterations), dtype=np.float32, valued=False)


def lightgbm_iteration(data: dict[str, Any], objective: Any, leaves: int, **parameters: Any) -> Contestant:
    """One boosting iteration of a booster of its own, from the given scores on."""
    settings = {
        "num_leaves": leaves,
        "learning_rate": 0.05,
        "min_data_in_leaf": 50,
        "num_threads": 1,
        "verbose": -1,
        **parameters,
    }
    custom = callable(objective)
    settings["objective"] = "none" if custom else objective
    booster = lgb.Booster(settings, lgb.Dataset(**data, params=settings))
    return (lambda: booster.update(fobj=objective)) if custom else booster.update


def doing_nothing(documents: int) -> Callable[..., Any]:
    """An objective without work: a gradient that only lets LightGBM grow a tree."""
    gradient, curvature = np.tile(np.array([1, -1], np.float32), documents)[:documents], np.ones(documents, np.float32)
    return lambda scores, data: (gradient, curvature)


def measure_gradients(rounds: int) -> Iterator[Row]:
    """Gradients of boosting, over LightGBM's own."""
    _, labels, starts = lists_like_mslr(QUERIES)
    scores = np.random.default_rng(2).normal(size=labels.size)
    data = {
        "data": np.arange(labels.size, dtype=np.float32).reshape(-1, 1) % 7,
        "label": labels,
        "group": np.diff(starts),
        "init_score": scores,
    }
    longest = int(np.diff(starts).max())
    for what, ours, native, parameters, required in (
        (
            "lambdarank, truncation 30",
            "lambdarank[norm=true,truncation=30]",
            "lambdarank",
            {"lambdarank_truncation_level": 30},
            "<= 0.30",
        ),
        (
            "lambdarank, full",
            "lambdarank[norm=true]",
            "lambdarank",
            {"lambdarank_truncation_level": longest},
            "<= 0.30",
        ),
        ("xe_ndcg", "xe_ndcg", "rank_xendcg", {}, "<= 1.0"),
    ):
        our_time, iteration, nothing = medians(
            [
                drifting(rp.loss(ours).on(labels, starts, step="newton"), scores),
                lightgbm_iteration(data, native, 2, **parameters),
                lightgbm_iteration(data, doing_nothing(labels.size), 2),
            ],
            rounds,
        )
        yield Row(
            f"{what}: gradient / LightGBM's", our_time, iteration - nothing, our_time / (iteration - nothing), required
        )


def features_like_mslr(labels: np.ndarray) -> np.ndarray:
    """Continuous, counted, skewed and sparse columns by turns, of which twenty carry a little of the label."""
    generator = np.random.default_rng(3)
    features = generator.normal(size=(labels.size, FEATURES)).astype(np.float32)
    features[:, :20] += 0.3 * labels[:, None].astype(np.float32)
    features[:, 1::4] = np.round(np.exp(1.2 * features[:, 1::4]))
    features[:, 2::4] = np.exp(features[:, 2::4])
    features[:, 3::4] *= generator.random(features[:, 3::4].shape, np.float32) < 0.3
    return features


def measure_stochastic_boosting(rounds: int) -> Iterator[Row]:
    """Whole boosting iterations with eight draws, over LightGBM's own without noise."""
    _, labels, starts = lists_like_mslr(QUERIES_WITH_FEATURES)
    data = {"data": features_like_mslr(labels), "label": labels, "group": np.diff(starts)}
    longest = int(np.diff(starts).max())
    for truncation, deepest in ((30, 30), (None, longest)):
        name = f"lambdarank[sigma=2,truncation={truncation or 'none'}]"
        expected = rp.loss(name).on(labels, starts, sampler="gumbel[beta=0.25,samples=8]", step="newton")
        counter = itertools.count()

        def derivatives(scores, data, expected=expected, counter=counter):
            result = expected(scores, iteration=next(counter), dtype=np.float32, valued=False)
            return result.gradient, result.curvature

        native = {"lambdarank_truncation_level": deepest, "sigmoid": 2.0, "lambdarank_norm": False}
        ours, peer = medians(
            [lightgbm_iteration(data, derivatives, 400), lightgbm_iteration(data, "lambdarank", 400, **native)], rounds
        )
        what = f"E[lambdarank] of 8 draws, truncation {truncation or 'none'}"
        yield Row(f"{what}: iteration / LightGBM's without noise", ours, peer, ours / peer, "<= 1.30")


def measure_networks(rounds: int) -> Iterator[Row]:
    """Forward and backward of a mini-batch of lists, beside padded tensors."""
    _, labels, starts = lists_like_mslr(BATCH * 8)
    lengths = np.diff(starts)
    scores = torch.from_numpy(np.random.default_rng(4).normal(size=labels.size).astype(np.float32))
    batch = np.arange(BATCH)
    packed = scores[: starts[BATCH]].clone().requires_grad_()
    mask = torch.arange(int(lengths[:BATCH].max())) < torch.from_numpy(lengths[:BATCH])[:, None]
    padded = torch.zeros(mask.shape).masked_scatter(mask, packed.detach()).requires_grad_()
    padded_labels = torch.zeros(mask.shape).masked_scatter(mask, torch.from_numpy(labels[: starts[BATCH]]).float())

    def ours(name: str, sampler: str | None) -> Contestant:
        objective, counter = rp.loss(name).on(labels, starts, sampler=sampler), itertools.count()

        def step() -> None:
            packed.grad = None
            objective_value(objective, packed, iteration=next(counter), lists=batch).mean().backward()

        return step

    def dense(function: Callable[..., torch.Tensor], draws: int) -> Contestant:
        def step() -> None:
            padded.grad = None
            for _ in range(draws):
                noise = -torch.log(-torch.log(torch.rand_like(padded).clamp(1e-7, 1 - 1e-7))) if draws > 1 else 0.0
                (function(padded + noise, padded_labels, mask).mean() / draws).backward()

        return step

    for what, name, sampler, function, draws, required in (
        ("approx_ndcg", "approx_ndcg", None, dense_losses.approx_ndcg, 1, ">= 45"),
        ("approx_ndcg of 8 draws", "approx_ndcg", "gumbel[samples=8]", dense_losses.approx_ndcg, 8, ">= 45"),
        ("urank", "urank", None, dense_losses.urank, 1, ">= 35"),
        ("lambdaloss", "lambdaloss", None, dense_losses.lambdaloss, 1, ">= 35"),
        ("ranknet", "ranknet", None, dense_losses.ranknet, 1, ">= 35"),
        ("listmle", "listmle", None, dense_losses.listmle, 1, ">= 1"),
        ("cross_entropy", "cross_entropy", None, dense_losses.cross_entropy, 1, ">= 1"),
        ("xe_ndcg", "xe_ndcg", None, dense_losses.xe_ndcg, 1, ">= 1"),
    ):
        our_time, peer = medians([ours(name, sampler), dense(function, draws)], rounds, calls=3)
        yield Row(f"{what}: padded tensors / forward and backward", our_time, peer, peer / our_time, required)


def measure_scaling(rounds: int) -> Iterator[Row]:
    """Time of uRank on one list, from 1,000 documents up, which is to grow no faster than n log n."""
    generator = np.random.default_rng(5)
    lengths = (1_000, 10_000, 100_000)
    contestants = []
    for length in lengths:
        objective = rp.loss("urank").on(generator.permutation(length).astype(np.float64) % 50, [0, length])
        contestants.append(drifting(objective, generator.normal(size=length)))
    first, *_ = times = medians(contestants, rounds)
    for length, seconds in zip(lengths, times, strict=True):
        linearithmic = first * length * np.log(length) / (lengths[0] * np.log(lengths[0]))
        yield Row(f"urank of {length:,} documents / n log n", seconds, linearithmic, seconds / linearithmic, "<= 1.5")


def measure(rounds: int = 7) -> list[Row]:
    """All rows."""
    with use_threads(1):
        parts = (measure_gradients, measure_stochastic_boosting, measure_networks, measure_scaling)
        return [row for part in parts for row in part(rounds)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=7)
    for row in measure(arguments.parse_args().rounds):
        print(f"{row.what:62} {row.ours * 1e3:9.2f} ms {row.peer * 1e3:9.2f} ms {row.ratio:8.2f} ({row.required})")
