"""A text of any size as blocks of whole lines.

No more than a few blocks are in memory: whoever reads on lets go of the block before. A line longer than two blocks is
an error, so that a file of one endless line is refused after a few megabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError
from rankplug_data.text.compression import HEAD, Reader, kind_of
from rankplug_data.text.regular_files import open_regular, unchanged

BLOCK = 1 << 21
"""Bytes that are read at once; each thread holds so many, and a number of documents read from them."""
LONGEST_LINE = 2
"""Blocks that a line may fill."""

Letters = NDArray[np.uint8]
NEWLINE = ord("\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def blocks_of_file(path: Path, size: int = BLOCK) -> Iterator[Letters]:
    """Yield blocks of a file, which may be compressed; each ends with a line end.

    The file is read and not mapped, as a mapped file that someone cuts short ends the process that looks at it.
    """
    with open_regular(path) as file, unchanged(path, file):
        if kind_of(file.peek(HEAD)[:HEAD]) == "plain":
            yield from _blocks(file, str(path), size)
        else:
            yield from blocks_of_stream(file, str(path), path.stat().st_size, size)


def blocks_of_stream(
    stream: BinaryIO, name: str, compressed_size: int | None = None, size: int = BLOCK
) -> Iterator[Letters]:
    """Yield blocks of a stream, which may be compressed; each ends with a line end."""
    return _blocks(Reader(stream, name, compressed_size), name, size)


def _blocks(source: io.BufferedIOBase | io.RawIOBase, name: str, size: int) -> Iterator[Letters]:
    rest = np.empty(0, np.uint8)
    lines = 0
    first = True
    while True:
        letters = np.empty(rest.size + size, np.uint8)
        letters[: rest.size] = rest
        read = source.readinto(letters[rest.size :].data)
        if not read:
            break
        letters = letters[: rest.size + read]
        if first and letters[:3].tobytes() == BYTE_ORDER_MARK:
            letters = letters[3:]
        first = False
        cut = _after_last_newline(letters)
        rest = letters[cut:].copy()
        if cut:
            letters = letters[:cut]
            yield letters
            lines += int(np.count_nonzero(letters == NEWLINE))
        # The next block comes into being only when nobody holds this one.
        del letters
        if rest.size > LONGEST_LINE * size:
            raise _too_long(name, lines + 1, LONGEST_LINE * size, rest[:60].tobytes())
    if rest.size:
        yield np.append(rest, np.uint8(NEWLINE))


def _after_last_newline(letters: Letters) -> int:
    """Return the position behind the last line end, 0 without one, searching from the end, where it is near."""
    step = 4096
    for end in range(letters.size, 0, -step):
        begin = max(0, end - step)
        newlines = np.flatnonzero(letters[begin:end] == NEWLINE)
        if newlines.size:
            return begin + int(newlines[-1]) + 1
    return 0


def _too_long(name: str, line: int, size: int, beginning: bytes) -> DataError:
    return DataError(
        f"{name}, line {line}: a line of more than {size:,} bytes, which is no ranking data; it begins with"
        f" {beginning.decode('utf-8', 'replace')!r}"
    )
