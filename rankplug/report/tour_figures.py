"""The figures of a tour through one combination."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from rankplug.plotting import PALETTE, draw_mean, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.store import Result


def draw_learning_curves(results: Iterable[Result], metric: str) -> Figure:
    """A metric on training and validation data after each iteration, with intervals over trials."""
    curves = [result.curve.frame().set_index("iteration") for result in results]
    figure, axes = new_figure()
    for part, colour in zip(("train", "valid"), PALETTE, strict=False):
        columns = [curve[f"{part} {metric}"] for curve in curves if f"{part} {metric}" in curve]
        if columns:
            draw_mean(axes, pd.concat(columns, axis=1).dropna(), colour, label=part)
    axes.set(xlabel="iteration", ylabel=metric)
    axes.legend()
    return _finished(figure)


def draw_importance(importance: pd.Series[float], count: int) -> Figure:
    """Bars for the features that matter most."""
    top = importance.nlargest(count)[::-1]
    figure, axes = new_figure(height=0.22 * len(top) + 0.8)
    axes.barh([str(feature) for feature in top.index], top, color=PALETTE[0])
    axes.set(xlabel=str(importance.name), ylabel="feature")
    return _finished(figure)


def _finished(figure: Figure) -> Figure:
    import matplotlib.pyplot as plt

    # A figure that stays open is shown by the notebook a second time.
    plt.close(figure)
    return figure
