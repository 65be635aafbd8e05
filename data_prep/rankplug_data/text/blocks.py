"""A text of any size as blocks of whole lines: views of a mapped file, or pieces of a stream.

No more than one block is in memory beyond the mapped file. A line longer than a block is an error, so that a file of
one endless line is refused after a few megabytes.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError
from rankplug_data.text.compression import HEAD, Reader, kind_of

BLOCK = 1 << 22
"""Bytes of a block, and of the longest line."""

Letters = NDArray[np.uint8]
NEWLINE = ord("\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def blocks_of_file(path: Path, size: int = BLOCK) -> Iterator[Letters]:
    """Blocks of a file, which may be compressed; each ends with a line end."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    with file:
        head = file.read(HEAD)
        file.seek(0)
        if not head:
            return
        if kind_of(head) != "plain":
            yield from blocks_of_stream(file, str(path), path.stat().st_size, size)
            return
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_SEQUENTIAL"):
        mapped.madvise(mmap.MADV_SEQUENTIAL)
    yield from _blocks_of_letters(np.frombuffer(mapped, np.uint8), str(path), size)


def blocks_of_stream(
    stream: BinaryIO, name: str, compressed_size: int | None = None, size: int = BLOCK
) -> Iterator[Letters]:
    """Blocks of a stream, which may be compressed; each ends with a line end."""
    reader = Reader(stream, name, compressed_size)
    rest = b""
    lines = 0
    first = True
    while piece := reader.read(size):
        if first and piece.startswith(BYTE_ORDER_MARK):
            piece = piece[len(BYTE_ORDER_MARK) :]
        first = False
        cut = piece.rfind(b"\n") + 1
        if cut:
            block = np.frombuffer(rest + piece[:cut], np.uint8)
            rest = piece[cut:]
            yield block
            lines += int(np.count_nonzero(block == NEWLINE))
        else:
            rest += piece
        if len(rest) > size:
            raise _too_long(name, lines + 1, size, rest[:60])
    if rest:
        yield np.frombuffer(rest + b"\n", np.uint8)


def _blocks_of_letters(letters: Letters, name: str, size: int) -> Iterator[Letters]:
    begin = len(BYTE_ORDER_MARK) if letters[:3].tobytes() == BYTE_ORDER_MARK else 0
    while begin < letters.size:
        window = letters[begin : begin + size]
        cut = _after_last_newline(window)
        if cut == 0:
            if window.size == size and begin + size < letters.size:
                lines = int(np.count_nonzero(letters[:begin] == NEWLINE))
                raise _too_long(name, lines + 1, size, window[:60].tobytes())
            yield np.append(window, np.uint8(NEWLINE))
            return
        yield window[:cut]
        begin += cut


def _after_last_newline(window: Letters) -> int:
    """Return the position behind the last line end, 0 without one, searching from the end, where it is near."""
    step = 4096
    for end in range(window.size, 0, -step):
        begin = max(0, end - step)
        found = np.flatnonzero(window[begin:end] == NEWLINE)
        if found.size:
            return begin + int(found[-1]) + 1
    return 0


def _too_long(name: str, line: int, size: int, beginning: bytes) -> DataError:
    return DataError(
        f"{name}, line {line}: a line of more than {size:,} bytes, which is no ranking data; it begins with"
        f" {beginning.decode('utf-8', 'replace')!r}"
    )
