"""The scoreboard as a page: a table of methods for each collection, each number linked to the runs behind it."""

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
MOST_DRAWN = 20
"""Methods of a diagram; the leading ones are drawn where there are more."""
MOST_OPEN = 8
"""Rows of a table that is not folded."""


@dataclass(frozen=True)
class Place:
    """A number of the scoreboard with where it stands: its board and that one's anchor on the page."""

    board: Board
    anchor: str
    standing: Standing


def board_anchors(shown: Scoreboard) -> dict[Board, str]:
    """Return the anchors of the boards on the page."""
    return {board: f"board-{number}" for number, board in enumerate(shown.boards, 1)}


def places_of(shown: Scoreboard) -> dict[str, list[Place]]:
    """Return for each combination the numbers of the scoreboard that are its own, or its own and others'."""
    places: dict[str, list[Place]] = {}
    for board, anchor in board_anchors(shown).items():
        for standing in board.standings.values():
            for identity in standing.entry.identities:
                places.setdefault(identity, []).append(Place(board, anchor, standing))
    return places


def scoreboard_html(shown: Scoreboard, files: Mapping[Board, Mapping[str, str]], papers: Collection[str]) -> Markup:
    """Return the body of the page, with the boards' files and links to those papers that have a page."""
    limits = {"most_drawn": MOST_DRAWN, "most_open": MOST_OPEN}
    return render("scoreboard", shown=shown, boards=board_anchors(shown), files=files, papers=papers, **limits)


def board_files(shown: Scoreboard, folder: Path) -> dict[Board, dict[str, str]]:
    """Write the numbers of all boards, and pictures of critical differences; return each board's files by suffix."""
    return {
        board: by_suffix(exhibit_files(_picture(board), _table(board), folder, f"{FOLDER}/{anchor}"))
        for board, anchor in board_anchors(shown).items()
    }


def _table(board: Board) -> pd.DataFrame:
    """Return the numbers of a board: a row for each method."""
    import pandas as pd

    rows = [
        {
            "paper": method.study, "method": str(method), "mean rank": board.ranks.mean.get(method),
            "collection": board.collection.title, "data": board.collection.details, "mean": place.interval.point,
            "low": place.interval.low, "high": place.interval.high, "trials": place.trials,
            "behind the best": place.lead, "the best is better": place.verdict,
            "combination": " ".join(place.entry.identities),
        }
        for method, place in board.standings.items()
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
