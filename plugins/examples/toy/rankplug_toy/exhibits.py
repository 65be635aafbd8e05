"""The figure and the table: functions of results, which train nothing."""

from typing import TYPE_CHECKING

from rankplug.plotting import draw_curves, legend_below, new_figure
from rankplug.studies import Results, beside_published

from rankplug_toy.protocol import COLOURS, MODELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def table_1(results: Results) -> "tuple[pd.DataFrame, None]":
    """Return means on test data with intervals, beside the numbers of ``published.csv``."""
    return beside_published(results, "quality", ("ndcg@5", "ndcg@10"), exhibit="Table 1", dataset="A collection"), None


def figure_1(results: Results) -> "tuple[pd.DataFrame, Figure]":
    """Draw validation NDCG@5 over trees: means with intervals."""
    curves = results.curves("quality", "valid", "ndcg@5")
    figure, axes = new_figure()
    shown = curves.assign(iteration=curves["iteration"] + 1)
    draw_curves(axes, shown, MODELS, colours=COLOURS, **results.spread("quality"))
    axes.set(xlabel="trees", ylabel="validation NDCG@5")
    legend_below(figure, columns=len(MODELS))
    return curves[["model", "trial", "iteration", "value", "combination"]], figure
