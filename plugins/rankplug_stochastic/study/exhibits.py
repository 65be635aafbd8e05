"""The paper's figures and tables of trained models, and those of comparisons that it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.metrics import evaluate
from rankplug.plotting import PALETTE, draw_band, draw_curves, keep_within, legend_below, new_figure
from rankplug.registry import parse
from rankplug.studies import (
    Evidence,
    Results,
    Sample,
    beside_published,
    facts_beside_published,
    greater,
    interval_of,
    not_run,
)
from rankplug_stochastic.study.protocol import (
    BY_NAME,
    COLOURS,
    CROSSED,
    DRAWS,
    LAWS,
    LOSSES_OF_NETWORKS,
    MENTIONED,
    METRICS,
    MODELS,
    NETWORKS,
    NO_NOISE,
    NOISE,
    SCALES,
    arm,
    scale_of_noise,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.sweeps import KeptRun


METRIC = "ndcg@5"
DASHES = {"train": (0, (4, 2)), "valid": "solid"}
NAMES = {"train": "training", "valid": "validation"}


def iteration_name(model: str) -> str:
    """Return the paper's unit of iterations for a model."""
    return "trees" if BY_NAME[model].trees else "steps"


def steps_an_iteration(results: Results, group: str) -> dict[str, int]:
    """Map each combination to the steps of an iteration: one for trees, as many as there are batches for networks."""
    wanted = {identity for model in results.models(group) for identity in results.identities(group, model)}
    steps = dict.fromkeys(wanted, 1)
    for record in results.records:
        batch = parse(record["combination"]["backend"]).parameters.get("batch")
        if record["identity"] in wanted and batch:
            steps[record["identity"]] = math.ceil(record["record"]["queries"][0] / batch)
    return steps


def curves_in_steps(results: Results, group: str, part: str, models: tuple[str, ...]) -> pd.DataFrame:
    """Return the learning curves in percent, over the number of steps or trees made so far."""
    curves = results.curves(group, part, METRIC, models)
    steps = curves["combination"].map(steps_an_iteration(results, group))
    return curves.assign(iteration=(curves["iteration"] + 1) * steps, value=100 * curves["value"])


def curve_frame(results: Results, group: str, models: tuple[str, ...], parts: tuple[str, ...]) -> pd.DataFrame:
    """Return the learning curves, a row for each trial, model, part and iteration."""
    frames = [curves_in_steps(results, group, part, models) for part in parts]
    columns = ["dataset", "model", "part", "fold", "trial", "iteration", "value", "combination"]
    return pd.concat(frames, ignore_index=True)[columns].rename(columns={"value": f"{METRIC} (%)"})


def figure_3(baseline: str) -> Callable[[Results], tuple[pd.DataFrame, Figure]]:
    """Return a function that draws the curves of a baseline and its expected loss, on training and validation data."""

    def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
        group, models = results.groups_run("fixed")[0], (baseline, f"E[{baseline}]")
        figure, axes = new_figure(width=4.6, height=3.2)
        for part in ("train", "valid"):
            style = {"label": f"{{model}}, {NAMES[part]}", "linestyle": DASHES[part], **results.spread(group)}
            draw_curves(axes, curves_in_steps(results, group, part, models), models, colours=COLOURS, **style)
        axes.set(xlabel=f"training iteration ({iteration_name(baseline)})", ylabel="NDCG@5 (%)")
        keep_within(axes, 0, 100)
        legend_below(figure, columns=2)
        return curve_frame(results, group, models, ("train", "valid")), figure

    return draw


def figure_3_on_yahoo(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw validation curves of Figure 3's pairs on the second collection, which the paper leaves out."""
    groups = results.groups(kind="fixed")
    if len(groups) < 2:
        return pd.DataFrame(columns=["model", f"{METRIC} (%)"]), None
    return networks_beside_trees(results, groups[1], tuple(results.models(groups[1])), columns=2)


def figure_4(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw all models with settings of their own, on validation data."""
    return networks_beside_trees(results, results.groups_run("tuned")[0], MODELS, columns=3)


def networks_beside_trees(
    results: Results, group: str, models: tuple[str, ...], columns: int
) -> tuple[pd.DataFrame, Figure]:
    """Draw validation curves of a group, networks and trees beside each other.

    Args:
        results: of the study.
        group: the runs to draw.
        models: those of its models that are drawn.
        columns: of the legend.
    """
    figure, axes = new_figure(2, width=3.9, height=3.2, sharey=True)
    curves = curves_in_steps(results, group, "valid", models)
    for panel, trees in zip(axes, (False, True), strict=True):
        shown = [model for model in models if BY_NAME[model].trees == trees]
        draw_curves(panel, curves, shown, colours=COLOURS, **results.spread(group))
        panel.set(xlabel=f"training iteration ({iteration_name(shown[0])})", title="trees" if trees else "networks")
    keep_within(axes[0], 0, 100)
    axes[0].set_ylabel("validation NDCG@5 (%)")
    legend_below(figure, columns=columns)
    return curve_frame(results, group, models, ("valid",)), figure


def table_1(setting: str) -> Callable[[Results], tuple[pd.DataFrame, None]]:
    """Return a function that makes the table of setting B as in the paper, or of A, which it shows as curves only."""

    def draw(results: Results) -> tuple[pd.DataFrame, None]:
        tables = [
            beside_published(results, group, METRICS, exhibit="Table 1", dataset=results.place(group))
            for group in results.groups(kind=setting)
        ]
        return pd.concat(tables, ignore_index=True), None

    return draw


def data(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the sizes of the data (Section 6.1)."""
    groups = {results.place(group): group for group in results.groups(kind="tuned")}
    return facts_beside_published(results, "Section 6.1", groups), None


PLAIN = tuple(loss for loss in LOSSES_OF_NETWORKS if not BY_NAME[loss].expected)


def effects(loss: str) -> dict[str, Mapping[str, float]]:
    """Return the contrasts of a loss, as weights of its four models.

    >>> effects("ApproxNDCG")["the network and optimiser B, without noise"]
    {'ApproxNDCG, B': 1.0, 'ApproxNDCG, A': -1.0}
    """
    plain, noisy = ({network: arm(model, network) for network in NETWORKS} for model in (loss, f"E[{loss}]"))
    return {
        "noise, with A": {noisy["A"]: 1.0, plain["A"]: -1.0},
        "noise, with B": {noisy["B"]: 1.0, plain["B"]: -1.0},
        "the network and optimiser B, without noise": {plain["B"]: 1.0, plain["A"]: -1.0},
        "the network and optimiser B, with noise": {noisy["B"]: 1.0, noisy["A"]: -1.0},
        "both, as in the paper's setting B": {noisy["B"]: 1.0, plain["A"]: -1.0},
    }


def effect(results: Results, weights: Mapping[str, float], metric: str = METRIC) -> Sample:
    """Return the test quality of some models less that of others."""
    group = results.groups_run(CROSSED)[0]
    return results.contrast(metric, {(group, model): weight for model, weight in weights.items()})


def table_of_noise_and_network(results: Results) -> tuple[pd.DataFrame, None]:
    """Return what each change gives in points of NDCG@5, with its interval."""
    group = results.groups_run(CROSSED)[0]
    rows = []
    for loss in PLAIN:
        for name, weights in effects(loss).items():
            interval = interval_of(effect(results, weights))
            rows.append(
                {"loss": loss, "what is added": name, "gain": 100 * interval.point, "low": 100 * interval.low}
                | {"high": 100 * interval.high, "combination": results.combinations_of(group, *weights)}
            )
    return pd.DataFrame(rows), None


def four_models(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the test NDCG@5 of every loss with every network in percent."""
    group = results.groups_run(CROSSED)[0]
    rows = []
    for loss in LOSSES_OF_NETWORKS:
        for network in NETWORKS:
            model = arm(loss, network)
            mean = results.mean(group, METRIC, model, scale=100)
            rows.append(
                {"loss": loss, "network": network, "ours": mean.point, "low": mean.low, "high": mean.high}
                | {"combination": results.combinations_of(group, model)}
            )
    return pd.DataFrame(rows), None


CURVES = {
    "scale of the noise, beta": {f"beta = {scale:g}": scale for scale in SCALES},
    "draws, N": {f"N = {draws}": float(draws) for draws in DRAWS},
}
OTHER_LAWS = {"scale of the noise, beta": 1.0, "draws, N": 8.0}
"""Position of the other laws on each axis."""


def frame_of_kinds(results: Results) -> pd.DataFrame:
    """Return a row for each kind of noise: mean test NDCG@5 in percent and its interval."""
    if not results.groups(kind=NOISE):
        return pd.DataFrame(columns=["noise", "ours", "low", "high", "combination"])
    group = results.groups_run(NOISE)[0]
    rows: list[dict[str, Any]] = []
    for model in results.models(group):
        mean = results.mean(group, METRIC, model, scale=100)
        row = {"noise": model, "ours": mean.point, "low": mean.low, "high": mean.high}
        rows.append(row | {"combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows)


def draw_kinds_of_noise(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw a panel for scales and one for draws, beside other laws and no noise; no figure where a profile has none."""
    frame = frame_of_kinds(results)
    if frame.empty:
        return frame, None
    figure, axes = new_figure(2, width=3.6, height=2.6, sharey=True)
    known = frame.set_index("noise")
    for panel, (title, curve) in zip(axes, CURVES.items(), strict=True):
        panel.set(xlabel=title, xscale="log")
        panel.set_xticks(list(curve.values()), [f"{value:g}" for value in curve.values()])
        panel.minorticks_off()
        rows, x = known.loc[list(curve)], list(curve.values())
        panel.plot(x, rows["ours"], color=PALETTE[0], marker="o", markersize=3, label="Gumbel")
        draw_band(panel, x, rows["low"], rows["high"], PALETTE[0])
        for law, colour in zip(LAWS, PALETTE[1:], strict=False):
            panel.plot(
                [OTHER_LAWS[title]], [known.loc[law, "ours"]], "s", color=colour, markersize=4, label=law.capitalize()
            )
        panel.axhline(
            known.loc[NO_NOISE, "ours"], color=COLOURS[NO_NOISE], linewidth=0.8, linestyle="--", label=NO_NOISE
        )
    axes[0].set_ylabel(f"test {METRIC.upper()} (%)")
    axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return frame, figure


OF_SPREAD, OF_TRAINING = "deviation of the scores", "beta of the noise in training"
UNITS = (OF_SPREAD, OF_TRAINING)
SIZES = (0.25, 0.5, 1.0, 2.0)
"""Deviations of the noise in either unit."""
JUDGED = {OF_SPREAD: 0.5, OF_TRAINING: 1.0}
"""The sizes that claims are about: half the deviation, and as much as in training."""
NOISY_RANKINGS = 4
BASELINES = tuple(model.name for model in BY_NAME.values() if not model.expected)
Losses = dict[tuple[str, str, float], "pd.Series[float]"]


def spread(run: KeptRun) -> float:
    """Return the standard deviation of scores around the mean of their list."""
    lists = run.lists
    means = np.add.reduceat(run.scores, lists.starts[:-1]) / lists.lengths
    return float(np.sqrt(np.mean((run.scores - np.repeat(means, lists.lengths)) ** 2)))


def quality(run: KeptRun, noise: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return each test query's NDCG, averaged over the rows of noise where there are some."""
    several = [run.scores] if noise is None else run.scores + noise
    return np.mean([evaluate(scores, run.lists, METRIC).to_numpy(float) for scores in several], axis=0)


def losses(results: Results) -> Losses:
    """Return what NDCG loses by (model, unit, size), for each trial, fold and test query; empty without scores."""
    group = results.groups_run("fixed")[0]
    found: dict[tuple[str, str, float], list[pd.Series[float]]] = {}
    for runs in results.rankings(group, *MODELS):
        for model, run in runs.items():
            # From the trial alone, so that all of its models are disturbed alike.
            draws = np.random.default_rng([run.trial.number, run.trial.fold]).normal(
                size=(NOISY_RANKINGS, run.scores.size)
            )
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


def frame_of_perturbed(results: Results) -> pd.DataFrame:
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


def draw_perturbed_scores(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw what noise takes from each baseline and its expected loss; no figure where no scores were kept."""
    frame = frame_of_perturbed(results)
    if frame.empty:
        return frame, None
    figure, panels = new_figure(len(BASELINES), len(UNITS), width=2.9, height=2.2, squeeze=False)
    for row, unit in zip(panels, UNITS, strict=True):
        for axes, loss in zip(row, BASELINES, strict=True):
            for model in (loss, f"E[{loss}]"):
                rows = frame[(frame["model"] == model) & (frame["unit"] == unit)]
                label = model if unit == UNITS[0] else ""
                axes.plot(rows["noise"], rows["lost"], color=COLOURS[model], marker="o", markersize=3, label=label)
                draw_band(axes, rows["noise"], rows["low"], rows["high"], COLOURS[model])
            axes.set(xlabel=f"noise / {unit}", xscale="log")
            axes.set_xticks(SIZES, [f"{size:g}" for size in SIZES])
            axes.minorticks_off()
        row[0].set_ylabel(f"{METRIC.upper()} lost (points)")
    legend_below(figure, columns=3)
    return frame, figure


BESIDE = {"fixed": ("CrossEntropy", "ApproxNDCG", "E[ApproxNDCG]", "lambdaMART"), "tuned": ("E[ApproxNDCG]",)}


def table_of_mentioned(results: Results) -> tuple[pd.DataFrame, None]:
    """Return test NDCG in percent with intervals; empty where the profile does not have these runs."""
    groups = results.groups(kind=MENTIONED)
    if not groups:
        return pd.DataFrame(columns=["model", "setting", "metric", "ours", "half width", "combination"]), None
    cells = [(groups[0], model, "") for model in results.models(groups[0])]
    cells += [(results.groups_run(kind)[0], model, kind) for kind, models in BESIDE.items() for model in models]
    rows = []
    for group, model, setting in cells:
        for metric in METRICS:
            mean = results.mean(group, metric, model, scale=100)
            row = {"model": model, "setting": setting, "metric": metric, "ours": mean.point}
            rows.append(row | {"half width": mean.half_width, "combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows), None
