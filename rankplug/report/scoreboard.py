"""Files and anchors of the scoreboard's page: a table of methods for each collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rankplug.plotting import draw_ranks, encode_figure, new_figure
from rankplug.report.exhibit_tables import exhibit_latex
from rankplug.studies import Board, Scoreboard, Standing

FOLDER = "exhibits/scoreboard"
MOST_DRAWN = 20
"""Methods of a diagram; the leading ones are drawn where there are more."""
MOST_OPEN = 8
"""Rows of a table that is not folded."""


@dataclass(frozen=True)
class Place:
    """A number of the scoreboard with its board and that one's anchor on the page."""

    board: Board
    anchor: str
    standing: Standing


def board_anchors(shown: Scoreboard) -> dict[Board, str]:
    """Return the anchors of the boards on the page."""
    return {board: f"board-{number}" for number, board in enumerate(shown.boards, 1)}


def places_of(shown: Scoreboard) -> dict[str, list[Place]]:
    """Return for each combination the numbers of the scoreboard that rest on it."""
    places: dict[str, list[Place]] = {}
    for board, anchor in board_anchors(shown).items():
        for standing in board.standings.values():
            for identity in standing.entry.identities:
                places.setdefault(identity, []).append(Place(board, anchor, standing))
    return places


def board_files(shown: Scoreboard, folder: Path) -> dict[Board, dict[str, str]]:
    """Write numbers and pictures of critical differences of all boards; return each board's files by suffix.

    Args:
        shown: the scoreboard.
        folder: folder of the report.
    """
    import pandas as pd

    files: dict[Board, dict[str, str]] = {}
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for board, anchor in board_anchors(shown).items():
        table = pd.DataFrame(board.describe()["methods"])
        table["combination"] = table.pop("combinations").map(" ".join)
        contents = {"csv": table.to_csv(index=False).encode(), "tex": exhibit_latex(table).encode(), **_pictures(board)}
        files[board] = {suffix: f"{FOLDER}/{anchor}.{suffix}" for suffix in contents}
        for suffix, file in files[board].items():
            (folder / file).write_bytes(contents[suffix])
    return files


def _pictures(board: Board) -> dict[str, bytes]:
    """Draw the mean ranks of a board; return nothing where none differ critically."""
    critical = board.ranks.critical
    if critical is None:
        return {}
    order = sorted(board.ranks.mean.items(), key=lambda ranked: (ranked[1], ranked[0]))[:MOST_DRAWN]
    shown = replace(critical, average_ranks=tuple(rank for _, rank in order))
    rows = (len(order) + 1) // 2 + len(shown.groups)
    figure, axes = new_figure(width=8.4, height=1.4 + 0.24 * rows)
    draw_ranks(axes, [str(method) for method, _ in order], shown)
    return encode_figure(figure, ("svg", "png", "pdf"))[0]
