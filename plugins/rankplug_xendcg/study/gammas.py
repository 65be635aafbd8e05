"""Effect of drawing gamma: XE-NDCG with gammas anew for each tree, drawn once, or fixed."""

from __future__ import annotations

import pandas as pd

from rankplug.studies import Results, interval_of
from rankplug_xendcg.study.protocol import GAMMA, GAMMAS, METRICS


def group_of(results: Results) -> str:
    """Return the group of runs, on the first collection."""
    return results.groups_run(GAMMA)[0]


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each way's test quality in percent, and the paper's lead over it in points with its interval."""
    group, (papers, *others) = group_of(results), GAMMAS
    rows = []
    for model in (papers, *others):
        for metric in METRICS:
            mean = results.mean(group, metric, model, scale=100)
            row = {"gamma": model, "metric": metric, "ours": mean.point, "half width": mean.half_width}
            if model != papers:
                lead = interval_of(results.contrast(metric, {(group, papers): 100.0, (group, model): -100.0}))
                row |= {"lead of the paper's": lead.point, "low": lead.low, "high": lead.high}
            rows.append({**row, "combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows), None
