"""How figures look: one palette for the colour-blind, the same colour for the same model everywhere, intervals shown.

The colours are those of Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8C6D1F", "#555555", "#000000")
STYLE: dict[Any, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 300,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
# A model keeps its colour in every figure of every paper; one not named here has the colour its name's digest picks.
COLOURS: dict[str, str] = {
    "lambdaMART": PALETTE[0],
    "E[lambdaMART]": PALETTE[4],
    "ApproxNDCG": PALETTE[3],
    "E[ApproxNDCG]": PALETTE[1],
    "CrossEntropy": PALETTE[7],
    "E[CrossEntropy]": PALETTE[5],
    "ListNet": PALETTE[7],
    "XE-NDCG": PALETTE[2],
    "uMart": PALETTE[2],
    "uRank": PALETTE[5],
    "uBoost": PALETTE[1],
    "urBoost": PALETTE[3],
    "MLE": PALETTE[0],
    "ExpGain_AUC": PALETTE[1],
    "L3_AUC": PALETTE[2],
    "Convex_AUC": PALETTE[3],
    "Convex_NDCG": PALETTE[3],
}


def colour(model: str) -> str:
    """A model's colour."""
    return COLOURS.get(model) or PALETTE[zlib.crc32(model.encode()) % len(PALETTE)]


def new_figure(
    columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.0, **options: Any
) -> tuple[Any, Any]:
    """A figure in the project's style and its axes, one row of them or a grid."""
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), **options)
    return figure, axes


def draw_curves(
    axes: Axes, curves: pd.DataFrame, models: Iterable[str], label: str = "{model}", **options: Any
) -> None:
    """Mean learning curves over the trials, as far as all of them go, with 95 % t intervals.

    Args:
        axes: to draw on.
        curves: rows of :meth:`rankplug.studies.Results.curves`; the folds of a trial are averaged.
        models: in the order of the legend.
        label: of the legend.
        options: of the lines.
    """
    for model in models:
        of_trials = curve_of_trials(curves[curves["model"] == model])
        if not of_trials.empty:
            draw_mean(axes, of_trials, colour(model), label=label.format(model=model), **options)


def curve_of_trials(curves: pd.DataFrame) -> pd.DataFrame:
    """One model's learning curves: a row for each iteration that all trials reached, a column for each trial."""
    of_folds = curves.pivot_table(index="iteration", columns=["trial", "fold"], values="value", observed=True)
    return of_folds.dropna().T.groupby(level="trial").mean().T


def draw_mean(axes: Axes, of_trials: pd.DataFrame, colour: str, **options: Any) -> None:
    """A line through the rows' means, with their 95 % t intervals as a band.

    Args:
        axes: to draw on.
        of_trials: its index is the horizontal axis, each column a trial.
        colour: of the line and the band.
        options: of the line.
    """
    from rankplug.statistics import t_interval

    intervals = [t_interval(row, unit="trials") for row in of_trials.to_numpy()]
    axes.plot(of_trials.index, [one.point for one in intervals], color=colour, **options)
    if of_trials.shape[1] > 1:
        low, high = ([getattr(one, end) for one in intervals] for end in ("low", "high"))
        axes.fill_between(of_trials.index, low, high, color=colour, alpha=0.15, linewidth=0)


def keep_within(axes: Axes, low: float, high: float) -> None:
    """Cuts the vertical axis where no value can be; intervals of a few trials may reach farther."""
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(bottom, low), min(top, high))


def legend_below(figure: Figure, columns: int) -> None:
    """One legend for all axes, below them, so that it covers nothing."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Writes a figure as PDF and PNG at publication size."""
    paths = [stem.with_suffix(suffix) for suffix in (".pdf", ".png")]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight", dpi=STYLE["savefig.dpi"])
    return paths
