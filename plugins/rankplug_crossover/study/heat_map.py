"""The heat map: quality of every loss with every backend, plain and with noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rankplug.studies import Results
from rankplug_crossover.study.better import better_than_papers
from rankplug_crossover.study.protocol import BACKENDS, METRIC, NOISY, PLAIN, Cell, paper_of, whole_grids
from rankplug_crossover.study.quality import grid, heading, quality

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEY = "±: half of the 95 % interval; framed: a paper's own; *: leads the best of the papers"


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw a panel for each collection; losses are sorted by their best cell, papers' own cells are framed."""
    from rankplug.plotting import new_figure

    frames = {group: quality(results, group) for group in whole_grids(results)}
    shown = {group: _sorted(grid(frame, "ours")) for group, frame in frames.items()}
    height = 1.6 + 0.36 * max(map(len, shown.values()))
    figure, axes = new_figure(len(frames), width=8.6, height=height, squeeze=False)
    for panel, (group, cells) in zip(axes[0], shown.items(), strict=True):
        half = grid(frames[group].assign(half=(frames[group]["high"] - frames[group]["low"]) / 2), "half")
        better = better_than_papers(results, group)
        _panel(panel, cells, half.loc[cells.index], set(better.loc[better["better"], "model"]))
        queries = int(frames[group]["queries"].iloc[0])
        panel.set_title(f"{heading(results, group)}, {queries} test queries\n{KEY}", fontsize=9)
    joined = pd.concat([frame.assign(collection=group) for group, frame in frames.items()], ignore_index=True)
    return joined, figure


def _sorted(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.loc[cells.max(axis=1).sort_values(ascending=False, kind="stable").index]


def _make_legible(axes: Axes) -> None:
    """Write dark on light cells and white on dark ones, as the larger contrast by WCAG's formula asks for."""
    colours = np.asarray(axes.collections[0].get_facecolor(), np.float64)
    width = round(abs(np.diff(axes.get_xlim())[0]))
    for text in axes.texts:
        x, y = text.get_position()
        share = np.asarray(colours[int(y) * width + int(x)][:3])
        light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
        text.set_color("#111111" if light > 0.18 else "#FFFFFF")


def _panel(axes: Axes, cells: pd.DataFrame, half: pd.DataFrame, better: set[str]) -> None:
    import seaborn
    from matplotlib.patches import Rectangle

    values, reach = cells.to_numpy(np.float64), half.to_numpy(np.float64)
    columns = [(str(column[0]), str(column[1])) for column in cells.columns]
    models = np.array([[Cell(str(loss), *column).model for column in columns] for loss in cells.index])
    texts = np.array(
        [
            f"{value:.1f} ± {own:.1f}{' *' if model in better else ''}"
            for value, own, model in zip(values.flat, reach.flat, models.flat, strict=True)
        ]
    ).reshape(values.shape)
    axes.set_facecolor("#DDDDDD")
    seaborn.heatmap(
        pd.DataFrame(values, index=cells.index),
        ax=axes,
        annot=texts,
        fmt="",
        annot_kws={"fontsize": 8},
        cmap="cividis",
        # A few that fail altogether would leave one colour for all the others.
        vmin=float(np.nanquantile(values, 0.05)),
        vmax=float(np.nanmax(values)),
        cbar_kws={"label": f"{METRIC.upper()} (%)", "shrink": 0.5, "pad": 0.02, "extend": "min"},
    )
    _make_legible(axes)
    axes.grid(visible=False)
    for row, column in np.argwhere(np.isnan(values)):
        axes.text(column + 0.5, row + 0.5, "not run", ha="center", va="center", fontsize=8, color="#333333")
    for row, column in np.argwhere([[bool(paper_of(model)) for model in line] for line in models]):
        if not np.isnan(values[row, column]):
            corner = (column + 0.03, row + 0.04)
            axes.add_patch(Rectangle(corner, 0.94, 0.92, fill=False, edgecolor="#D55E00", linewidth=1.8))
    names = {PLAIN: "plain", NOISY: "noise"}
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, [f"{backend}\n{names[noise]}" for backend, noise in columns])
    axes.tick_params(length=0, labelsize=8, rotation=0)
    axes.set(xlabel="backend, and whether scores get Gumbel noise", ylabel="loss")
    for border in range(2, 2 * len(BACKENDS), 2):
        axes.axvline(border, color="w", linewidth=2.5)
