"""A marker for each colour, so that lines are told apart in grey and by readers who are colour-blind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rankplug.plotting.figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

MARKERS = dict(zip(PALETTE, ("o", "s", "^", "D", "v", "P", "X", "p", "*"), strict=True))
"""Colour -> marker."""
SIZE = 4.0
SPACING = 0.16
"""Space between markers on a line that has none at its points, as a share of its axes' diagonal."""


def mark_lines(figure: Figure) -> None:
    """Give the lines of a legend that differ by their colour alone markers too, the same for the same colour."""
    lines = [line for axes in figure.axes for line in axes.lines if _is_named(line)]
    alike = {line.get_label() for line in lines if any(_differ_by_colour_alone(line, other) for other in lines)}
    marked = {line.get_label(): line for line in lines if line.get_label() in alike and _colour(line) in MARKERS}
    looks = {_look(line) for line in lines if line.get_label() in marked}
    for line in (line for axes in figure.axes for line in axes.lines):
        # Points of a further panel may have no name of their own.
        if line.get_label() in marked or (_has_points(line) and _look(line) in looks):
            _mark(line)
    for handle, label in (pair for legend in _legends(figure) for pair in _entries(legend)):
        if label in marked:
            handle.set(marker=marked[label].get_marker(), markersize=SIZE)


def _mark(line: Line2D) -> None:
    """Mark a line at its points where these are marked, else now and then, beside the markers of other lines."""
    colour = _colour(line)
    if not _has_points(line):
        line.set(markersize=SIZE, markevery=(SPACING * PALETTE.index(colour) / len(PALETTE), SPACING))
    line.set_marker(MARKERS[colour])


def _is_named(line: Line2D) -> bool:
    return line.get_visible() and not str(line.get_label()).startswith("_")


def _differ_by_colour_alone(one: Line2D, other: Line2D) -> bool:
    return _look(one)[1:] == _look(other)[1:] and _colour(one) != _colour(other)


def _look(line: Line2D) -> tuple[str, str, str]:
    return _colour(line), str(line.get_linestyle()), str(line.get_marker())


def _has_points(line: Line2D) -> bool:
    return line.get_marker() not in ("None", "none", "", " ", None)


def _colour(line: Line2D) -> str:
    from matplotlib.colors import to_hex

    return to_hex(line.get_color()).upper()


def _legends(figure: Figure) -> Iterator[Legend]:
    yield from figure.legends
    yield from (legend for axes in figure.axes if (legend := axes.get_legend()))


def _entries(legend: Legend) -> Iterable[tuple[Line2D, str]]:
    from matplotlib.lines import Line2D

    named = zip(legend.legend_handles, legend.get_texts(), strict=True)
    return [(handle, text.get_text()) for handle, text in named if isinstance(handle, Line2D)]
