"""Choices that the text says it tried, without numbers: cells, pooling, prediction, selection, scaling; and the example
of Section 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from rankplug.studies import Check, Checks, Evidence, Results, Sample, greater, no_greater, not_run
from rankplug_uniquerating.study.equations import ROUNDING
from rankplug_uniquerating.study.protocol import CHOICES, NDCG, TABLES, WINDOWS, group_of
from rankplug_uniquerating.study.sizes import OHSUMED

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


def listnet_prefers_the_wrong_order(results: Results) -> Evidence:
    """Check the example of Section 2, with uRank as the control."""
    return Checks(
        {
            "": Check(
                "ListNet's loss of scores (20, 1) less that of (1, 2), for ratings (2, 1)",
                excess_of_the_right_order("listnet"),
                at_least=ROUNDING,
                control=excess_of_the_right_order("urank"),
                control_of="uRank's",
            )
        }
    )


def leads_of_choices(results: Results, own: str, others: tuple[str, ...], turned: bool = False) -> dict[str, Sample]:
    """Return the lead of the paper's choice over others in test NDCG@10, or theirs over it; empty where not run."""
    tried, tables = group_of(results, OHSUMED, CHOICES), group_of(results, OHSUMED, TABLES)
    if not tried:
        return {}
    group = tried if own in results.models(tried) else tables
    data, sign = results.collection(tried), -1.0 if turned else 1.0
    return {
        f"{data} ndcg@10, {' - '.join((other, own) if turned else (own, other))}": results.contrast(
            "ndcg@10", {(group, own): sign, (tried, other): -sign}
        )
        for other in others
    }


def chosen_well(own: str, *others: str) -> Callable[[Results], Evidence]:
    """Return the statistic that compares the paper's choice with what else it tried."""

    def gather(results: Results) -> Evidence:
        parts = leads_of_choices(results, own, others)
        return greater(parts) if parts else not_run("not part of this profile")

    return gather


def wider_windows_do_not_help(results: Results) -> Evidence:
    """Compare uMart's wider windows with those of two documents."""
    parts = leads_of_choices(results, "uMart", tuple(WINDOWS), turned=True)
    return no_greater(parts) if parts else not_run("not part of this profile")
