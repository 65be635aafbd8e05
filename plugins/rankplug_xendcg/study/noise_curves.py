"""Figures 2 and 3: what noise in training does to quality on clean test data.

The paper draws the difference of the two models on a second axis; here it has a panel of its own below.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from rankplug.studies import Results, interval_of, p_value_of
from rankplug_xendcg.study.colours import colour_of
from rankplug_xendcg.study.protocol import COMPARED, WEB30K, YAHOO, Noise

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

METRIC = "ndcg@5"
AXES: dict[Noise, str] = {
    "negatives": "documents added to each list (%)",
    "flips": "labels drawn anew in each list (%)",
    "clicks": "click probability of label 0 (%)",
}


def levels(results: Results, kind: Noise, place: str) -> dict[float, str]:
    """Return the levels of a kind of noise on a collection, and the groups of their runs."""
    return {results.runs[group].level: group for group in results.groups(kind=kind, place=place)}


def noise_frame(results: Results, kind: Noise, collection: str) -> pd.DataFrame:
    """Return the mean and interval of each level and curve, with the unit of replication."""
    import pandas as pd

    rows = []
    for level, group in levels(results, kind, collection).items():
        samples = {model: results.contrast(METRIC, {(group, model): 100.0}) for model in COMPARED}
        lead = {(group, "XE-NDCG"): 100.0, (group, "lambdaMART"): -100.0}
        for name, sample in {**samples, "difference": results.contrast(METRIC, lead)}.items():
            interval = interval_of(sample)
            rows.append(
                {
                    "place": collection,
                    "noise": kind,
                    "level (%)": 100 * level,
                    "curve": name,
                    "ndcg@5 (%)": interval.point,
                }
                | {"low": interval.low, "high": interval.high, "over": sample.extent}
                | {"combination": results.combinations_of(group, *(COMPARED if name == "difference" else (name,)))}
            )
    return pd.DataFrame(rows)


def figure_2a(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw negative documents, in the place of Web30K."""
    return _figure(results, "negatives", (WEB30K,), "(a) ")


def steps_2a(results: Results) -> tuple[pd.DataFrame, None]:
    """Return what each model's test quality changes by from one level of negative documents to the next, with p."""
    import pandas as pd

    groups = list(levels(results, "negatives", WEB30K).items())
    rows = []
    for (low, before), (high, after) in itertools.pairwise(groups):
        for model in COMPARED:
            sample = results.contrast(METRIC, {(after, model): 100.0, (before, model): -100.0})
            interval, p = interval_of(sample), p_value_of(sample)
            row = {"from (%)": 100 * low, "to (%)": 100 * high, "model": model, "change": interval.point}
            row |= {"low": interval.low, "high": interval.high, "p": 2 * min(p, 1 - p), "over": sample.extent}
            names = dict.fromkeys(results.combinations_of(group, model) for group in (before, after))
            rows.append({**row, "combination": " ".join(names)})
    columns = ["from (%)", "to (%)", "model", "change", "low", "high", "p", "over", "combination"]
    return pd.DataFrame(rows, columns=columns), None


def figure_2b(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw negative documents, in the place of Yahoo."""
    return _figure(results, "negatives", (YAHOO,), "(b) ")


def figure_2c(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw flipped labels, in the place of Web30K."""
    return _figure(results, "flips", (WEB30K,), "(c) ")


def figure_2d(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw flipped labels, in the place of Yahoo."""
    return _figure(results, "flips", (YAHOO,), "(d) ")


def figure_3(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw the curves under simulated clicks."""
    return _figure(results, "clicks", (WEB30K, YAHOO))


def _figure(
    results: Results, kind: Noise, datasets: tuple[str, ...], letter: str = ""
) -> tuple[pd.DataFrame, Figure | None]:
    """Draw both models above, their difference below; nothing if a single data set was asked for and this is not it."""
    import pandas as pd

    from rankplug.plotting import keep_within, legend_below, new_figure

    run = [name for name in datasets if levels(results, kind, name)]
    if not run:
        return pd.DataFrame(columns=["place", "noise", "level (%)", "curve", "ndcg@5 (%)"]), None
    options: dict[str, Any] = {"sharex": "col", "squeeze": False, "height_ratios": [2, 1]}
    figure, panels = new_figure(len(run), 2, width=4.0, height=2.1, **options)
    frames = {name: noise_frame(results, kind, name) for name in run}
    for (upper, lower), (place, frame) in zip(panels.T, frames.items(), strict=True):
        _draw(upper, lower, frame)
        keep_within(upper, 0, 100)
        keep_within(lower, -100, 100)
        upper.set(ylabel="test NDCG@5 (%)", title=f"{letter}in the place of {place}")
        lower.set(xlabel=AXES[kind], ylabel="XE-NDCG's\nlead (points)")
    figure.align_ylabels()
    legend_below(figure, columns=2)
    return pd.concat(frames.values(), ignore_index=True), figure


def _draw(upper: Any, lower: Any, frame: pd.DataFrame) -> None:
    from rankplug.plotting import PALETTE, draw_band

    markers = zip(COMPARED, "os", strict=True)
    styles: dict[str, dict[str, Any]] = {
        model: {"color": colour_of(model), "marker": marker, "markersize": 4} for model, marker in markers
    }
    styles["difference"] = {"color": PALETTE[8], "marker": "D", "markersize": 3}
    for curve, style in styles.items():
        rows, axes = frame[frame["curve"] == curve], lower if curve == "difference" else upper
        axes.plot(rows["level (%)"], rows["ndcg@5 (%)"], label="" if curve == "difference" else curve, **style)
        draw_band(axes, rows["level (%)"], rows["low"], rows["high"], style["color"])
    lower.axhline(0, color="#888888", linewidth=0.8)
