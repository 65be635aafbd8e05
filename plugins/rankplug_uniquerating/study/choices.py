"""Choices that the text says it tried, without numbers: cells, pooling, prediction, selection, scaling; and the example
of Section 2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankplug.studies import Results
from rankplug_uniquerating.study.protocol import CHOICES, NDCG, OHSUMED, TABLES, group_of

RATINGS = np.array([2.0, 1.0])
ORDERS = {"right": (20.0, 1.0), "wrong": (1.0, 2.0)}
"""Scores of Section 2's example, for documents rated 2 and 1."""


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return test NDCG with intervals, the paper's own choices first; empty where the profile does not have them."""
    tried, own = group_of(results, OHSUMED, CHOICES), group_of(results, OHSUMED, TABLES)
    if not tried:
        return pd.DataFrame(columns=["model", "metric", "ours", "half width", "combination"]), None
    cells = [(own, "uRank"), (own, "uMart"), *((tried, model) for model in results.models(tried))]
    rows = []
    for group, model in cells:
        for metric in NDCG:
            mean = results.mean(group, metric, model)
            row = {"model": model, "metric": metric, "ours": mean.point, "half width": mean.half_width}
            rows.append({**row, "combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows), None


def loss_of_example(loss: str, order: str) -> float:
    """Return the loss of one of the two score vectors.

    >>> round(loss_of_example("listnet", "right"), 6), round(loss_of_example("listnet", "wrong"), 6)
    (5.109887, 1.04432)
    """
    from rankplug.losses import Loss

    return float(Loss.named(loss).evaluate(np.array(ORDERS[order]), RATINGS, np.array([0, 2])).value[0])


def excess_of_the_right_order(loss: str) -> float:
    """Return how much more the right order costs than the wrong one."""
    return loss_of_example(loss, "right") - loss_of_example(loss, "wrong")


def example(results: Results | None = None) -> tuple[pd.DataFrame, None]:
    """Return the example's losses under ListNet and uRank."""
    rows = [
        {
            "loss": loss,
            **{f"{order}: scores {scores}": loss_of_example(loss, order) for order, scores in ORDERS.items()},
        }
        for loss in ("listnet", "urank")
    ]
    return pd.DataFrame(rows), None
