"""Titles of boards: papers and conditions, and where several boards have the same ones, what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankplug.studies.scoreboard.boards import Board


def distinct_titles(boards: Sequence[Board]) -> list[str]:
    """Return a title for each board."""
    alike: dict[str, list[Board]] = {}
    for board in boards:
        alike.setdefault(board.title, []).append(board)
    told = {
        board: ", ".join(filter(None, [title, words]))
        for title, several in alike.items()
        for board, words in zip(several, _told_apart(several), strict=True)
    }
    return [told[board] for board in boards]


def _told_apart(boards: Sequence[Board]) -> list[str]:
    """Return what tells boards of the same papers and conditions apart: collections, transforms, both, or methods."""
    if len(boards) == 1:
        return [""]
    names = ["on " + ", ".join(dict.fromkeys(one.collection.title for one in board.columns)) for board in boards]
    transforms = _own_transforms(boards)
    both = [", ".join(filter(None, words)) for words in zip(names, transforms, strict=True)]
    # Boards of the same conditions have no method in common, or they would be one.
    methods = [f"{board.rows[0].method} and {len(board.rows) - 1} more" for board in boards]
    return next((told for told in (names, transforms, both) if len(set(told)) == len(told)), methods)


def _own_transforms(boards: Sequence[Board]) -> list[str]:
    """Say with which transforms, of those that not all boards have on all their data, each board was run."""
    of_boards = [[set(column.collection.transforms) for column in board.columns] for board in boards]
    own = [several[0].intersection(*several) for several in of_boards]
    every = sorted(own[0].union(*own) - own[0].intersection(*own))
    return [
        "with " + ", ".join(name for name in every if name in transforms)
        if transforms & set(every)
        else "without " + ", ".join(every)
        if every
        else ""
        for transforms in own
    ]
