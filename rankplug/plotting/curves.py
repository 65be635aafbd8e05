"""Curves and intervals: means of trials as lines, and how far they reach as bands, bars and arrowheads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankplug.plotting.figures import colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def draw_curves(
    axes: Axes,
    curves: pd.DataFrame,
    models: Iterable[str],
    label: str = "{model}",
    *,
    over: str = "trial",
    widen: float = 1.0,
    colours: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Draw mean learning curves with 95 % t intervals.

    Where early stopping ended some trainings before others, a thin dashed line goes on to the longest, in which a
    stopped one stays at the best it had, which is the model it became.

    Args:
        axes: to draw on.
        curves: rows of :meth:`rankplug.studies.Results.curves`.
        models: in the order of the legend.
        label: of the legend.
        over: what the intervals are over, ``trial`` or ``fold``; the other is averaged.
        widen: factor on the intervals.
        colours: that the study gives its models.
        options: of the lines.
    """
    for model in models:
        of_runs = _curve_of_runs(curves[curves["model"] == model])
        if of_runs.empty:
            continue
        all_go = of_runs.notna().all(axis=1)
        whole = of_runs[all_go].T.groupby(level=over).mean().T
        draw_mean(axes, whole, colour(model, colours), widen=widen, label=label.format(model=model), **options)
        if not all_go.all():
            went_on = of_runs.fillna(of_runs.max().to_dict()).mean(axis=1)[~all_go]
            axes.plot(went_on, color=colour(model, colours), linewidth=0.8, linestyle=(0, (2, 2)))


def _curve_of_runs(curves: pd.DataFrame) -> pd.DataFrame:
    """Return one model's learning curves: a row for each iteration, a column for each trial and fold."""
    return curves.pivot_table(index="iteration", columns=["trial", "fold"], values="value", observed=True)


def draw_mean(axes: Axes, of_trials: pd.DataFrame, colour: str, *, widen: float = 1.0, **options: Any) -> None:
    """Draw a line through the rows' means, with their 95 % t intervals as a band.

    Args:
        axes: to draw on.
        of_trials: its index is the horizontal axis, each column a trial.
        colour: of the line and the band.
        widen: factor on the intervals.
        options: of the line.
    """
    from rankplug.statistics import t_interval

    intervals = [t_interval(row, unit="trials") for row in of_trials.to_numpy()]
    axes.plot(of_trials.index, [interval.point for interval in intervals], color=colour, **options)
    if of_trials.shape[1] > 1:
        low, high = (
            [interval.point + side * widen * interval.half_width for interval in intervals] for side in (-1, 1)
        )
        draw_band(axes, of_trials.index, low, high, colour)


def draw_band(axes: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str) -> None:
    """Draw a band of intervals with its edges, so that bands that overlap are told apart."""
    from matplotlib.colors import to_rgba

    axes.fill_between(x, low, high, facecolor=to_rgba(colour, 0.12), edgecolor=to_rgba(colour, 0.6), linewidth=0.6)


def draw_interval(
    axes: Axes, position: float, low: float, high: float, limits: tuple[float, float], *, vertical: bool, **options: Any
) -> None:
    """Draw an interval as far as the axis goes; where it goes on, it ends in an arrowhead.

    Args:
        axes: to draw on.
        position: on the other axis.
        low: lower end; nothing is drawn where it is nan.
        high: upper end.
        limits: of the axis that the interval lies along.
        vertical: whether that is the vertical one.
        options: of the line.
    """
    import numpy as np

    if not (np.isfinite(low) and np.isfinite(high)):
        return
    ends = np.clip([low, high], *limits)
    heads = [mark for mark, cut in zip("v^" if vertical else "<>", (low < limits[0], high > limits[1]), strict=True)
             if cut]  # fmt: skip
    at = [end for end, cut in zip(ends, (low < limits[0], high > limits[1]), strict=True) if cut]
    axes.plot(*([position, position], ends) if vertical else (ends, [position, position]), **options)
    for mark, end in zip(heads, at, strict=True):
        x, y = (position, end) if vertical else (end, position)
        axes.plot([x], [y], mark, color=options.get("color"), markersize=4, clip_on=False)
