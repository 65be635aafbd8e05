"""The paper's tables beside the published numbers: what the collections hold, and NDCG and ERR on test data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rankplug.statistics import holm
from rankplug.studies import Results, beside_published, facts_beside_published, interval_of, p_value_of
from rankplug_uniquerating.study.protocol import (
    BENCHMARKS,
    ERR,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    NDCG,
    OURS,
    PLACES,
    TABLES,
    TEST_SELECTED,
    err_by_collection,
    group_of,
)
from rankplug_uniquerating.study.sizes import OHSUMED, WEB10K, WEB30K

if TYPE_CHECKING:
    import pandas as pd

Table = tuple["pd.DataFrame", None]
COLUMNS_OF_FACTS = ("paper's data", "our data", "fact", "published", "ours", "difference")
COLUMNS = (
    "published on",
    "data",
    "ours on",
    "model",
    "metric",
    "ours",
    "half width",
    "trials",
    "published",
    "published half width",
    "difference",
    "combination",
)
"""Those of :func:`rankplug.studies.beside_published`."""


def rows_of(results: Results, kind: str, metrics: tuple[str, ...], exhibit: str, collection: str) -> pd.DataFrame:
    """Return a row for each model and metric: ours with interval, published, difference; only published where none was
    run.
    """
    group = group_of(results, collection, kind)
    if group:
        return beside_published(results, group, metrics, exhibit=exhibit, dataset=collection, scale=1.0)
    printed = results.published
    printed = printed[
        (printed["exhibit"] == exhibit) & (printed["dataset"] == collection) & printed["metric"].isin(metrics)
    ].rename(columns={"dataset": "published on", "value": "published", "half_width": "published half width"})
    return printed.assign(**{"ours on": "no data"}).reindex(columns=COLUMNS)


def table_of(collection: str) -> Callable[[Results], Table]:
    """Return a function that makes Table 2, 3, 4 or 5."""

    def draw(results: Results) -> Table:
        return rows_of(results, TABLES, (*NDCG, *ERR), PLACES[collection], collection), None

    return draw


def test_selected(results: Results) -> Table:
    """Return the published rows on OHSUMED beside ours, the epoch selected on validation data and on the test part."""
    import pandas as pd

    own = rows_of(results, TABLES, NDCG, PLACES[OHSUMED], OHSUMED)
    on_test = rows_of(results, TEST_SELECTED, NDCG, PLACES[OHSUMED], OHSUMED)
    on_test = on_test.assign(model=on_test["model"] + ", selected on the test part")
    return pd.concat([own[own["model"].isin(OURS)], on_test], ignore_index=True), None


def table_6(results: Results) -> Table:
    """Return NDCG with 1 for queries without a relevant document, chosen and measured on the test part as in print."""
    import pandas as pd

    there = [collection for collection in PLACES if group_of(results, collection, LIGHTGBM_EVALUATION)]
    datasets = dict.fromkeys((*there, WEB10K, WEB30K))
    tables = [rows_of(results, LIGHTGBM_EVALUATION, LIGHTGBM_NDCG, "Table 6", dataset) for dataset in datasets]
    return pd.concat(tables, ignore_index=True), None


def significance(results: Results) -> Table:
    """Test our models against the paper's reference, two-sided, over queries and seeds as the data were repeated.

    The reference is LambdaLoss on OHSUMED and LambdaMart-L elsewhere. Holm's correction is over all rows of a
    collection. A star in the published table says that the paper found a difference at the level .05.
    """
    import pandas as pd

    starred = results.published[results.published["note"].astype(str).str.startswith("*")]
    stars = set(zip(starred["exhibit"], starred["model"], starred["metric"], strict=True))

    frames = []
    for collection in PLACES:
        group = group_of(results, collection)
        if not group:
            continue
        reference = "LambdaLoss" if collection == OHSUMED else "LambdaMart-L"
        rows = []
        for metric in NDCG:
            for model in OURS:
                sample = results.difference(group, metric, model, reference)
                interval, p = interval_of(sample), p_value_of(sample)
                rows.append(
                    {"collection": collection, "on": results.collection(group, collection)}
                    | {"model": model, "reference": reference, "metric": metric}
                    | {"difference": interval.point, "low": interval.low, "high": interval.high}
                    | {"over": sample.extent, "p": 2 * min(p, 1 - p)}
                    | {"combination": results.combinations_of(group, model, reference)}
                    | {"published": "*" if (PLACES[collection], model, metric) in stars else ""}
                )
        frame = pd.DataFrame(rows)
        frames.append(frame.assign(**{"p (Holm)": holm(frame["p"]).p_values}))
    return pd.concat(frames, ignore_index=True), None


def err_by_definition(results: Results) -> Table:
    """Return ERR by the query's largest rating and by the collection's, and ERR@1 over NDCG@1 (A1).

    With one definition the ratio is nearly the same for all models of a collection. The published ones are not.
    """
    import pandas as pd

    printed = results.published.pivot_table(index=["dataset", "model"], columns="metric", values="value")
    ratios = printed[ERR[0]] / printed[NDCG[0]]
    rows = []
    for collection in PLACES:
        for model in (*OURS, *BENCHMARKS):
            if (collection, model) not in ratios.index:
                continue
            group = group_of(results, collection)
            row: dict[str, Any] = {"collection": collection}
            row |= {"ours on": results.collection(group, collection) if group else ""}
            row |= {"model": model, "published ratio": float(ratios[collection, model])}
            if group:
                overall = err_by_collection(ERR[0], results.runs[group].level)
                means = {name: results.trials(group, name)[model].mean() for name in (NDCG[0], ERR[0], overall)}
                row |= {"NDCG@1": means[NDCG[0]], "ERR@1, query's largest": means[ERR[0]]}
                row |= {"ERR@1, collection's largest": means[overall], "ratio": means[ERR[0]] / means[NDCG[0]]}
                row["ratio, collection's largest"] = means[overall] / means[NDCG[0]]
                row["combination"] = results.combinations_of(group, model)
            rows.append(row)
    return pd.DataFrame(rows), None


def table_1(results: Results) -> tuple[pd.DataFrame, None]:
    """Return what the collections hold, each number beside the printed one; only that where their place is empty.

    There is a difference only of a collection itself: made data have sizes of their own.
    """
    import pandas as pd

    there = {collection: group for collection in PLACES if (group := group_of(results, collection))}
    printed = results.published[results.published["exhibit"] == "Table 1"]
    printed = printed[~printed["dataset"].isin(there)].rename(
        columns={"dataset": "paper's data", "metric": "fact", "value": "published"}
    )
    table = pd.concat(
        [facts_beside_published(results, "Table 1", there), printed.assign(**{"our data": "no data"})],
        ignore_index=True,
    )
    same = [collection for collection, group in there.items() if not results.is_made(group)]
    table["difference"] = (
        (table["ours"] - table["published"]).where(table["paper's data"].isin(same)) if there else None
    )
    return table.reindex(columns=list(COLUMNS_OF_FACTS)), None
