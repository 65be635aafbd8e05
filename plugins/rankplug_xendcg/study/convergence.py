"""Figure 1: quality as trees are added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankplug.studies import Results
from rankplug_xendcg.study.colours import COLOURS
from rankplug_xendcg.study.protocol import COMPARED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

METRIC = "ndcg@5"


def figure_1(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw validation NDCG@5 of lambdaMART and XE-NDCG on each collection: means over trials with intervals."""
    import pandas as pd

    from rankplug.plotting import draw_curves, keep_within, legend_below, new_figure

    groups = results.groups(kind="quality")
    figure, panels = new_figure(len(groups), width=4.0, height=3.1, squeeze=False)
    frames = []
    for panel, group, letter in zip(panels[0], groups, "ab", strict=False):
        curves = results.curves(group, "valid", METRIC, COMPARED)
        shown = curves.assign(value=100 * curves["value"], iteration=curves["iteration"] + 1)
        draw_curves(panel, shown, COMPARED, colours=COLOURS, **results.spread(group))
        collection = results.place(group)
        keep_within(panel, 0, 100)
        panel.set(xlabel="trees", ylabel="validation NDCG@5 (%)", title=f"({letter}) in the place of {collection}")
        columns = ["dataset", "model", "trial", "iteration", "value", "combination"]
        frames.append(curves[columns].rename(columns={"value": METRIC}).assign(place=collection))
    legend_below(figure, columns=2)
    return pd.concat(frames, ignore_index=True), figure


def gaps(results: Results, group: str) -> pd.DataFrame | None:
    """Return XE-NDCG's lead over lambdaMART in validation NDCG@5, by number of trees, and by trial and fold."""
    return results.lead_in_training(group, "XE-NDCG", "lambdaMART", "valid", METRIC)


def gap_at(curve: pd.DataFrame, share: float) -> pd.Series[float]:
    """Return the mean gap over the trees up to a tenth before a share of them."""
    end = max(int(np.ceil(share * len(curve))), 1)
    return curve.iloc[max(end - max(len(curve) // 10, 1), 0) : end].mean()
