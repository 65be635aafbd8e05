"""One text read to disk: its features as a file of rows, everything else in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rankplug_data.text.archives import Member
from rankplug_data.text.blocks import Letters
from rankplug_data.text.growing import RowsOnDisk
from rankplug_data.text.letor import Columns, Documents, OnError, SkippedLines, columns_of, documents_of


@dataclass
class Text:
    """Content of a text file of documents.

    Args:
        name: its path in the archive.
        rows: the file of its features.
        shape: rows and columns of that file.
        labels: one a document.
        query_ids: one a query.
        lengths: documents of each query.
        document_ids: one a document, None when the text names none.
        used: whether a column has anything but zeros.
        sha256: digest of the text, decompressed.
        size: its bytes.
    """

    name: str
    rows: Path
    shape: tuple[int, int]
    labels: NDArray[np.float32]
    query_ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    document_ids: NDArray[np.str_] | None
    used: NDArray[np.bool_]
    sha256: str
    size: int


class _BlockWatcher:
    """Blocks that are counted and digested as they pass; a terminal shows how far they are."""

    def __init__(self, member: Member) -> None:
        self.sha256 = hashlib.sha256()
        self.size = 0
        self._member = member

    def __iter__(self) -> Iterator[Letters]:
        name, size = self._member.name, self._member.size
        with tqdm(desc=name, total=size, unit="B", unit_scale=True, leave=False, disable=None) as bar:
            for block in self._member.blocks():
                self.sha256.update(block.data)
                self.size += block.size
                bar.update(block.size)
                yield block


def read_text(member: Member, rows: Path, columns: Columns, on_error: OnError, skipped: SkippedLines) -> Text:
    """Read a file of an archive, and write its features to the file ``rows``."""
    blocks = _BlockWatcher(member)
    parts: list[Documents] = []
    used = np.zeros(0, dtype=bool)
    with RowsOnDisk(rows) as features:
        for documents in documents_of(blocks, member.label, columns, on_error, skipped):
            features.append(documents.features)
            used = _mark_used(used, documents.features)
            parts.append(documents.without_features())
        shape = (features.rows, features.width)
    labels, queries, names = columns_of(parts, member.label)
    heads = np.concatenate([[0], np.flatnonzero(np.diff(queries)) + 1])
    return Text(
        name=member.name,
        rows=rows,
        shape=shape,
        labels=labels,
        query_ids=queries[heads],
        lengths=np.diff(np.append(heads, queries.size)),
        document_ids=names,
        used=used,
        sha256=blocks.sha256.hexdigest(),
        size=blocks.size,
    )


def _mark_used(used: NDArray[np.bool_], features: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns that are not all zero, looking only at those that have been zero so far."""
    used = np.pad(used, (0, features.shape[1] - used.size))
    still = np.flatnonzero(~used)
    if still.size:
        used[still] = (features[:, still] != 0).any(axis=0)
    return used
