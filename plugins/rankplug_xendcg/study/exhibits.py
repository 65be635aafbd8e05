"""The paper's tables and figures of trained models, and the comparison of gammas."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankplug.plotting import PALETTE, draw_band, draw_curves, keep_within, legend_below, new_figure
from rankplug.statistics import holm
from rankplug.studies import Results, beside_published, facts_beside_published, interval_of, p_value_of
from rankplug_xendcg.study.protocol import (
    COLOURS,
    COMPARED,
    GAMMA,
    GAMMAS,
    METRICS,
    MODELS,
    PLACES,
    WEB30K,
    Noise,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LEVEL, METRIC = 0.01, "ndcg@5"


def table_1(results: Results) -> tuple[pd.DataFrame, None]:
    """Return means over trials with intervals."""
    tables = [
        beside_published(results, group, METRICS, exhibit="Table 1", dataset=results.place(group))
        for group in results.groups(kind="quality")
    ]
    return pd.concat(tables, ignore_index=True), None


def table_1_tests(results: Results) -> tuple[pd.DataFrame, None]:
    """Return two-sided tests by the design of the data, raw and corrected by Holm for the three pairs."""
    rows = []
    for group in results.groups(kind="quality"):
        for metric in METRICS:
            family: list[dict[str, Any]] = []
            for first, second in itertools.combinations(reversed(results.models(group)), 2):
                sample = results.difference(group, metric, first, second)
                interval, p = interval_of(sample), p_value_of(sample)
                family.append(
                    {
                        "data": results.place(group),
                        "metric": metric,
                        "models": f"{first} - {second}",
                        "difference": 100 * interval.point,
                        "low": 100 * interval.low,
                        "high": 100 * interval.high,
                        "t": float(sample.estimate.point / sample.estimate.error),
                        "over": sample.extent,
                        "p": 2 * min(p, 1 - p),
                        "combination": results.combinations_of(group, first, second),
                    }
                )
            corrected = holm([row["p"] for row in family], level=LEVEL)
            for row, p_value, rejected in zip(family, corrected.p_values, corrected.rejected, strict=True):
                rows.append({**row, "p, Holm": p_value, f"differ at {LEVEL:g}": rejected})
    return pd.DataFrame(rows), None


MISSING = "not in our source"
"""Text in place of a number that the copy of the paper at hand has lost."""


def published_numbers(results: Results) -> tuple[pd.DataFrame, None]:
    """Return every number that the paper prints, where it was read, and a plain word where it could not be.

    Table 1 has lost its body; of Figure 1 the ticks of the axes are left, which bound the curves and are no values of
    them. Figures 2 and 3 have nothing that could be read.
    """
    known = results.published[["exhibit", "dataset", "model", "metric", "value", "note"]].astype(object)
    rows = [
        {"exhibit": row.exhibit, "data": row.dataset, "model": row.model, "what": row.metric, "published": row.value}
        | {"source": row.note or "the text"}
        for row in known.where(known.notna(), "").itertuples()
    ]
    table = [
        {"exhibit": "Table 1", "data": collection, "model": model, "what": metric, "published": "", "source": MISSING}
        for collection in PLACES
        for model in MODELS
        for metric in METRICS
    ]
    figures = [
        {"exhibit": figure, "data": "", "model": "", "what": "curves", "published": "", "source": MISSING}
        for figure in ("Figure 1", "Figure 2", "Figure 3")
    ]
    return pd.DataFrame([*rows, *table, *figures]), None


def data(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the sizes of the data (Section 5.1)."""
    groups = {results.place(group): group for group in results.groups(kind="quality")}
    return facts_beside_published(results, "Section 5.1", groups), None


def figure_1(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw validation NDCG@5 of lambdaMART and XE-NDCG on each collection: means over trials with intervals."""
    groups = results.groups(kind="quality")
    figure, panels = new_figure(len(groups), width=4.0, height=3.1, squeeze=False)
    frames = []
    for panel, group, letter in zip(panels[0], groups, "ab", strict=False):
        curves = results.curves(group, "valid", METRIC, COMPARED)
        shown = curves.assign(value=100 * curves["value"], iteration=curves["iteration"] + 1)
        draw_curves(panel, shown, COMPARED, colours=COLOURS, **results.spread(group))
        collection = results.place(group)
        keep_within(panel, 0, 100)
        panel.set(xlabel="trees", ylabel="validation NDCG@5 (%)", title=f"({letter}) in the place of {collection}")
        columns = ["dataset", "model", "trial", "iteration", "value", "combination"]
        frames.append(curves[columns].rename(columns={"value": METRIC}).assign(place=collection))
    legend_below(figure, columns=2)
    return pd.concat(frames, ignore_index=True), figure


def gap_at(curve: pd.DataFrame, share: float) -> pd.Series[float]:
    """Return the mean gap over the trees up to a tenth before a share of them."""
    end = max(int(np.ceil(share * len(curve))), 1)
    return curve.iloc[max(end - max(len(curve) // 10, 1), 0) : end].mean()


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


def steps_2a(results: Results) -> tuple[pd.DataFrame, None]:
    """Return what each model's test quality changes by from one level of negative documents to the next, with p."""
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


def figure_of_noise(
    kind: Noise, *places: str, letter: str = ""
) -> Callable[[Results], tuple[pd.DataFrame, Figure | None]]:
    """Return a function that draws both models above, their difference below; no figure where no place was run."""

    def draw(results: Results) -> tuple[pd.DataFrame, Figure | None]:
        frames = {place: noise_frame(results, kind, place) for place in places if levels(results, kind, place)}
        if not frames:
            return pd.DataFrame(columns=["place", "noise", "level (%)", "curve", "ndcg@5 (%)"]), None
        options: dict[str, Any] = {"sharex": "col", "squeeze": False, "height_ratios": [2, 1]}
        figure, panels = new_figure(len(frames), 2, width=4.0, height=2.1, **options)
        for (upper, lower), (place, frame) in zip(panels.T, frames.items(), strict=True):
            _draw(upper, lower, frame)
            keep_within(upper, 0, 100)
            keep_within(lower, -100, 100)
            upper.set(ylabel="test NDCG@5 (%)", title=f"{letter}in the place of {place}")
            lower.set(xlabel=AXES[kind], ylabel="XE-NDCG's\nlead (points)")
        figure.align_ylabels()
        legend_below(figure, columns=2)
        return pd.concat(frames.values(), ignore_index=True), figure

    return draw


def _draw(upper: Any, lower: Any, frame: pd.DataFrame) -> None:
    markers = zip(COMPARED, "os", strict=True)
    styles: dict[str, dict[str, Any]] = {
        model: {"color": COLOURS[model], "marker": marker, "markersize": 4} for model, marker in markers
    }
    styles["difference"] = {"color": PALETTE[8], "marker": "D", "markersize": 3}
    for curve, style in styles.items():
        rows, axes = frame[frame["curve"] == curve], lower if curve == "difference" else upper
        axes.plot(rows["level (%)"], rows["ndcg@5 (%)"], label="" if curve == "difference" else curve, **style)
        draw_band(axes, rows["level (%)"], rows["low"], rows["high"], style["color"])
    lower.axhline(0, color="#888888", linewidth=0.8)


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each way's test quality in percent, and the paper's lead over it in points with its interval."""
    group, (papers, *others) = results.groups_run(GAMMA)[0], GAMMAS
    rows = []
    for model in (papers, *others):
        for metric in METRICS:
            mean = results.mean(group, metric, model, scale=100)
            row = {"gamma": model, "metric": metric, "ours": mean.point, "half width": mean.half_width}
            if model != papers:
                lead = interval_of(results.contrast(metric, {(group, papers): 100.0, (group, model): -100.0}))
                row |= {"lead of the paper's": lead.point, "low": lead.low, "high": lead.high}
            rows.append({**row, "combination": results.combinations_of(group, model)})
    return pd.DataFrame(rows), None
