"""A figure of what sweeps found: the mean of each group with its interval, one panel a metric and data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankplug.plotting import colour, new_figure
from rankplug.store.questions.groups import distinguishing, means_of_trials
from rankplug.store.questions.tables import results
from rankplug.store.result_store import ResultsError, Store

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
        store: the results' folder, or the usual one.
        where: a condition in SQL, such as ``backend = 'lightgbm'``.
        metric: only these.
        group_by: columns that tell models apart; those that differ between the results when not given.
        pool: parts of combinations that may differ inside a group.
        level: of the intervals.
    """
    rows = results(store, where=where, metric=metric)
    if rows.empty:
        raise ResultsError("there is no result to draw; sweep first, or widen the condition")
    groups = [name for name in (group_by or distinguishing(rows)) if name != "dataset"] or ["loss"]
    means = results(store, where=where, metric=metric, group_by=["dataset", *groups], pool=pool, level=level)
    rows["model"], means["model"] = (_model(frame, groups) for frame in (rows, means))
    metrics, datasets = list(dict.fromkeys(means["metric"])), list(dict.fromkeys(means["dataset"]))
    first = means[means["metric"] == metrics[0]].groupby("model")["mean"].mean()
    models = list(first.sort_values().index)
    height = 0.9 + 0.3 * len(models)
    figure, axes = new_figure(len(metrics), len(datasets), width=3.4, height=height, squeeze=False, sharey=True)
    for row, dataset in enumerate(datasets):
        for column, name in enumerate(metrics):
            panel = axes[row][column]
            for place, model in enumerate(models):
                trials, mean = (_chosen(frame, dataset, name, model) for frame in (rows, means))
                of_trials = means_of_trials(trials)
                panel.plot(of_trials, [place] * len(of_trials), "|", color=colour(model), alpha=0.5)
                for one in mean.itertuples():
                    panel.plot([one.low, one.high], [place, place], color=colour(model), linewidth=2)
                    panel.plot(one.mean, place, "o", color=colour(model))
            panel.set_yticks(range(len(models)), models)
            panel.set_ylim(-0.6, len(models) - 0.4)
            panel.set_xlabel(name)
            panel.set_title(dataset if column == 0 else "", fontsize=8, loc="left")
    count = int(means["trials"].max())
    words = f"means of {count} trials with {level:.0%} intervals" if count > 1 else "one trial each, so no intervals"
    figure.supxlabel(words, fontsize=8)
    return figure


def _model(frame: pd.DataFrame, groups: Sequence[str]) -> pd.Series[str]:
    words = frame[list(groups)].astype(object).where(frame[list(groups)].notna(), "")
    return words.apply(lambda row: " / ".join(str(word) for word in row if str(word)) or "none", axis=1)


def _chosen(frame: pd.DataFrame, dataset: str, metric: str, model: str) -> pd.DataFrame:
    return frame[(frame["dataset"] == dataset) & (frame["metric"] == metric) & (frame["model"] == model)]
