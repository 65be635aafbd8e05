"""Test quality of E[ApproxNDCG] over the scale of the noise, the number of draws and the law of the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from rankplug.studies import Results
from rankplug_stochastic.study.colours import colour_of
from rankplug_stochastic.study.experiments.convergence import METRIC
from rankplug_stochastic.study.protocol import DRAWS, LAWS, NO_NOISE, NOISE, SCALES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = {
    "scale of the noise, beta": {f"beta = {scale:g}": scale for scale in SCALES},
    "draws, N": {f"N = {draws}": float(draws) for draws in DRAWS},
}
OTHER_LAWS = {"scale of the noise, beta": 1.0, "draws, N": 8.0}
"""Position of the other laws on each axis."""


def frame_of(results: Results) -> pd.DataFrame:
    """Return a row for each kind of noise: mean test NDCG@5 in percent and its interval."""
    if not results.groups(kind=NOISE):
        return pd.DataFrame(columns=["noise", "ours", "low", "high", "combination"])
    group = results.groups_run(NOISE)[0]
    rows: list[dict[str, Any]] = []
    for model in results.models(group):
        mean = results.mean(group, METRIC, model, scale=100)
        behind = results[group].loc[results[group]["model"] == model, "combination"]
        rows.append({"noise": model, "ours": mean.point, "low": mean.low, "high": mean.high})
        rows[-1]["combination"] = " ".join(sorted(set(behind)))
    return pd.DataFrame(rows)


def draw(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw a panel for scales and one for draws, beside other laws and no noise; no figure where a profile has none."""
    from rankplug.plotting import PALETTE, draw_band, new_figure

    frame = frame_of(results)
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
            known.loc[NO_NOISE, "ours"], color=colour_of(NO_NOISE), linewidth=0.8, linestyle="--", label=NO_NOISE
        )
    axes[0].set_ylabel(f"test {METRIC.upper()} (%)")
    axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return frame, figure
