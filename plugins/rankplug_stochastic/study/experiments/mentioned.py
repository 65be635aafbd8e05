"""Models that the paper mentions without numbers, and dropout in the other place, beside those they compare with."""

from __future__ import annotations

import pandas as pd

from rankplug.studies import Results
from rankplug_stochastic.study.protocol import MENTIONED, METRICS

BESIDE = {"fixed": ("CrossEntropy", "ApproxNDCG", "E[ApproxNDCG]", "lambdaMART"), "tuned": ("E[ApproxNDCG]",)}


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return test NDCG in percent with intervals; empty where the profile does not have these runs."""
    groups = results.groups(kind=MENTIONED)
    if not groups:
        return pd.DataFrame(columns=["model", "setting", "metric", "ours", "half width", "combination"]), None
    cells = [(groups[0], model, "") for model in results.models(groups[0])]
    cells += [(results.groups_run(kind)[0], model, kind) for kind, models in BESIDE.items() for model in models]
    rows = []
    for group, model, setting in cells:
        for metric in METRICS:
            mean = results.mean(group, metric, model, scale=100)
            row = {"model": model, "setting": setting, "metric": metric, "ours": mean.point}
            rows.append(row | {"half width": mean.half_width, "combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows), None
