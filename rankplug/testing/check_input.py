"""Inputs on which plugins are tried, and the smallest input that still shows a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
TRIES, SECONDS = 500, 5.0
LONGEST_SHOWN = 2000


@dataclass(frozen=True, eq=False)
class CheckInput:
    """Scores and labels of some lists."""

    scores: Floats
    labels: Floats
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, scores: ArrayLike, labels: ArrayLike | None = None, starts: ArrayLike | None = None) -> CheckInput:
        """Make an input from plain numbers; one list if no starts are given, labels 0 if none are."""
        packed = np.asarray(scores, np.float64)
        relevance = np.zeros(packed.size) if labels is None else np.asarray(labels, np.float64)
        return cls(packed, relevance, np.asarray([0, packed.size] if starts is None else starts, np.int64))

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={values}" for name, values in self.describe().items())
        return shown if len(shown) <= LONGEST_SHOWN else f"{len(self.starts) - 1} lists, {self.scores.size} documents"

    def describe(self) -> dict[str, list[Any]]:
        """Return the input as plain numbers, whole ones without a point."""
        return {name: [_plain(value) for value in getattr(self, name)] for name in ("scores", "labels", "starts")}

    def without(self, first: int, last: int) -> CheckInput:
        """Return the input without some documents; a list that loses all of them is gone."""
        keep = np.ones(self.scores.size, np.bool_)
        keep[first:last] = False
        lengths = np.add.reduceat(keep, self.starts[:-1])
        starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
        return CheckInput(self.scores[keep], self.labels[keep], starts)

    def smaller(self) -> Iterator[CheckInput]:
        """Yield inputs that are a little simpler: fewer documents, rounder numbers."""
        size = self.scores.size
        chunk = size // 2
        while chunk >= 1:
            yield from (self.without(first, min(first + chunk, size)) for first in range(0, size, chunk))
            chunk //= 2
        levels = np.unique(self.labels)
        for labels in (np.minimum(self.labels, 1.0), np.searchsorted(levels, self.labels).astype(float)):
            if labels.sum() < self.labels.sum():
                yield CheckInput(self.scores, labels, self.starts)
        for digits in (1, 2):
            # Scores that are told apart stay so: at ties many losses have no derivative.
            rounded = self.scores.round(digits) + 0.0
            if (rounded != self.scores).any() and np.unique(rounded).size == np.unique(self.scores).size:
                yield CheckInput(rounded, self.labels, self.starts)


def smallest(given: CheckInput, fails: Callable[[CheckInput], bool]) -> CheckInput:
    """Return a simpler input that still fails, found by leaving things out as long as it does."""
    tries, end = TRIES, time.perf_counter() + SECONDS
    improved = True
    while improved:
        improved = False
        for candidate in given.smaller():
            tries -= 1
            if tries < 0 or time.perf_counter() > end:
                return given
            if candidate.scores.size and fails(candidate):
                given, improved = candidate, True
                break
    return given


def _plain(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
