"""Figures 4 to 6: how many rankings are drawn, and where the walks restart, against test accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankplug.studies import Results
from rankplug_logrank.study.colours import colour_of
from rankplug_logrank.study.protocol import DIAGNOSED, MEASURES, RESTART_MIXES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

GROUP = "sampler"


def of_settings(results: Results, measure: str, settings: dict[Any, str]) -> pd.DataFrame:
    """Return test accuracies: a row for each setting, a column for each trial."""
    of_trials = results.trials(GROUP, MEASURES[measure])[list(settings.values())].T
    of_trials.index = list(settings)
    return of_trials


def _panels(results: Results, settings: dict[Any, str], axis: str, log: bool = False) -> tuple[pd.DataFrame, Figure]:
    import pandas as pd

    from rankplug.plotting import draw_mean, new_figure

    figure, panels = new_figure(len(MEASURES), width=2.3, height=2.5, squeeze=False)
    frames = []
    for axes, measure in zip(panels[0], MEASURES, strict=True):
        values = of_settings(results, measure, settings)
        frame = values.melt(ignore_index=False, var_name="trial").rename_axis(axis).reset_index()
        frame["combination"] = [results.combinations_of(GROUP, settings[value]) for value in frame[axis]]
        frame.insert(0, "measure", measure)
        frames.append(frame)
        draw_mean(axes, values, colour_of(DIAGNOSED), marker="o", markersize=4)
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
