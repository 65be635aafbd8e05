"""The scoreboard as a page: methods by collections, each number linked to the runs behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.report.rendering import render

if TYPE_CHECKING:
    from markupsafe import Markup

    from rankplug.studies import Board, Scoreboard, Standing

FOLDER = "exhibits/scoreboard"
MOST_COLUMNS = 5
"""Collections that a page has room for side by side; more have further tables."""
MOST_DRAWN = 20
"""Methods of a diagram; the leading ones are drawn where there are more."""
MOST_OPEN = 8
"""Rows of a table that is not folded."""


@dataclass(frozen=True)
class Place:
    """A number of the scoreboard with where it stands.

    Args:
        board: the conditions under which it was measured.
        anchor: of the board on the scoreboard's page; empty where that leaves it out.
        standing: the number, with its method and collection.
    """

    board: Board
    anchor: str
    standing: Standing


def compared_boards(shown: Scoreboard) -> dict[Board, str]:
    """Return the boards in which methods are compared with others, with their anchors on the page."""
    compared = [board for board in shown.boards if len(board.rows) > 1]
    return {board: f"board-{number}" for number, board in enumerate(compared, 1)}


def places_of(shown: Scoreboard) -> dict[str, list[Place]]:
    """Return for each combination the numbers of the scoreboard that are its own, or its own and others'."""
    anchors = compared_boards(shown)
    places: dict[str, list[Place]] = {}
    for board in shown.boards:
        for cell in (cell for row in board.rows for cell in row.cells if cell):
            for identity in cell.entry.identities:
                places.setdefault(identity, []).append(Place(board, anchors.get(board, ""), cell))
    return places


def scoreboard_html(shown: Scoreboard, pictures: Mapping[Board, str], papers: Collection[str]) -> Markup:
    """Return the body of the scoreboard's page, which leaves out methods that are compared with no other.

    Args:
        shown: the scoreboard.
        pictures: of its boards, files of the report.
        papers: studies that have a page.
    """
    limits = {"most_drawn": MOST_DRAWN, "most_columns": MOST_COLUMNS, "most_open": MOST_OPEN}
    boards = compared_boards(shown)
    return render("scoreboard", shown=shown, boards=boards, pictures=pictures, papers=papers, **limits)


def draw_boards(boards: Iterable[Board], folder: Path) -> dict[Board, str]:
    """Draw the mean ranks of all boards that have a critical difference, and return their files in the report."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import draw_ranks, encode_figure, new_figure

    drawn = {}
    for number, board in enumerate(boards, 1):
        critical = board.ranks.critical
        if critical is None:
            continue
        order = sorted(board.ranks.mean.items(), key=lambda ranked: (ranked[1], ranked[0]))[:MOST_DRAWN]
        shown = replace(critical, average_ranks=tuple(rank for _, rank in order))
        rows = (len(order) + 1) // 2 + len(shown.groups)
        figure, axes = new_figure(width=8.4, height=1.4 + 0.24 * rows)
        draw_ranks(axes, [str(method) for method, _ in order], shown)
        file = f"{FOLDER}/board-{number}.svg"
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        with (folder / file).open("wb") as picture:
            encode_figure(figure, picture, "svg")
        plt.close(figure)
        drawn[board] = file
    return drawn
