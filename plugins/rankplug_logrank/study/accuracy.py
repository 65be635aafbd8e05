"""Test accuracy: Figure 3 with its counts of cells, and the effects of the sampler in Figures 4 to 6."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from rankplug.plotting import PALETTE, draw_mean, legend_below, new_figure
from rankplug.statistics import LEVEL, holm
from rankplug.studies import Results, Values, WeightedSum, interval_of, p_value_of, plus_minus
from rankplug_logrank.study.protocol import (
    BASELINES,
    BY_NAME,
    COLOURS,
    DIAGNOSED,
    FAMILIES,
    GAINS,
    MEASURES,
    MODELS,
    QUOTED,
    RESTART_MIXES,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MICROAVERAGE = "microaverage"
SHADES = ("#66B981", "#E8C250", "#F2E7D3")
"""Colours of the best three in a column, as in the paper: green, yellow, tan; the better, the darker in grey."""


def accuracy_frame(results: Results) -> pd.DataFrame:
    """Return test accuracies, a row for each measure, column of Figure 3 and model.

    ``mean`` is that over the folds; the microaverage, where there are several data sets, weighs them by their test
    queries. ``half width`` is that of the 95 % interval by the design of the data.
    """
    return results.once("test accuracies", lambda: _accuracies(results)).copy()


def _accuracies(results: Results) -> pd.DataFrame:
    rows = []
    for measure, metric in MEASURES.items():
        for group in results.groups_run("accuracy"):
            means, queries = results.trials(group, metric).mean(), results.query_count(group, metric)
            for model in results.models(group):
                width = results.mean(group, metric, model).half_width
                cells = (measure, results.place(group), model, float(means[model]), width, queries)
                rows.append((*cells, results.combinations_of(group, model)))
        groups = results.groups_run("accuracy")
        if len(groups) < 2:
            continue
        total = sum(results.query_count(group, metric) for group in groups)
        for model in results.models(groups[0]):
            interval = interval_of(microaverage(results, metric, {model: 1.0}))
            behind = " ".join(results.combinations_of(group, model) for group in groups)
            rows.append((measure, MICROAVERAGE, model, interval.point, interval.half_width, total, behind))
    columns = ["measure", "column", "model", "mean", "half width", "queries", "combination"]
    return pd.DataFrame(rows, columns=columns)


def microaverage(results: Results, metric: str, weights: Mapping[str, float]) -> Values:
    """Return a weighted sum of models' accuracies over the test queries of all data sets."""
    samples, queries = [], []
    for group in results.groups_run("accuracy"):
        samples.append(results.contrast(metric, {(group, model): weight for model, weight in weights.items()}))
        queries.append(results.queries_of_a_trial(group, metric))
    if len(samples) == 1:
        return samples[0]
    return WeightedSum(tuple(samples), tuple(count / sum(queries) for count in queries))


def sub_table(measure: str) -> Callable[[Results], tuple[pd.DataFrame, Figure]]:
    """Return a function that draws one of the four sub-tables, with the best three of each column shaded."""

    def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
        frame = accuracy_frame(results)
        frame = frame[frame["measure"] == measure].reset_index(drop=True)
        return frame, draw_shaded(frame)

    return draw


def draw_shaded(frame: pd.DataFrame) -> Figure:
    """Draw a sub-table with the best cells shaded, and half of each interval in grey."""
    from matplotlib.patches import Rectangle

    columns, models = list(dict.fromkeys(frame["column"])), [m for m in MODELS if m in set(frame["model"])]
    figure, axes = new_figure(width=1.6 + 1.25 * len(columns), height=0.5 + 0.235 * len(models))
    for x, column in enumerate(columns):
        cells = frame[frame["column"] == column].set_index("model").loc[models]
        places = cells["mean"].rank(ascending=False, method="min")
        axes.text(x + 0.5, -0.5, f"{column}\n{cells['queries'].iloc[0]} queries", ha="center", va="center", fontsize=8)
        for y, model in enumerate(models):
            if places[model] <= len(SHADES):
                shade = SHADES[int(places[model]) - 1]
                axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=shade, linewidth=0))
            weight = "bold" if places[model] == 1 else "normal"
            mean, width = cells.loc[model, ["mean", "half width"]]
            axes.text(x + 0.5, y + 0.5, f"{mean:.3f}", ha="right", va="center", fontsize=8.5, weight=weight)
            axes.text(x + 0.5, y + 0.5, plus_minus(mean, width, 3), ha="left", va="center", fontsize=8, color="#333333")
    for y, model in enumerate(models):
        axes.text(-0.05, y + 0.5, model, ha="right", va="center", fontsize=8.5)
    blocks = (len(QUOTED), len(BASELINES), 1, *(len(GAINS) for _ in FAMILIES))
    for y in itertools.accumulate(blocks, initial=0):
        axes.plot([-1.05, len(columns)], [y, y], color="#BBBBBB", linewidth=0.6)
    axes.set(xlim=(-1.05, len(columns)), ylim=(len(models) + 0.1, -1))
    axes.axis("off")
    ranks = ("best", "second", "third of a column")
    shades = [Rectangle((0, 0), 1, 1, facecolor=shade, label=rank) for shade, rank in zip(SHADES, ranks, strict=True)]
    figure.legend(handles=shades, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def family(name: str) -> list[str]:
    """Return the models of a family, one for each gain."""
    return [model.name for model in BY_NAME.values() if model.family == name]


RIVALS = {
    ("MLE", "beats all baselines"): (["MLE"], [*BASELINES]),
    ("ExpGain", "is the best"): (family("ExpGain"), [*BASELINES]),
    ("ExpGain", "beats MLE"): (family("ExpGain"), ["MLE"]),
    ("ConvexLoss", "is the absolute best"): (
        family("Convex"),
        [*BASELINES, "MLE", *(model for name in FAMILIES if name != "Convex" for model in family(name))],
    ),
    ("ConvexLoss", "beats MLE"): (family("Convex"), ["MLE"]),
    ("ConvexLoss", "beats ExpGain"): (family("Convex"), family("ExpGain")),
    ("ConvexLoss_NDCG", "beats ExpGain_NDCG"): (["Convex_NDCG"], ["ExpGain_NDCG"]),
}
"""Winners and rivals of the claims in the text; of several models the best in a cell counts. That ExpGain and
ConvexLoss are both "the best" in 26 of 32 cells can only mean two comparisons: ExpGain is here set against the
baselines, ConvexLoss against all others. The baselines are those in all columns of the paper, without BoltzRank and
ListNet.
"""


def lead_of_cells(results: Results, cells: pd.DataFrame, winners: list[str], losers: list[str]) -> list[float]:
    """Return the one-sided p value of each cell that the best of some models leads the best of others."""
    leads = []
    for (column, measure), (_, means) in zip(cells.index.tolist(), cells.iterrows(), strict=True):
        weights = {str(means[winners].idxmax()): 1.0, str(means[losers].idxmax()): -1.0}
        if column == MICROAVERAGE:
            sample = microaverage(results, MEASURES[measure], weights)
        else:
            (group,) = results.groups(kind="accuracy", place=column)
            sample = results.contrast(MEASURES[measure], {(group, model): weight for model, weight in weights.items()})
        p_value = p_value_of(sample)
        leads.append(1.0 if math.isnan(p_value) else p_value)
    return leads


def cells_above_half(results: Results, winners: list[str], losers: list[str]) -> Values:
    """Return the share of the cells in which the best of some models leads the best of others, less one half.

    A trial's cells are those of its own test data; columns count alike. The counts in the paper are of means over all
    folds, which have less noise: where a lead is small, a trial's share is nearer to one half.
    """
    samples = []
    for group in results.groups_run("accuracy"):
        shares: pd.Series[float] | float = -0.5
        for metric in MEASURES.values():
            means = results.by_query(group, metric)[[*winners, *losers]].groupby(level=["trial", "fold"]).mean()
            lead = means[winners].max(axis=1) - means[losers].max(axis=1)
            shares = shares + ((lead > 0) + 0.5 * (lead == 0)) / len(MEASURES)
        samples.append(results.sample(group, cast("pd.Series[float]", shares), [*winners, *losers]))
    return samples[0] if len(samples) == 1 else WeightedSum(tuple(samples), (1 / len(samples),) * len(samples))


def win_counts(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Count cells won as the text of Section 5.2 does, published and ours, and those that a test calls won or lost.

    The test is the one of each cell's design, between the best model of either side, one-sided in both directions and
    corrected by Holm over the cells of a count. Both sides are taken on the test data, as in the counts. There is a
    difference to the published share only where no data are made; else that is a reference.
    """
    cells = accuracy_frame(results).pivot(index=["column", "measure"], columns="model", values="mean")
    printed = results.published.set_index(["model", "metric"])["value"]
    of_paper = int(printed["all", "cells"])
    made = any(results.is_made(group) for group in results.groups_run("accuracy"))
    rows = []
    for (model, statement), (winners, losers) in RIVALS.items():
        won = int((cells[winners].max(axis=1) > cells[losers].max(axis=1)).sum())
        theirs = int(printed[model, statement])
        better, worse = (
            sum(holm(lead_of_cells(results, cells, side, other), level=LEVEL / 2).rejected)
            for side, other in ((winners, losers), (losers, winners))
        )
        rows.append(
            {
                "model": model,
                "statement": statement,
                "published": f"{theirs} of {of_paper}",
                "ours": f"{won} of {len(cells)}",
                "won by a test": int(better),
                "lost by a test": int(worse),
                "published share": theirs / of_paper,
                "our share": won / len(cells),
                "difference": math.nan if made else won / len(cells) - theirs / of_paper,
            }
        )
    frame = pd.DataFrame(rows)
    return frame, _draw_wins(frame, "published, on LETOR 3.0" + (": a reference" if made else ""))


def _draw_wins(frame: pd.DataFrame, published: str) -> Figure:
    """Draw our shares of cells won as bars, and the published ones as rings."""
    figure, axes = new_figure(width=6.6, height=1.0 + 0.32 * len(frame))
    axes.barh(frame.index, frame["our share"], 0.6, color=PALETTE[0], label="ours")
    axes.plot(
        frame["published share"], frame.index, "o", color=PALETTE[3], markerfacecolor="w", markersize=7, label=published
    )
    axes.axvline(0.5, color="#555555", linewidth=0.8, linestyle=(0, (3, 2)))
    words = frame["model"] + " " + frame["statement"] + ", " + frame["ours"]
    axes.set_yticks(frame.index, words)
    axes.set(xlabel="share of the cells of Figure 3 (dashed: half)", ylabel="statement of Section 5.2, ours")
    axes.set(xlim=(0, 1), ylim=(len(frame) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    legend_below(figure, columns=2)
    return figure


GROUP = "sampler"


def of_settings(results: Results, measure: str, settings: dict[Any, str]) -> pd.DataFrame:
    """Return test accuracies: a row for each setting, a column for each trial."""
    of_trials = results.trials(GROUP, MEASURES[measure])[list(settings.values())].T
    of_trials.index = list(settings)
    return of_trials


def _panels(results: Results, settings: dict[Any, str], axis: str, log: bool = False) -> tuple[pd.DataFrame, Figure]:
    figure, panels = new_figure(len(MEASURES), width=2.3, height=2.5, squeeze=False)
    frames = []
    for axes, measure in zip(panels[0], MEASURES, strict=True):
        values = of_settings(results, measure, settings)
        frame = values.melt(ignore_index=False, var_name="trial").rename_axis(axis).reset_index()
        frame["combination"] = [results.combinations_of(GROUP, settings[value]) for value in frame[axis]]
        frame.insert(0, "measure", measure)
        frames.append(frame)
        draw_mean(axes, values, COLOURS[DIAGNOSED], marker="o", markersize=4)
        low, high = axes.get_ylim()
        axes.set(xlabel=axis, title=measure, ylim=(max(low, 0), min(high, 1)))
        if log:
            axes.set_xscale("log")
            axes.set_xticks(list(settings), [f"{setting:g}" for setting in settings], fontsize=8)
            axes.minorticks_off()
    data = ", ".join(results[GROUP]["dataset"].unique())
    panels[0][0].set_ylabel("test accuracy")
    figure.suptitle(f"{DIAGNOSED} on {data}; mean and 95 % t interval over trials that draw rankings anew", fontsize=8)
    return pd.concat(frames, ignore_index=True), figure


def figure_4(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw accuracy over the number of rankings drawn for each query."""
    return _panels(results, results.setting(GROUP, "samples"), r"rankings drawn, $|\hat Y|$", log=True)


def figure_5(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw accuracy over the share of restarts at the best and the worst ranking."""
    frame, figure = _panels(results, results.setting(GROUP, "p_best"), "share of restarts at the best")
    for axes in figure.axes:
        axes.set_xticks(list(RESTART_MIXES.values()))
    return frame, figure


def figure_6(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw accuracy over the skew of restarts among many states."""
    return _panels(results, results.setting(GROUP, "skew"), r"$k$ in $\Pr(y) \propto e^{k\Delta(y)}$")
