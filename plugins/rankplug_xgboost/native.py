"""XGBoost's own ranking objectives, as baselines, from the parameters of the losses of ours they correspond to."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankplug.data import Integers, Lists
from rankplug.errors import DataError, FitError
from rankplug.training import Problem

LARGEST_LABEL = 31


def native_settings(problem: Problem) -> dict[str, Any]:
    """Return XGBoost's parameters for the problem's loss, after checking that the data are within its limits."""
    name = problem.loss.specification.name
    if name not in NATIVE:
        raise FitError(
            f"XGBoost has no objective of its own for {name}, only for {' and '.join(NATIVE)}; leave native away"
        )
    if problem.sampler is not None:
        raise FitError("XGBoost's own objectives take no sampler; leave native or the sampler away")
    if problem.train.labels.min() < 0:
        raise DataError(f"XGBoost's own objectives take labels of zero or more, got {problem.train.labels.min():g}")
    if (largest := problem.train.labels.max()) > LARGEST_LABEL:
        raise DataError(
            f"XGBoost's own objectives take labels up to {LARGEST_LABEL}, these go to {largest:g}: leave native away,"
            " or map the labels"
        )
    parameters: Any = problem.loss.parameters
    if getattr(parameters, "sigma", 1.0) != 1.0:
        raise FitError(f"XGBoost's own objectives have sigma=1, not {parameters.sigma:g}; leave native away")
    longest = int(problem.train.lengths.max())
    truncation = getattr(parameters, "truncation", None)
    return {
        "objective": NATIVE[name],
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": longest if truncation is None else min(truncation, longest),
        "lambdarank_normalization": getattr(parameters, "norm", False),
        **({} if problem.positions is None else _unbiased(problem.train, problem.positions)),
    }


def _unbiased(lists: Lists, positions: Integers) -> dict[str, Any]:
    """Return XGBoost's parameters for unbiased LambdaMART, to which the order of documents tells their positions."""
    places = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths) + 1
    if not np.array_equal(positions, places):
        raise DataError(
            "XGBoost's unbiased LambdaMART takes documents in the order in which they were shown, from position 1"
            " down; sort those of each list by position"
        )
    return {"lambdarank_unbiased": True}


NATIVE = {"lambdarank": "rank:ndcg", "ranknet": "rank:pairwise"}
