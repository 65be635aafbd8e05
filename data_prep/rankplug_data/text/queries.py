"""The documents of a query must lie together: a text is watched for a query that stands in two places."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError

if TYPE_CHECKING:
    from rankplug_data.text.letor import OnError, SkippedLines


class QueryOrder:
    """Places at which the queries of a text ended, block after block."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._ended: dict[int, int] = {}
        self._current: int | None = None
        self._last_line = 0

    def keep(
        self, queries: NDArray[np.int64], lines: NDArray[np.int64], on_error: OnError, skipped: SkippedLines
    ) -> NDArray[np.bool_]:
        """Tell which of these documents to keep: not those of a query that has ended before."""
        keep = np.ones(queries.size, dtype=bool)
        heads = np.flatnonzero(np.diff(queries)) + 1
        bounds = [0, *heads.tolist(), queries.size] if queries.size else []
        for begin, end in itertools.pairwise(bounds):
            query = int(queries[begin])
            if query == self._current:
                self._last_line = int(lines[end - 1])
                continue
            if query in self._ended:
                sentence = (
                    f"{self._source}, line {lines[begin]}: query {query} stands in two places, it ended at line"
                    f" {self._ended[query]}"
                )
                if on_error == "raise":
                    raise DataError(f"{sentence}; sort the lines by query, or --on-error skip leaves the second out")
                skipped.add(f"{sentence} ({end - begin} lines)", end - begin)
                keep[begin:end] = False
                continue
            if self._current is not None:
                self._ended[self._current] = self._last_line
            self._current, self._last_line = query, int(lines[end - 1])
        return keep
