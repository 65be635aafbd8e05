"""Gradients for boosting beside LightGBM's own C++ objectives.

LightGBM's time for a gradient alone is that of a boosting iteration with a tree of two leaves less that of the same
iteration with an objective that does nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import lightgbm as lgb
import numpy as np

import rankplug as rp
from rankplug.losses import Objective
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, at_most, measured
from rankplug_benchmarks.harness.rounds import Contestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import features_like_mslr, lists_like_mslr

GRADIENTS = (
    ("lambdarank, truncation 30", "lambdarank[norm=true,truncation=30]", "lambdarank", 30, at_most(0.30)),
    ("lambdarank, no truncation", "lambdarank[norm=true]", "lambdarank", None, at_most(0.30)),
    ("xe_ndcg", "xe_ndcg", "rank_xendcg", 30, at_most(1.0)),
)
"""Contestants: name, our loss, LightGBM's, its truncation, and the limit of our time over LightGBM's on one thread."""

TREES_FOLLOWED = 30


def drifting(objective: Objective, scores: np.ndarray, by: float = 0.02) -> Contestant:
    """Return a call of an objective as boosting makes it, with scores that move a little from call to call."""
    generator = np.random.default_rng(1)
    states = itertools.cycle([scores + by * generator.normal(size=scores.size) for _ in range(4)])
    iterations = itertools.count()
    return lambda: objective(next(states), iteration=next(iterations), dtype=np.float32, valued=False)


def lightgbm_iteration(
    data: dict[str, Any], objective: Any, leaves: int, threads: int, **parameters: Any
) -> Contestant:
    """Return a call of one boosting iteration of a booster of its own, from the given scores on."""
    settings = {
        "num_leaves": leaves,
        "learning_rate": 0.05,
        "min_data_in_leaf": 50,
        "num_threads": threads,
        "verbose": -1,
        **parameters,
    }
    custom = callable(objective)
    settings["objective"] = "none" if custom else objective
    booster = lgb.Booster(settings, lgb.Dataset(**data, params=settings))
    return (lambda: booster.update(fobj=objective)) if custom else booster.update


def doing_nothing(documents: int) -> Callable[..., Any]:
    """Return an objective without work: a gradient that only lets LightGBM grow a tree."""
    gradient, curvature = np.tile(np.array([1, -1], np.float32), documents)[:documents], np.ones(documents, np.float32)
    return lambda scores, data: (gradient, curvature)


def measure_gradients(effort: Effort, threads: int) -> Iterator[Measurement]:
    """Measure gradients of boosting, over LightGBM's own."""
    _, labels, starts = lists_like_mslr(effort.size(6000, 60))
    scores = np.random.default_rng(2).normal(size=labels.size)
    data = {
        "data": np.arange(labels.size, dtype=np.float32).reshape(-1, 1) % 7,
        "label": labels,
        "group": np.diff(starts),
        "init_score": scores,
    }
    longest = int(np.diff(starts).max())
    for what, ours, native, truncation, target in GRADIENTS:
        level = {"lambdarank_truncation_level": truncation or longest}
        rounds = by_turns(
            {
                "rankplug": drifting(rp.loss(ours).on(labels, starts, step="newton"), scores),
                "LightGBM, empty objective": lightgbm_iteration(data, doing_nothing(labels.size), 2, threads),
                "LightGBM": lightgbm_iteration(data, native, 2, threads, **level),
            },
            effort.rounds,
        )
        yield measured(
            f"{what}: gradient over LightGBM's",
            rounds,
            lambda seconds: seconds["rankplug"] / (seconds["LightGBM"] - seconds["LightGBM, empty objective"]),
            threads=threads,
            target=target if threads == 1 else None,
        )


def measure_stochastic_boosting(effort: Effort) -> Iterator[Measurement]:
    """Measure whole boosting iterations with eight draws, over LightGBM's own without noise.

    The two grow different trees, dearer ones at first with noise and cheaper ones later, so one training is followed.
    """
    iterations = effort.size(TREES_FOLLOWED, effort.rounds)
    _, labels, starts = lists_like_mslr(effort.size(2000, 60))
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
        rounds = by_turns(
            {
                "rankplug": lightgbm_iteration(data, derivatives, 400, 1),
                "LightGBM": lightgbm_iteration(data, "lambdarank", 400, 1, **native),
            },
            iterations,
        )
        yield measured(
            f"E[lambdarank] of 8 draws, {'truncation 30' if truncation else 'no truncation'}: iteration over"
            " LightGBM's without noise",
            rounds,
            lambda seconds: seconds["rankplug"] / seconds["LightGBM"],
            threads=1,
            target=at_most(1.30),
            note=f"the first {iterations} trees after one to warm up",
        )


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure on one thread, which the targets are about, then on all."""
    for threads in effort.threads:
        with use_threads(threads):
            yield from measure_gradients(effort, threads)
    with use_threads(1):
        yield from measure_stochastic_boosting(effort)
