"""The paper's tables and figures, what its text says it tried, sparse features, and training times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.data import load
from rankplug.losses import Loss
from rankplug.plotting import PALETTE, draw_interval, legend_below, new_figure
from rankplug.statistics import holm, t_interval
from rankplug.studies import (
    Evidence,
    Results,
    Sample,
    beside_published,
    facts_beside_published,
    greater,
    interval_of,
    not_run,
    p_value_of,
)
from rankplug.system import trial_seed
from rankplug_uniquerating.study.protocol import (
    BENCHMARKS,
    CHOICES,
    CUTOFFS,
    ERR,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    NDCG,
    OHSUMED,
    OURS,
    PLACES,
    SPARSE,
    TABLES,
    TEST_SELECTED,
    WEB10K,
    WEB30K,
    err_by_collection,
    group_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    own = rows_of(results, TABLES, NDCG, PLACES[OHSUMED], OHSUMED)
    on_test = rows_of(results, TEST_SELECTED, NDCG, PLACES[OHSUMED], OHSUMED)
    on_test = on_test.assign(model=on_test["model"] + ", selected on the test part")
    return pd.concat([own[own["model"].isin(OURS)], on_test], ignore_index=True), None


def table_6(results: Results) -> Table:
    """Return NDCG with 1 for queries without a relevant document, chosen and measured on the test part as in print."""
    there = [collection for collection in PLACES if group_of(results, collection, LIGHTGBM_EVALUATION)]
    datasets = dict.fromkeys((*there, WEB10K, WEB30K))
    tables = [rows_of(results, LIGHTGBM_EVALUATION, LIGHTGBM_NDCG, "Table 6", dataset) for dataset in datasets]
    return pd.concat(tables, ignore_index=True), None


def significance(results: Results) -> Table:
    """Test our models against the paper's reference, two-sided, over queries and seeds as the data were repeated.

    The reference is LambdaLoss on OHSUMED and LambdaMart-L elsewhere. Holm's correction is over all rows of a
    collection. A star in the published table says that the paper found a difference at the level .05.
    """
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


PUBLISHED = "the collection itself, as published"
"""Name of the data of published gains that are not to be compared with ours."""


def gain(values: pd.DataFrame) -> NDArray[np.float64]:
    """Return ``(best of ours - best benchmark) / best benchmark`` in percent, for each row; a column a model."""
    benchmarks = [model for model in BENCHMARKS if model in values.columns]
    best = values[benchmarks].max(axis=1)
    gains: NDArray[np.float64] = (100 * (values[list(OURS)].max(axis=1) - best) / best).to_numpy(np.float64)
    return gains


def published_gain(published: pd.DataFrame, collection: str, metric: str) -> float:
    """Return the same gain from the published tables."""
    rows = published[
        (published["exhibit"] == PLACES[collection])
        & (published["dataset"] == collection)
        & (published["metric"] == metric)
    ]
    return float(gain(rows.pivot_table(index="metric", columns="model", values="value"))[0])


def gain_frame(results: Results) -> pd.DataFrame:
    """Return our gains with intervals, a row for each collection and metric.

    The published ones stand beside ours where the data are the paper's, and in rows of their own below made data.
    """
    rows, below = [], []
    for collection in PLACES:
        group = group_of(results, collection)
        for metric in (*NDCG, *ERR):
            theirs: dict[str, Any] = {"published (%)": published_gain(results.published, collection, metric)}
            row: dict[str, Any] = {"collection": collection, "on": collection, "metric": metric}
            if group:
                interval = t_interval(gain(results.trials(group, metric)), unit="trials")
                row |= {"ours (%)": interval.point, "half width": interval.half_width, "trials": interval.count}
                row["combination"] = results.combinations_of(group, *results.models(group))
            if group and results.is_made(group):
                rows.append(row | {"on": results.collection(group)})
                below.append({"collection": collection, "on": PUBLISHED, "metric": metric, **theirs})
            else:
                rows.append(row | theirs)
    columns = ["collection", "on", "metric", "ours (%)", "half width", "trials", "published (%)", "combination"]
    return pd.DataFrame([*rows, *below]).reindex(columns=columns)


def draw_gains(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw bars of gains, NDCG above and ERR below, a panel a collection.

    Published gains are bars beside ours on the paper's own data, and rings as a reference over ours on made data.
    Intervals that run off the picture end in arrowheads.
    """
    frame = gain_frame(results)
    ours, reference = frame[frame["on"] != PUBLISHED], frame[frame["on"] == PUBLISHED]
    figure, grid = new_figure(len(PLACES), 2, width=2.5, height=2.3, sharey="row", squeeze=False)
    where = np.arange(len(CUTOFFS))
    for panels, metrics, name in zip(grid, (NDCG, ERR), ("NDCG", "ERR"), strict=True):
        limits = _limits(frame[frame["metric"].isin(metrics)])
        for axes, collection in zip(panels, PLACES, strict=True):
            rows, rings = (
                table[table["collection"] == collection].set_index("metric").reindex(list(metrics))
                for table in (ours, reference)
            )
            is_same = bool(rows["published (%)"].notna().any())
            beside = 0.2 if is_same else 0.0
            if is_same:
                axes.bar(where - beside, rows["published (%)"], 0.38, color="#BBBBBB", label="published")
            axes.bar(where + beside, rows["ours (%)"], 0.38, color=PALETTE[0], label="ours")
            for x, mean, half in zip(where + beside, rows["ours (%)"], rows["half width"], strict=True):
                draw_interval(axes, x, mean - half, mean + half, limits, vertical=True, color="#222222", linewidth=0.8)
            if not is_same:
                label = "published, on the collection itself: a reference"
                axes.plot(where, rings["published (%)"], "o", color=PALETTE[3], markerfacecolor="none", label=label)
            axes.axhline(0, color="#333333", linewidth=0.6)
            axes.set_xticks(where, [f"@{k}" for k in CUTOFFS])
            axes.grid(axis="x", visible=False)
            if rows["ours (%)"].isna().all():
                axes.annotate("not run at this profile", (0.5, 0.97), xycoords="axes fraction", ha="center", va="top")
        panels[0].set_ylim(limits)
        panels[0].set_ylabel(f"gain in {name}\nover best benchmark (%)")
    for axes, collection in zip(grid[0], PLACES, strict=True):
        axes.set_title(f"{collection}\n{_stand_in(results, collection)}", fontsize=8)
    for axes in grid[1]:
        axes.set_xlabel("cut-off k")
    legend_below(figure, columns=3)
    return frame, figure


def _limits(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the vertical axis: room for every bar and ring, and for as much again of intervals."""
    shown = np.concatenate([frame["ours (%)"].dropna(), frame["published (%)"].dropna()]).astype(np.float64)
    bars = np.append(shown, 0.0)
    ends = [*(frame["ours (%)"] - frame["half width"]).dropna(), *(frame["ours (%)"] + frame["half width"]).dropna()]
    reach = 0.6 * float(np.abs(bars).max()) or 1.0
    low, high = bars.min() - reach, bars.max() + reach
    return max(low, min([*ends, *bars]) - 0.1 * reach), min(high, max([*ends, *bars]) + 0.1 * reach)


def _stand_in(results: Results, dataset: str) -> str:
    """Name our data for a collection, short enough for a title."""
    group = group_of(results, dataset)
    if not group:
        return "(published only)"
    return "(ours: made data)" if results.is_made(group) else f"(ours: {results.runs[group].shared['dataset']})"


RATINGS = np.array([2.0, 1.0])
ORDERS = {"right": (20.0, 1.0), "wrong": (1.0, 2.0)}
"""Scores of Section 2's example, for documents rated 2 and 1."""


def table_of_choices(results: Results) -> tuple[pd.DataFrame, None]:
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


def leads_of_choices(results: Results, own: str, others: tuple[str, ...], turned: bool = False) -> dict[str, Sample]:
    """Return the lead of the paper's choice over others in test NDCG@10, or theirs over it."""
    tried, tables = results.groups_run(CHOICES)[0], group_of(results, OHSUMED, TABLES)
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
    return lambda results: greater(leads_of_choices(results, own, others))


NETWORK, TREES, METRIC = "uRank", "uMart", "ndcg@10"


def groups_of(results: Results) -> dict[str, str]:
    """Return the groups with the features as they are and made sparse; empty where these were not run."""
    sparse = next(iter(results.groups(kind=SPARSE)), "")
    return {"as they are": group_of(results, results.place(sparse), TABLES), "made sparse": sparse} if sparse else {}


def trees_gain_where_sparse(results: Results) -> Evidence:
    """Compare the trees' lead over the network on features made sparse with that on the same data as they are."""
    groups = groups_of(results)
    if not groups:
        return not_run("not part of this profile")
    dense, sparse = groups.values()
    cells = {(sparse, TREES): 1.0, (sparse, NETWORK): -1.0, (dense, TREES): -1.0, (dense, NETWORK): 1.0}
    return greater({f"{results.collection(sparse, results.place(sparse))} {METRIC}": results.contrast(METRIC, cells)})


def share_of_zeros(dataset: str, transforms: tuple[str, ...] = (), seed: int = 0) -> float:
    """Return the share of a training part's feature values that are 0, in percent.

    >>> share_of_zeros("synthetic[queries=50,documents=10]", ("sparse_features[share=0.8]",)) > 75
    True
    """
    features = load(dataset, seed=trial_seed(seed, 0), transforms=transforms).train.features
    return 100.0 * (1.0 - float(np.count_nonzero(features)) / features.size)


def table_of_sparsity(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each place's share of zeros and the trees' lead in points, and both where features were made sparse."""
    cells = [(place, "as they are", group) for place in PLACES if (group := group_of(results, place))]
    cells += [(results.place(group), "made sparse", group) for group in list(groups_of(results).values())[1:]]
    rows: list[dict[str, Any]] = []
    for place, features, group in cells:
        runs = results.runs[group]
        first = [name for name in runs.models[TREES]["transforms"] if name.startswith("sparse_features")]
        zeros = share_of_zeros(str(runs.shared["dataset"]), tuple(first), int(runs.shared.get("seed", 0)))
        lead = interval_of(results.contrast(METRIC, {(group, TREES): 100.0, (group, NETWORK): -100.0}))
        row = {"in the place of": place, "features": features, "zeros (%)": zeros, "lead of trees": lead.point}
        row |= {"low": lead.low, "high": lead.high}
        rows.append({**row, "combination": results.combinations_of(group, TREES, NETWORK)})
    columns = ["in the place of", "features", "zeros (%)", "lead of trees", "low", "high", "combination"]
    return pd.DataFrame(rows, columns=columns), None


TIMED = ("uRank", "p-ListMLE", "MDPRank", "LambdaLoss")


def epoch_seconds(results: Results, group: str) -> pd.DataFrame:
    """Return training seconds an epoch without the callbacks' time: a row a trial and fold, a column a model."""
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


def draw_times(results: Results) -> tuple[pd.DataFrame, None]:
    """Return times and ratios with 95 % intervals over trials and folds, beside the printed factors."""
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
