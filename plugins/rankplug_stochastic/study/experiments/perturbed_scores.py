"""Section 1's thesis on trained models: what noise on their test scores does to NDCG, without training anything again.

Margins that noise in training widened are worth something where what disturbs scores does not grow with them. So
normal noise is added in two units: the scores' own deviation within lists, in which a wider scale alone gains nothing,
and the scale of the noise in training, as the paper's margins are told. All models of a trial get the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.studies import Evidence, Results, Sample, greater, interval_of, not_run
from rankplug_stochastic.study.colours import colour_of
from rankplug_stochastic.study.experiments.convergence import METRIC
from rankplug_stochastic.study.protocol import BY_NAME, MODELS, scale_of_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.sweeps import KeptRun

OF_SPREAD, OF_TRAINING = "deviation of the scores", "beta of the noise in training"
UNITS = (OF_SPREAD, OF_TRAINING)
SIZES = (0.25, 0.5, 1.0, 2.0)
"""Deviations of the noise in either unit."""
JUDGED = {OF_SPREAD: 0.5, OF_TRAINING: 1.0}
"""The sizes that claims are about: half the deviation, and as much as in training."""
DRAWS = 4
BASELINES = tuple(model.name for model in BY_NAME.values() if not model.expected)
Losses = dict[tuple[str, str, float], "pd.Series[float]"]


def spread(run: KeptRun) -> float:
    """Return the standard deviation of scores around the mean of their list."""
    lists = run.lists
    means = np.add.reduceat(run.scores, lists.starts[:-1]) / lists.lengths
    return float(np.sqrt(np.mean((run.scores - np.repeat(means, lists.lengths)) ** 2)))


def quality(run: KeptRun, noise: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return each test query's NDCG, averaged over the rows of noise where there are some."""
    from rankplug.metrics import evaluate

    several = [run.scores] if noise is None else run.scores + noise
    return np.mean([evaluate(scores, run.lists, METRIC).to_numpy(float) for scores in several], axis=0)


def losses(results: Results) -> Losses:
    """Return what NDCG loses by (model, unit, size), for each trial, fold and test query; empty without scores."""
    group = results.groups_run("fixed")[0]
    found: dict[tuple[str, str, float], list[pd.Series[float]]] = {}
    for runs in results.rankings(group, *MODELS):
        for model, run in runs.items():
            # From the trial alone, so that all of its models are disturbed alike.
            draws = np.random.default_rng([run.trial.number, run.trial.fold]).normal(size=(DRAWS, run.scores.size))
            units = {OF_SPREAD: spread(run), OF_TRAINING: scale_of_noise(BY_NAME[model])}
            ids = map(str, run.lists.query_ids)
            names = ("trial", "fold", "query")
            index = pd.MultiIndex.from_product([[run.trial.number], [run.trial.fold], list(ids)], names=names)
            whole = quality(run)
            for unit, scale in units.items():
                for size in SIZES:
                    lost = whole - quality(run, size * scale * draws)
                    found.setdefault((model, unit, size), []).append(pd.Series(lost, index))
    return {key: pd.concat(series) for key, series in found.items()}


def known(results: Results) -> Losses:
    """Return the same, made once for all that ask."""
    results.by_query(results.groups_run("fixed")[0], METRIC)
    return results.once("perturbed scores", lambda: losses(results))


def loses_less(unit: str, loss: str) -> Callable[[Results], Evidence]:
    """Return the statistic that compares what noise takes from a baseline with what it takes from its expected loss."""

    def gather(results: Results) -> Evidence:
        lost, group = known(results), results.groups_run("fixed")[0]
        if not lost:
            return not_run("these runs were made before their scores were kept")
        return greater({f"{METRIC}, {results.collection(group)}": saved(results, lost, loss, unit, JUDGED[unit])})

    return gather


def saved(results: Results, lost: Losses, loss: str, unit: str, size: float) -> Sample:
    """Return what a baseline loses less what its expected loss loses."""
    group, expected = results.groups_run("fixed")[0], f"E[{loss}]"
    values = lost[loss, unit, size] - lost[expected, unit, size]
    return results.sample_of_queries(group, values, [(group, loss), (group, expected)])


def frame_of(results: Results) -> pd.DataFrame:
    """Return NDCG under noise in percent and what it lost, with intervals, a row for each model, unit and size."""
    lost, group = known(results), results.groups_run("fixed")[0]
    rows = []
    for (model, unit, size), values in lost.items():
        own = results.sample_of_queries(group, 100 * values, [(group, model)])
        interval = interval_of(own)
        row = {"model": model, "unit": unit, "noise": size, "lost": interval.point, "low": interval.low}
        row |= {"high": interval.high, "combination": results.combinations_of(group, model)}
        rows.append(row)
    return pd.DataFrame(rows, columns=["model", "unit", "noise", "lost", "low", "high", "combination"])


def draw(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw what noise takes from each baseline and its expected loss; no figure where no scores were kept."""
    from rankplug.plotting import draw_band, legend_below, new_figure

    frame = frame_of(results)
    if frame.empty:
        return frame, None
    figure, panels = new_figure(len(BASELINES), len(UNITS), width=2.9, height=2.2, squeeze=False)
    for row, unit in zip(panels, UNITS, strict=True):
        for axes, loss in zip(row, BASELINES, strict=True):
            for model in (loss, f"E[{loss}]"):
                rows = frame[(frame["model"] == model) & (frame["unit"] == unit)]
                label = model if unit == UNITS[0] else ""
                axes.plot(rows["noise"], rows["lost"], color=colour_of(model), marker="o", markersize=3, label=label)
                draw_band(axes, rows["noise"], rows["low"], rows["high"], colour_of(model))
            axes.set(xlabel=f"noise / {unit}", xscale="log")
            axes.set_xticks(SIZES, [f"{size:g}" for size in SIZES])
            axes.minorticks_off()
        row[0].set_ylabel(f"{METRIC.upper()} lost (points)")
    legend_below(figure, columns=3)
    return frame, figure
