"""Effects of noise and of the network: plain and expected losses on both networks, equally tuned."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from rankplug.studies import Results, Sample, interval_of
from rankplug_stochastic.study.experiments.convergence import METRIC
from rankplug_stochastic.study.protocol import BY_NAME, CROSSED, LOSSES_OF_NETWORKS, NETWORKS, arm

PLAIN = tuple(loss for loss in LOSSES_OF_NETWORKS if not BY_NAME[loss].expected)


def effects(loss: str) -> dict[str, Mapping[str, float]]:
    """Return the contrasts of a loss, as weights of its four models.

    >>> effects("ApproxNDCG")["the network and optimiser B, without noise"]
    {'ApproxNDCG, B': 1.0, 'ApproxNDCG, A': -1.0}
    """
    plain, noisy = ({network: arm(model, network) for network in NETWORKS} for model in (loss, f"E[{loss}]"))
    return {
        "noise, with A": {noisy["A"]: 1.0, plain["A"]: -1.0},
        "noise, with B": {noisy["B"]: 1.0, plain["B"]: -1.0},
        "the network and optimiser B, without noise": {plain["B"]: 1.0, plain["A"]: -1.0},
        "the network and optimiser B, with noise": {noisy["B"]: 1.0, noisy["A"]: -1.0},
        "both, as in the paper's setting B": {noisy["B"]: 1.0, plain["A"]: -1.0},
    }


def effect(results: Results, weights: Mapping[str, float], metric: str = METRIC) -> Sample:
    """Return the test quality of some models less that of others."""
    group = results.groups_run(CROSSED)[0]
    return results.contrast(metric, {(group, model): weight for model, weight in weights.items()})


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return what each change gives in points of NDCG@5, with its interval."""
    group = results.groups_run(CROSSED)[0]
    rows = []
    for loss in PLAIN:
        for name, weights in effects(loss).items():
            interval = interval_of(effect(results, weights))
            rows.append(
                {"loss": loss, "what is added": name, "gain": 100 * interval.point, "low": 100 * interval.low}
                | {"high": 100 * interval.high, "combination": _behind(results, group, weights)}
            )
    return pd.DataFrame(rows), None


def four_models(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the test NDCG@5 of every loss with every network in percent."""
    group = results.groups_run(CROSSED)[0]
    rows = []
    for loss in LOSSES_OF_NETWORKS:
        for network in NETWORKS:
            model = arm(loss, network)
            mean = results.mean(group, METRIC, model, scale=100)
            rows.append(
                {"loss": loss, "network": network, "ours": mean.point, "low": mean.low, "high": mean.high}
                | {"combination": _behind(results, group, [model])}
            )
    return pd.DataFrame(rows), None


def _behind(results: Results, group: str, models: Mapping[str, float] | list[str]) -> str:
    frame = results[group]
    return " ".join(sorted(set(frame.loc[frame["model"].isin(list(models)), "combination"])))
