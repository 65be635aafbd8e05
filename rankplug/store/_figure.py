"""A figure of results: the mean of each group with its interval, one panel per metric and data set."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankplug.plotting import distinct_colours, draw_interval, new_figure
from rankplug.store._store import ResultsError, Store
from rankplug.store._tables import distinguishing, grouped, means_of_trials, trial_means
from rankplug.system import fraction

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PANEL = 2.6
"""Width of a panel in inches."""
LETTER = 0.075
"""Width of a letter in inches, generously."""
MOST_LETTERS = 48
"""Letters of a line of a model's name."""


def draw_results(
    store: Store | None = None,
    *,
    where: str = "",
    metric: str | Sequence[str] = (),
    group_by: Sequence[str] = (),
    pool: Sequence[str] = (),
    level: float = 0.95,
) -> Figure:
    """Draw means over trials with t intervals, the best group of the first metric on top; small marks are the trials.

    Args:
        store: the folder of results; that of the project by default.
        where: a condition in SQL, such as ``backend = 'lightgbm'``.
        metric: the metrics; all by default.
        group_by: columns that tell models apart; by default those that differ between the results.
        pool: parts of combinations that may differ inside a group.
        level: level of the intervals.
    """
    fraction(level, "level")
    rows = trial_means(store, where, metric)
    if rows.empty:
        raise ResultsError("there is no result to draw; sweep first, or widen the condition")
    groups = [name for name in (group_by or distinguishing(rows)) if name != "dataset"] or ["loss"]
    means = grouped(rows, ["dataset", *groups], pool, level)
    rows["model"], means["model"] = (_model(frame, groups) for frame in (rows, means))
    metrics, datasets = list(dict.fromkeys(means["metric"])), list(dict.fromkeys(means["dataset"]))
    colours = distinct_colours(sorted(set(means["model"])))
    models = {dataset: _best_last(means, dataset, metrics[0]) for dataset in datasets}
    names = {model: textwrap.fill(model, MOST_LETTERS) for model in colours}
    lines = {model: name.splitlines() for model, name in names.items()}
    beside = LETTER * max(len(line) for wrapped in lines.values() for line in wrapped)
    heights = [0.9 + sum(0.15 + 0.15 * len(lines[model]) for model in models[dataset]) for dataset in datasets]
    figure, axes = new_figure(
        len(metrics),
        len(datasets),
        width=PANEL + beside / len(metrics),
        height=sum(heights) / len(datasets),
        height_ratios=heights,
        squeeze=False,
        sharey="row",
    )
    for panels, dataset in zip(axes, datasets, strict=True):
        for panel, name in zip(panels, metrics, strict=True):
            here = [frame[(frame["dataset"] == dataset) & (frame["metric"] == name)] for frame in (rows, means)]
            limits = _limits(means_of_trials(here[0]), here[1])
            for index, model in enumerate(models[dataset]):
                trials, mean = (frame[frame["model"] == model] for frame in here)
                values = means_of_trials(trials)
                panel.plot(values, [index] * len(values), "|", color=colours[model], alpha=0.5)
                for row in mean.itertuples():
                    ends = (row.low, row.high)
                    draw_interval(panel, index, *ends, limits, vertical=False, color=colours[model], linewidth=2)
                    panel.plot(row.mean, index, "o", color=colours[model])
            panel.set_yticks(range(len(models[dataset])), [names[model] for model in models[dataset]], parse_math=False)
            panel.set_ylim(-0.6, len(models[dataset]) - 0.4)
            panel.set_xlim(limits)
            panel.set_xlabel(name, parse_math=False)
        # A title wider than its panel would leave no room for the panel.
        title = textwrap.fill(dataset, int(PANEL * len(metrics) / LETTER))
        panels[0].set_title(title, fontsize=8, loc="left", parse_math=False)
    figure.supxlabel(_caption(means["trials"], level), fontsize=8)
    return figure


def _best_last(means: pd.DataFrame, dataset: str, metric: str) -> list[str]:
    """Return the models on a data set, the best by a metric last; those without it first."""
    there = means[means["dataset"] == dataset]
    by_metric = there[there["metric"] == metric].set_index("model")["mean"]
    return list(by_metric.reindex(there["model"].unique()).sort_values(na_position="first").index)


def _caption(trials: pd.Series[int], level: float) -> str:
    fewest, most = int(trials.min()), int(trials.max())
    if most == 1:
        return "one trial each, so no intervals"
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    note = ", none of one trial" if fewest == 1 else ""
    return f"means of {count} trials with {level:.0%} intervals{note}"


def _limits(of_trials: pd.Series[float], means: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of an axis on which means and trials are seen, and intervals as far as they are no wider.

    Intervals of two trials may be far wider than the metric's scale; those that go on end in arrowheads.
    """
    values = np.concatenate([of_trials.to_numpy(float), means["mean"].to_numpy(float)])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = max(high - low, 0.02 * max(abs(high), 1e-9))
    ends = [np.nanmin([*means["low"], low]), np.nanmax([*means["high"], high])]
    low, high = max(float(ends[0]), low - room), min(float(ends[1]), high + room)
    margin = 0.05 * (high - low) or room
    # No metric of rankings is known to leave [0, 1] where no trial's value does.
    inside = values[~np.isnan(values)].min() >= 0 and values[~np.isnan(values)].max() <= 1
    return (max(low - margin, 0.0), min(high + margin, 1.0)) if inside else (low - margin, high + margin)


def _model(frame: pd.DataFrame, groups: Sequence[str]) -> pd.Series[str]:
    words = frame[list(groups)].astype(object).where(frame[list(groups)].notna(), "")
    return words.apply(lambda row: " / ".join(str(word) for word in row if str(word)) or "none", axis=1)
