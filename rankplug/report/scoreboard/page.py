"""The scoreboard as a page: methods by collections, each number linked to the runs behind it."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.report.exhibit_tables import by_suffix, exhibit_files
from rankplug.report.rendering import render

if TYPE_CHECKING:
    import pandas as pd
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


def scoreboard_html(shown: Scoreboard, files: Mapping[Board, Mapping[str, str]], papers: Collection[str]) -> Markup:
    """Return the body of the scoreboard's page, which leaves out methods that are compared with no other.

    Args:
        shown: the scoreboard.
        files: of its boards, see :func:`board_files`.
        papers: studies that have a page.
    """
    limits = {"most_drawn": MOST_DRAWN, "most_columns": MOST_COLUMNS, "most_open": MOST_OPEN}
    boards = compared_boards(shown)
    return render("scoreboard", shown=shown, boards=boards, files=files, papers=papers, **limits)


def board_files(shown: Scoreboard, folder: Path) -> dict[Board, dict[str, str]]:
    """Write the numbers of all boards, and a picture of the mean ranks of those that have a critical difference.

    Args:
        shown: the scoreboard.
        folder: of the report.

    Returns:
        the files of each board in the report, by their suffixes.
    """
    return {
        board: by_suffix(exhibit_files(_picture(board), board_table(board), folder, f"{FOLDER}/{anchor}"))
        for board, anchor in compared_boards(shown).items()
    }


def board_table(board: Board) -> pd.DataFrame:
    """Return the numbers of a board: a row for each method and collection."""
    import pandas as pd

    rows = [
        {
            "paper": row.method.study, "method": str(row.method), "mean rank": row.rank,
            "collection": column.collection.title, "data": column.collection.details, "mean": cell.interval.point,
            "low": cell.interval.low, "high": cell.interval.high, "trials": cell.trials,
            "behind the best": cell.lead, "the best is better": cell.verdict,
            "combination": " ".join(cell.entry.identities),
        }
        for row in board.rows for column, cell in zip(board.columns, row.cells, strict=True) if cell
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _picture(board: Board) -> dict[str, bytes]:
    """Draw the mean ranks of a board; nothing where none differ critically."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import draw_ranks, encode_figure, lay_out, new_figure

    critical = board.ranks.critical
    if critical is None:
        return {}
    order = sorted(board.ranks.mean.items(), key=lambda ranked: (ranked[1], ranked[0]))[:MOST_DRAWN]
    shown = replace(critical, average_ranks=tuple(rank for _, rank in order))
    rows = (len(order) + 1) // 2 + len(shown.groups)
    figure, axes = new_figure(width=8.4, height=1.4 + 0.24 * rows)
    draw_ranks(axes, [str(method) for method, _ in order], shown)
    area, files = lay_out(figure), {suffix: io.BytesIO() for suffix in ("svg", "png", "pdf")}
    for suffix, file in files.items():
        encode_figure(figure, file, suffix, area)
    plt.close(figure)
    return {suffix: file.getvalue() for suffix, file in files.items()}
