"""Figures 2 and 3: what noise in training does to quality on clean test data.

The paper draws the difference of the two models on a second axis; here it has a panel of its own below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankplug.statistics import t_interval
from rankplug.studies import Results
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
    """Levels of a kind of noise on a collection, and the groups of their runs."""
    return {float(group.rsplit(", ", 1)[1]): group for group in results.groups(f"{kind}, {place}, ")}


def noise_trials(results: Results, kind: Noise, place: str) -> dict[str, pd.DataFrame]:
    """For each model, test NDCG@5 in percent: a row a level in percent, a column a trial."""
    import pandas as pd

    of_levels = {
        100 * level: 100 * results.trials(group, METRIC) for level, group in levels(results, kind, place).items()
    }
    return {model: pd.DataFrame({level: trials[model] for level, trials in of_levels.items()}).T for model in COMPARED}


def noise_frame(results: Results, kind: Noise, place: str) -> pd.DataFrame:
    """A row for each level and curve: mean, interval and number of trials."""
    import pandas as pd

    trials = noise_trials(results, kind, place)
    curves = {**trials, "difference": trials["XE-NDCG"] - trials["lambdaMART"]}
    rows = []
    for name, of_trials in curves.items():
        for level, values in of_trials.iterrows():
            interval = t_interval(values, unit="trials")
            rows.append(
                {"place": place, "noise": kind, "level (%)": level, "curve": name, "ndcg@5 (%)": interval.point}
                | {"low": interval.low, "high": interval.high, "trials": interval.count}
            )
    return pd.DataFrame(rows)


def figure_2a(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Negative documents, in the place of Web30K."""
    return _figure(results, "negatives", (WEB30K,), "(a) ")


def figure_2b(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Negative documents, in the place of Yahoo."""
    return _figure(results, "negatives", (YAHOO,), "(b) ")


def figure_2c(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Flipped labels, in the place of Web30K."""
    return _figure(results, "flips", (WEB30K,), "(c) ")


def figure_2d(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Flipped labels, in the place of Yahoo."""
    return _figure(results, "flips", (YAHOO,), "(d) ")


def figure_3(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Simulated clicks."""
    return _figure(results, "clicks", (WEB30K, YAHOO))


def _figure(
    results: Results, kind: Noise, places: tuple[str, ...], letter: str = ""
) -> tuple[pd.DataFrame, Figure | None]:
    """Both models above, their difference below; nothing where a single data set was asked for and this is not it."""
    import pandas as pd

    from rankplug.plotting import keep_within, legend_below, new_figure

    run = [place for place in places if levels(results, kind, place)]
    if not run:
        return pd.DataFrame(columns=["place", "noise", "level (%)", "curve", "ndcg@5 (%)"]), None
    options: dict[str, Any] = {"sharex": "col", "squeeze": False, "height_ratios": [2, 1]}
    figure, panels = new_figure(len(run), 2, width=4.0, height=2.1, **options)
    for (upper, lower), place in zip(panels.T, run, strict=True):
        _draw(upper, lower, noise_trials(results, kind, place))
        keep_within(upper, 0, 100)
        keep_within(lower, -100, 100)
        upper.set(ylabel="test NDCG@5 (%)", title=f"{letter}in the place of {place}")
        lower.set(xlabel=AXES[kind], ylabel="XE-NDCG less\nlambdaMART (points)")
    figure.align_ylabels()
    legend_below(figure, columns=2)
    return pd.concat([noise_frame(results, kind, place) for place in run], ignore_index=True), figure


def _draw(upper: Any, lower: Any, trials: dict[str, pd.DataFrame]) -> None:
    from rankplug.plotting import PALETTE, colour, draw_mean

    for model, marker in zip(COMPARED, "os", strict=True):
        draw_mean(upper, trials[model], colour(model), label=model, marker=marker, markersize=4)
    draw_mean(lower, trials["XE-NDCG"] - trials["lambdaMART"], PALETTE[8], marker="D", markersize=3)
    lower.axhline(0, color="#888888", linewidth=0.8)
