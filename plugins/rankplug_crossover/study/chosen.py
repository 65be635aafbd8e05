"""The combination that validation data choose, of all and of each paper's own, measured on the test data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rankplug.statistics import t_interval
from rankplug.studies import Results
from rankplug_crossover.study.protocol import METRICS, paper_of
from rankplug_crossover.study.quality import identities, query_values, validation_means

WHO = ("new combination", "stochastic", "xendcg", "uniquerating", "logrank")
MARK = {"ndcg@1": 55.0, "ndcg@3": 50.0, "ndcg@5": 48.0, "ndcg@10": 45.5}
"""What the best validation-selected model should pass on OHSUMED."""


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """For each collection a row for the best of every paper and of the new combinations, by validation NDCG@5."""
    rows: list[dict[str, Any]] = []
    for group in results.groups():
        validation = validation_means(results, group)
        names = identities(results, group).set_index("model")["combination"]
        values = {metric: query_values(results, group, metric) for metric in METRICS}
        for who in WHO:
            chosen = next(model for model in validation.index if paper_of(model) == ("" if who == WHO[0] else who))
            row = {"collection": group, "chosen among": who, "model": chosen, "validation": 100 * validation[chosen]}
            for metric in METRICS:
                interval = t_interval(100 * values[metric][chosen], unit="queries")
                row |= {metric.upper(): interval.point, f"{metric.upper()} half width": interval.half_width}
            rows.append(row | {"queries": len(values[METRICS[0]]), "combination": names[chosen]})
    return pd.DataFrame(rows), None
