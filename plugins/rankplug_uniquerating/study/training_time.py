"""Section 5's remarks on speed: the time of an epoch of uRank and of others, from the records of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankplug.studies import Results
from rankplug_uniquerating.study.protocol import PLACES, group_of

if TYPE_CHECKING:
    import pandas as pd

TIMED = ("uRank", "p-ListMLE", "MDPRank", "LambdaLoss")


def epoch_seconds(results: Results, group: str) -> pd.DataFrame:
    """Return training seconds an epoch without the callbacks' time: a row a trial and fold, a column a model."""
    import pandas as pd

    frame = results[group]
    model_of = {
        (identity, fold): model
        for identity, fold, model in frame[["combination", "fold", "model"]].drop_duplicates().itertuples(index=False)
    }
    rows = []
    for about in results.records:
        model = model_of.get((about["identity"], about["fold"]))
        if model in TIMED:
            record = about["record"]
            value = record["seconds"]["training"] / max(record["iterations"], 1)
            rows.append({"model": model, "trial": about["trial"], "fold": about["fold"], "seconds": value})
    wide = pd.DataFrame(rows).pivot_table(index=["trial", "fold"], columns="model", values="seconds")
    return wide[[model for model in TIMED if model in wide.columns]]


def draw(results: Results) -> tuple[pd.DataFrame, None]:
    """Return times and ratios with 95 % intervals over trials and folds, beside the printed factors."""
    import pandas as pd

    from rankplug.statistics import t_interval

    printed = {}
    for row in results.published[results.published["exhibit"] == "Section 5"].itertuples():
        printed[row.model] = f"{row.value:g}-{str(row.note).removeprefix('up to ')}"
    rows = []
    for collection in PLACES:
        group = group_of(results, collection)
        if not group:
            continue
        times = epoch_seconds(results, group)
        for model in times.columns:
            factor = t_interval((times[model] / times["uRank"]).to_numpy(np.float64), unit="trials")
            rows.append(
                {"on": results.collection(group, collection), "model": model, "ms an epoch": 1e3 * times[model].mean()}
                | {"over uRank's": factor.point, "half width": factor.half_width, "runs": factor.count}
                | {"published": printed.get(f"uRank vs {model}", "")}
                | {"combination": results.combinations_of(group, model, "uRank")}
            )
    return pd.DataFrame(rows), None
