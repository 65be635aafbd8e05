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


def gain(values: pd.DataFrame) -> NDArray[np.float64]:
    """Return ``(best of ours - best benchmark) / best benchmark`` in percent, for each row; a column a model."""
    benchmarks = [model for model in BENCHMARKS if model in values.columns]
    best = values[benchmarks].max(axis=1)
    gains: NDArray[np.float64] = (100 * (values[list(OURS)].max(axis=1) - best) / best).to_numpy(np.float64)
    return gains


def published_gain(published: pd.DataFrame, place: str, metric: str) -> float:
    """Return the same gain from the published tables."""
    rows = published[
        (published["exhibit"] == PLACES[place]) & (published["dataset"] == place) & (published["metric"] == metric)
    ]
    return float(gain(rows.pivot_table(index="metric", columns="model", values="value"))[0])


def gain_frame(results: Results) -> pd.DataFrame:
    """Return our gains with intervals beside the published ones, a row for each collection and metric."""
    import pandas as pd

    from rankplug.statistics import t_interval

    rows = []
    for place in PLACES:
        for metric in (*NDCG, *ERR):
            row: dict[str, Any] = {"collection": place, "metric": metric}
            group = group_of(results, place)
            if group:
                found = t_interval(gain(results.trials(group, metric)), unit="trials")
                row |= {"ours (%)": found.point, "half width": found.half_width, "trials": found.count}
                row["combination"] = results.combinations_of(group, *results.models(group))
            rows.append(row | {"published (%)": published_gain(results.published, place, metric)})
    columns = ["collection", "metric", "ours (%)", "half width", "trials", "published (%)", "combination"]
    return pd.DataFrame(rows).reindex(columns=columns)


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw bars of both, NDCG above and ERR below, a panel a collection; intervals may run off the picture."""
    from rankplug.plotting import PALETTE, legend_below, new_figure

    frame = gain_frame(results)
    figure, grid = new_figure(len(PLACES), 2, width=2.5, height=2.3, sharey="row", squeeze=False)
    where = np.arange(len(CUTOFFS))
    for panels, metrics, name in zip(grid, (NDCG, ERR), ("NDCG", "ERR"), strict=True):
        for axes, place in zip(panels, PLACES, strict=True):
            rows = frame[frame["collection"] == place].set_index("metric").loc[list(metrics)]
            axes.bar(where - 0.2, rows["published (%)"], 0.38, color="#BBBBBB", label="published")
            half = rows["half width"].to_numpy(np.float64)
            error = {"yerr": half, "error_kw": {"linewidth": 0.8, "capsize": 2}} if np.isfinite(half).all() else {}
            axes.bar(where + 0.2, rows["ours (%)"], 0.38, color=PALETTE[0], label="ours", **error)
            axes.axhline(0, color="#333333", linewidth=0.6)
            axes.set_xticks(where, [f"@{k}" for k in CUTOFFS])
            axes.grid(axis="x", visible=False)
            if rows["ours (%)"].isna().all():
                axes.annotate("not run at this profile", (0.5, 0.97), xycoords="axes fraction", ha="center", va="top")
        bars = frame.loc[frame["metric"].isin(metrics), ["ours (%)", "published (%)"]].to_numpy()
        reach = 0.4 * np.nanmax(np.abs(bars))
        panels[0].set_ylim(min(np.nanmin(bars), 0.0) - reach, np.nanmax(bars) + reach)
        panels[0].set_ylabel(f"gain in {name}\nover best benchmark (%)")
    for axes, place in zip(grid[0], PLACES, strict=True):
        axes.set_title(f"{place}\n{_stand_in(results, place)}", fontsize=8)
    for axes in grid[1]:
        axes.set_xlabel("cut-off k")
    legend_below(figure, columns=2)
    return frame, figure


def _stand_in(results: Results, place: str) -> str:
    """Name our data for a collection, short enough for a title."""
    group = group_of(results, place)
    if not group:
        return "(published only)"
    return "(ours: made data)" if results.is_made(group) else f"(ours: {results.runs[group].shared['dataset']})"
