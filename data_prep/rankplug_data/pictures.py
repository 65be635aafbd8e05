"""Pictures of data sets beside one another: label shares, list lengths, features, and how fast models learn on them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.plotting import PALETTE, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Collections = Mapping[str, Lists]
TYPICAL_OF_MSLR = (
    "covered query terms, body",
    "share of covered query terms, title",
    "length, body",
    "inverse document frequency, body",
    "sum of term frequency, body",
    "variance of term frequency, title",
    "mean of term density, body",
    "sum of tf*idf, anchor",
    "vector space model, url",
    "BM25, title",
    "language model, Dirichlet, body",
    "slashes in the address",
    "inward links",
    "page rank",
    "quality, first classifier",
    "clicks on it",
)
MARKERS = "osD^v"


def draw_label_shares(collections: Collections) -> Figure:
    """Draw the share of each label among the documents, one bar a collection."""
    figure, axes = new_figure(width=5.2)
    grades = 1 + max(int(lists.labels.max()) for lists in collections.values())
    width = 0.8 / len(collections)
    for index, (name, lists) in enumerate(collections.items()):
        shares = 100 * np.bincount(lists.labels.astype(int), minlength=grades) / lists.documents
        where = np.arange(grades) + (index - (len(collections) - 1) / 2) * width
        bars = axes.bar(where, shares, width, color=PALETTE[index], label=name)
        axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
    axes.set(xlabel="label", ylabel="documents (%)", xticks=np.arange(grades))
    axes.grid(False, axis="x")
    axes.legend(frameon=False, fontsize=8)
    return _finished(figure)


def draw_list_lengths(collections: Collections) -> Figure:
    """Draw the distribution of the number of documents of a query."""
    figure, axes = new_figure(width=5.2)
    longest = max(int(lists.lengths.max()) for lists in collections.values())
    shortest = min(int(lists.lengths.min()) for lists in collections.values())
    wide = longest > 4 * shortest
    edges = (np.geomspace if wide else np.linspace)(shortest * 0.99, longest * 1.01, 15)
    for index, (name, lists) in enumerate(collections.items()):
        label = f"{name} (mean {lists.lengths.mean():.0f}, longest {lists.lengths.max():,})"
        _outline(axes, lists.lengths.astype(np.float64), edges, index, label)
    axes.set(xlabel="documents of a query", ylabel="queries (%)")
    if wide:
        axes.set_xscale("log")
        _plain_ticks(axes, edges)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.25)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    return _finished(figure)


def draw_features(collections: Collections, columns: Mapping[str, int]) -> Figure:
    """Draw distributions of some features; ``columns`` names them with their position, from 0."""
    across = 4
    down = -(-len(columns) // across)
    figure, grid = new_figure(across, down, width=2.4, height=1.9, squeeze=False)
    for axes, (name, column) in zip(grid.flat, columns.items(), strict=False):
        values = [_on_signed_logarithm(lists.features[:, column]) for lists in collections.values()]
        lowest, highest = (float(edge(np.concatenate(values))) for edge in (np.min, np.max))
        edges = np.linspace(lowest, highest + 1e-6, 25)
        for index, (own, label) in enumerate(zip(values, collections, strict=True)):
            _outline(axes, own, edges, index, label)
        axes.set_title(textwrap.fill(f"{column + 1}: {name}", 34), fontsize=7)
        axes.tick_params(labelsize=7)
    for axes in list(grid.flat)[len(columns) :]:
        axes.set_visible(False)
    figure.supxlabel("sign(x) log10(1 + |x|) of the feature's value x", fontsize=9)
    figure.supylabel("documents (%)", fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(collections), frameon=False)
    return _finished(figure)


def draw_learning_curves(curves: pd.DataFrame, metric: str) -> Figure:
    """Draw quality on the test part against the number of training queries, with what chance and an oracle reach."""
    figure, axes = new_figure(width=5.2, height=3.4)
    trained = curves[curves["queries"].notna()]
    for index, (model, rows) in enumerate(trained.groupby("model", sort=False)):
        style = {"color": PALETTE[index], "marker": MARKERS[index], "markersize": 4, "label": model}
        # Side by side, as intervals at one index would hide each other.
        queries = rows["queries"] * 1.03 ** (index - 1)
        axes.plot(queries, rows["value"], **style)
        axes.errorbar(queries, rows["value"], rows["half width"], fmt="none", ecolor=PALETTE[index], elinewidth=0.8)
    for number, (_, row) in enumerate(curves[curves["queries"].isna()].iterrows()):
        axes.axhline(row["value"], color=PALETTE[7], linestyle=("--", ":")[number % 2], label=row["model"])
    axes.set(xscale="log", xlabel="training queries", ylabel=f"test {metric.upper()}")
    _plain_ticks(axes, trained["queries"].unique(), exactly=True)
    figure.legend(loc="outside right upper", frameon=False)
    return _finished(figure)


def _finished(figure: Figure) -> Figure:
    """Close a figure in pyplot's list of open ones, so that a notebook shows it once, as the value of its cell."""
    import matplotlib.pyplot as plt

    plt.close(figure)
    return figure


def _outline(axes: Any, values: NDArray[Any], edges: NDArray[np.float64], row: int, label: str) -> None:
    weights = np.full(values.size, 100.0 / values.size)
    style = {"color": PALETTE[row], "linewidth": 1.3, "linestyle": ("-", "--", ":")[row % 3], "label": label}
    axes.hist(values, edges, weights=weights, histtype="step", **style)


def _on_signed_logarithm(values: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = values.astype(np.float64)
    scaled: NDArray[np.float64] = np.sign(wide) * np.log10(1.0 + np.abs(wide))
    return scaled


def _plain_ticks(axes: Any, values: Sequence[float] | NDArray[Any], exactly: bool = False) -> None:
    """Label a logarithmic axis with whole numbers in place of powers of ten."""
    steps = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000])
    ticks = np.asarray(values) if exactly else steps[(steps >= np.min(values)) & (steps <= np.max(values))]
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.minorticks_off()
