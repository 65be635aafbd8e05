"""LightGBM's own ranking objectives, as baselines, from the parameters of the losses of ours they correspond to."""

from __future__ import annotations

from typing import Any

from rankplug.errors import DataError, FitError
from rankplug.system import stream
from rankplug.training import Problem

LONGEST_LIST = 10_000
LARGEST_LABEL = 30


def native_settings(problem: Problem) -> dict[str, Any]:
    """Return LightGBM's parameters for the problem's loss, after checking that the data are within its limits."""
    name = problem.loss.specification.name
    if name not in NATIVE:
        raise FitError(
            f"LightGBM has no objective of its own for {name}, only for {' and '.join(NATIVE)}; leave native away"
        )
    if problem.sampler is not None:
        raise FitError("LightGBM's own objectives take no sampler; leave native or the sampler away")
    if problem.positions is not None and name != "lambdarank":
        raise FitError(f"LightGBM debiases its lambdarank alone, not {name}; take the loss lambdarank")
    _check_limits(problem)
    return {"objective_seed": stream(problem.seed, "noise") % 2**31, **NATIVE[name](problem.loss.parameters)}


def _lambdarank(parameters: Any) -> dict[str, Any]:
    truncation = getattr(parameters, "truncation", None)
    return {
        "objective": "lambdarank",
        "sigmoid": parameters.sigma,
        "lambdarank_norm": parameters.norm,
        "lambdarank_truncation_level": LONGEST_LIST if truncation is None else truncation,
    }


def _xe_ndcg(parameters: Any) -> dict[str, Any]:
    same_draws = {"objective_seed": parameters.objective_seed} if parameters.gamma_rng == "lightgbm" else {}
    return {"objective": "rank_xendcg", **same_draws}


NATIVE = {"lambdarank": _lambdarank, "xe_ndcg": _xe_ndcg}


def _check_limits(problem: Problem) -> None:
    for name, lists in (("training", problem.train), ("validation", problem.valid)):
        if lists is None:
            continue
        if lists.lengths.max() > LONGEST_LIST:
            raise DataError(
                f"LightGBM's own objectives take lists of up to {LONGEST_LIST:,} documents; the longest of the"
                f" {name} data has {lists.lengths.max():,}: leave native away, or truncate the lists"
            )
        if lists.labels.min() < 0 or (lists.labels % 1).any():
            raise DataError(
                f"LightGBM's own objectives take whole labels of zero or more, and those of the {name} data are not:"
                " leave native away, or map the labels"
            )
        if lists.labels.max() > LARGEST_LABEL:
            raise DataError(
                f"LightGBM's own objectives take labels up to {LARGEST_LABEL}; those of the {name} data go to"
                f" {lists.labels.max():g}: leave native away, or map the labels"
            )
