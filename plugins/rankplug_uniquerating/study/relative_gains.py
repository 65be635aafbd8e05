"""Figure 1: how far the best of uRank, uBoost, uMart and urBoost lies above the best benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_uniquerating.study.protocol import BENCHMARKS, CUTOFFS, ERR, NDCG, OURS, PLACES, group_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
    import pandas as pd

    from rankplug.statistics import t_interval

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


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw bars of gains, NDCG above and ERR below, a panel a collection.

    Published gains are bars beside ours on the paper's own data, and rings as a reference over ours on made data.
    Intervals that run off the picture end in arrowheads.
    """
    from rankplug.plotting import PALETTE, draw_interval, legend_below, new_figure

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
