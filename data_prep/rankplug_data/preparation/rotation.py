"""Arrangement of the parts of all folds in one array, in which each part is one run of queries.

The five folds of LETOR and MSLR share five disjoint parts S1 ... S5: fold k trains on three, validates on the fourth
and tests on the fifth. Stored as S1 S2 S3 S4 S5 S1 S2, the training part of each fold is one run of rows, and any fold
opens without a copy. So only the five test files need to be read. Where a release does not follow that scheme, the
parts of each fold are stored as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankplug_data.preparation.layout import Place
from rankplug_data.public.benchmark import PARTS

SHARES = 5
"""Parts that rotate."""
SIZE_SLACK = 8
"""Bytes by which a joined file may differ from its parts: a missing line end or two."""


@dataclass(frozen=True)
class Arrangement:
    """The order in which texts are stored, and where the parts of the folds are.

    Args:
        order: the texts, of which some may come twice.
        whole: how many of them, from the first on, make up the whole set once.
        folds: first and last (exclusive) text of each part of each fold.
    """

    order: tuple[Place, ...]
    whole: int
    folds: Mapping[int, Mapping[str, tuple[int, int]]]


def share(number: int) -> Place:
    """Return the file that is part S1, S2, ... of the rotation; numbers wrap around.

    >>> [share(number).fold for number in (1, 2, 3, 4, 5, 6)]
    [2, 3, 4, 5, 1, 2]
    """
    return Place(number % SHARES + 1, "test")


def rotating() -> Arrangement:
    """Return the arrangement of five rotating parts.

    >>> rotating().folds[5]
    {'train': (4, 7), 'valid': (2, 3), 'test': (3, 4)}
    """
    order = tuple(share(number) for number in range(1, SHARES + 3))

    def alone(number: int) -> tuple[int, int]:
        position = (number - 1) % SHARES
        return position, position + 1

    folds = {
        fold: {"train": (fold - 1, fold + 2), "valid": alone(fold + 3), "test": alone(fold + 4)}
        for fold in range(1, SHARES + 1)
    }
    return Arrangement(order, SHARES, folds)


def side_by_side(folds: Sequence[int], parts: Sequence[str] = PARTS) -> Arrangement:
    """Return the arrangement of folds that share nothing.

    >>> side_by_side([1, 2]).folds[2]
    {'train': (3, 4), 'valid': (4, 5), 'test': (5, 6)}
    """
    order = [Place(fold, part) for fold in folds for part in parts]
    positions = {
        fold: {part: (order.index(Place(fold, part)), order.index(Place(fold, part)) + 1) for part in parts}
        for fold in folds
    }
    return Arrangement(tuple(order), len(parts), positions)


def may_rotate(members: Mapping[Place, int | None], folds: int) -> bool:
    """Tell whether the files found may be rotating parts: all five tests are there, and no size contradicts it."""
    if folds != SHARES or any(share(number) not in members for number in range(1, SHARES + 1)):
        return False

    def agrees(place: Place, numbers: Sequence[int]) -> bool:
        size = members.get(place)
        parts = [members[share(number)] for number in numbers]
        if size is None or None in parts:
            return True
        return abs(size - sum(part or 0 for part in parts)) <= SIZE_SLACK

    return all(
        agrees(Place(fold, "train"), (fold, fold + 1, fold + 2)) and agrees(Place(fold, "valid"), (fold + 3,))
        for fold in range(1, SHARES + 1)
    )
