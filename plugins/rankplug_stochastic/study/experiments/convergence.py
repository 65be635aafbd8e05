"""Figures 3 and 4: quality in the course of training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankplug.registry import parse
from rankplug.studies import Results
from rankplug_stochastic.study.colours import COLOURS
from rankplug_stochastic.study.protocol import BY_NAME, MODELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

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
    import pandas as pd

    frames = [curves_in_steps(results, group, part, models) for part in parts]
    columns = ["dataset", "model", "part", "fold", "trial", "iteration", "value", "combination"]
    return pd.concat(frames, ignore_index=True)[columns].rename(columns={"value": f"{METRIC} (%)"})


def fixed_curves(results: Results, baseline: str) -> tuple[pd.DataFrame, Figure]:
    """Draw the curves of a baseline and its expected loss under the same settings, on training and validation data."""
    from rankplug.plotting import draw_curves, keep_within, legend_below, new_figure

    group, models = results.groups_run("fixed")[0], (baseline, f"E[{baseline}]")
    figure, axes = new_figure(width=4.6, height=3.2)
    for part in ("train", "valid"):
        label = f"{{model}}, {NAMES[part]}"
        shown, style = (
            curves_in_steps(results, group, part, models),
            {"linestyle": DASHES[part], **results.spread(group)},
        )
        draw_curves(axes, shown, models, label=label, colours=COLOURS, **style)
    axes.set(xlabel=f"training iteration ({iteration_name(baseline)})", ylabel="NDCG@5 (%)")
    keep_within(axes, 0, 100)
    legend_below(figure, columns=2)
    return curve_frame(results, group, models, ("train", "valid")), figure


def figure_3a(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw the curves of CrossEntropy."""
    return fixed_curves(results, "CrossEntropy")


def figure_3b(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw the curves of ApproxNDCG."""
    return fixed_curves(results, "ApproxNDCG")


def figure_3c(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw the curves of LambdaMART."""
    return fixed_curves(results, "lambdaMART")


def figure_3_on_yahoo(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw validation curves of Figure 3's pairs on the second collection, which the paper leaves out."""
    groups = results.groups(kind="fixed")
    if len(groups) < 2:
        import pandas as pd

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
    from rankplug.plotting import draw_curves, keep_within, legend_below, new_figure

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
