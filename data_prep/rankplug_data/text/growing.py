"""Rows of features that are appended until the text ends, in memory or on disk; they widen when a feature is new."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]


class RowsInMemory:
    """One matrix that grows in place: the allocator moves its pages and copies nothing."""

    def __init__(self) -> None:
        self._matrix = np.empty((0, 0), np.float32)
        self._rows = 0

    def reserve(self, rows: int, width: int) -> None:
        """Reserve room for as many rows as are likely to come; pages that are never written cost nothing."""
        self._matrix = np.empty((rows, width), np.float32)

    def append(self, block: Features) -> None:
        """Append rows, which may be wider than those before."""
        if block.shape[1] > self._matrix.shape[1]:
            wider = np.zeros((max(self._matrix.shape[0], 1), block.shape[1]), np.float32)
            wider[: self._rows, : self._matrix.shape[1]] = self._matrix[: self._rows]
            self._matrix = wider
        needed = self._rows + block.shape[0]
        if needed > self._matrix.shape[0]:
            self._matrix.resize((max(needed, self._matrix.shape[0] * 9 // 8), self._matrix.shape[1]), refcheck=False)
        self._matrix[self._rows : needed, : block.shape[1]] = block
        self._matrix[self._rows : needed, block.shape[1] :] = 0
        self._rows = needed

    def finish(self) -> Features:
        """Return the matrix, cut to its rows."""
        self._matrix.resize((self._rows, self._matrix.shape[1]), refcheck=False)
        return self._matrix


class RowsOnDisk:
    """A file of float32 rows without a header; use it in a ``with`` block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.width = 0
        self._file = path.open("wb")

    def __enter__(self) -> RowsOnDisk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, block: Features) -> None:
        """Append rows, which may be wider than those before."""
        if block.shape[1] > self.width:
            self._widen(block.shape[1])
        if block.shape[1] < self.width:
            block = np.pad(block, ((0, 0), (0, self.width - block.shape[1])))
        self._file.write(np.ascontiguousarray(block).data)
        self.rows += block.shape[0]

    def _widen(self, width: int) -> None:
        if self.rows:
            self._file.close()
            old = self.path.with_suffix(".narrow")
            self.path.rename(old)
            narrow = np.memmap(old, np.float32, "r", shape=(self.rows, self.width))
            self._file = self.path.open("wb")
            for first in range(0, self.rows, 1 << 14):
                rows = narrow[first : first + (1 << 14)]
                self._file.write(np.pad(rows, ((0, 0), (0, width - self.width))).data)
            del narrow
            old.unlink()
        self.width = width
