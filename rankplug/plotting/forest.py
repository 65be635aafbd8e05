"""A forest plot: many differences with intervals in one picture, each in units of the margin that would matter."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankplug.plotting.figures import PALETTE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, tuple[str, str]] = {
    "holds": (PALETTE[2], "o"),
    "fails": (PALETTE[3], "s"),
    "no difference": (PALETTE[7], "D"),
    "inconclusive": (PALETTE[1], "o"),
}
"""Colour and marker of each verdict; the words stand beside them."""
UNJUDGED = "#999999"
FARTHEST = 6.0
"""Margins to either side that are drawn; an arrow says that something lies beyond."""
MOST_BARS = 6
WIDTH_OF_WORDS = 56
"""Letters in a line of a claim's sentence."""


@dataclass(frozen=True)
class ForestCell:
    """A verdict and what it rests on.

    Args:
        verdict: its word.
        bars: differences with the ends of their intervals in units of the margin, the decisive one first; none for
            what is exact or was not judged.
        note: what is said where there are no bars.
    """

    verdict: str
    bars: tuple[tuple[float, float, float], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ForestRow:
    """A claim with a cell for each panel that has it.

    Args:
        words: its text.
        cells: by the name of the panel.
    """

    words: str
    cells: Mapping[str, ForestCell]


def draw_forest(blocks: Mapping[str, Sequence[ForestRow]]) -> Figure:
    """Draw a row for each claim and a panel for each kind of data, in blocks such as papers.

    Args:
        blocks: rows by the heading above them, which may be empty.
    """
    panels = list(dict.fromkeys(panel for rows in blocks.values() for row in rows for panel in row.cells))
    places, heights, y = [], {}, 0.0
    for heading, rows in blocks.items():
        if heading:
            heights[heading] = y
            y += 1.0
        for row in rows:
            lines = textwrap.wrap(row.words, WIDTH_OF_WORDS, break_on_hyphens=False) or [""]
            height = max(1.0, 0.62 * len(lines))
            places.append((y + height / 2 - 0.5, "\n".join(lines), row))
            y += height
    count = max(len(panels), 1)
    width = (4.2 + 3.6 * count) / count
    figure, axes = new_figure(count, width=width, height=0.9 + 0.27 * y, sharey=True, squeeze=False)
    for panel, shown in zip(axes[0], panels, strict=False):
        _panel(panel, shown, [(at, row.cells.get(shown)) for at, _, row in places], several=len(panels) > 1)
        panel.set_ylim(y - 0.3, -0.9)
        for at in heights.values():
            panel.axhspan(at - 0.5, at + 0.5, color="#EEEEEE", zorder=0)
    first = axes[0][0]
    first.set_yticks([at for at, _, _ in places], [words for _, words, _ in places], fontsize=8)
    for label in first.get_yticklabels():
        label.set_parse_math(all(map(_can_be_set, label.get_text().splitlines())))
    for heading, at in heights.items():
        shown = textwrap.shorten(heading, 80, placeholder=" ...")
        first.annotate(
            shown,
            (0, at),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8,
            fontweight="bold",
            annotation_clip=False,
            parse_math=_can_be_set(shown),
        )
    return figure


def _can_be_set(line: str) -> bool:
    """Tell whether what stands between the dollars of a line is a formula, if there is anything."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(line)
    except ValueError:
        return False
    return True


def _panel(axes: Axes, name: str, cells: Sequence[tuple[float, ForestCell | None]], several: bool) -> None:
    axes.axvspan(-1, 1, color="#E4EEF5", zorder=0)
    axes.axvline(0, color="k", linewidth=0.7)
    axes.set_xlim(-FARTHEST * 1.05, FARTHEST * 1.75)
    axes.set_xticks([-6, -4, -2, -1, 0, 1, 2, 4, 6])
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("difference in margins; the band is less than one", fontsize=8)
    axes.set_title(name, fontsize=8.5, parse_math=False)
    for at, cell in cells:
        if cell is None:
            continue
        colour, marker = LOOKS.get(cell.verdict, (UNJUDGED, ""))
        for index, bar in enumerate(cell.bars[:MOST_BARS]):
            _bar(axes, at, index, min(len(cell.bars), MOST_BARS), bar, colour, marker, cell.verdict == "inconclusive")
        if cell.note:
            axes.text(0, at, cell.note, ha="center", va="center", fontsize=8, color=colour, parse_math=False)
        axes.text(FARTHEST * 1.08, at, cell.verdict, ha="left", va="center", fontsize=8, color=colour)


def _bar(
    axes: Axes,
    at: float,
    row: int,
    count: int,
    bar: tuple[float, float, float],
    colour: str,
    marker: str,
    is_open: bool,
) -> None:
    """Draw an interval; the decisive one is thick and at the top of its row."""
    effect, low, high = bar
    y = at if count == 1 else at - 0.3 + 0.6 * row / (count - 1)
    first = row == 0
    left, right = max(low, -FARTHEST), min(high, FARTHEST)
    if left <= FARTHEST and right >= -FARTHEST:
        axes.plot(
            [left, right], [y, y], color=colour, linewidth=1.8 if first else 0.8, alpha=1 if first else 0.45, zorder=2
        )
    for beyond, end, arrow in ((low < -FARTHEST, -FARTHEST, "<"), (high > FARTHEST, FARTHEST, ">")):
        if beyond:
            axes.plot(end, y, arrow, color=colour, markersize=3.5, alpha=1 if first else 0.45)
    if abs(effect) <= FARTHEST:
        axes.plot(
            effect,
            y,
            marker,
            color=colour,
            markerfacecolor="w" if is_open else colour,
            markersize=4.2 if first else 2.2,
            alpha=1 if first else 0.45,
            zorder=3,
        )
