"""Kind of a file, told by its first bytes and not by its name, and its text once decompressed.

A file that ends too early, or whose checksum does not fit, is an error; so is one that grows out of all proportion.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import Any, BinaryIO

from rankplug.errors import DataError

LARGEST_GROWTH = 1000
"""Largest ratio of a file's decompressed size to its own."""
ALWAYS_ALLOWED = 1 << 30
"""Bytes that any compressed file may hold."""

_FIRST_BYTES = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"Rar!\x1a\x07", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
)
_TAR_MARK = (257, b"ustar")
HEAD = 512
"""Bytes that are enough to tell."""

COMPRESSIONS = ("gzip", "bzip2", "xz")
UNREADABLE = ("rar", "7z", "zstandard")


def kind_of(head: bytes) -> str:
    """Return ``gzip``, ``bzip2``, ``xz``, ``zip``, ``tar``, ``rar``, ``7z``, ``zstandard``, or ``plain``.

    >>> kind_of(b"0 qid:1 1:0.5")
    'plain'
    """
    for mark, kind in _FIRST_BYTES:
        if head.startswith(mark):
            return kind
    offset, mark = _TAR_MARK
    return "tar" if head[offset : offset + len(mark)] == mark else "plain"


def refuse_unreadable(kind: str, name: str) -> None:
    """Raise an error that says what to do with an archive that cannot be opened here."""
    if kind in UNREADABLE:
        raise DataError(
            f"{name} is a {kind} archive, which is not read here; unpack it (for instance with 7z x or unar) and"
            " name the folder instead"
        )


def largest_content(kind: str, size: int) -> int:
    """Return how many bytes a file of some kind and size may hold."""
    return max(ALWAYS_ALLOWED, LARGEST_GROWTH * size) if kind in (*COMPRESSIONS, "zip") else size


class Reader(io.RawIOBase):
    """Bytes of a compressed or plain stream, decompressed, with an error that names the file."""

    def __init__(self, stream: BinaryIO, name: str, compressed_size: int | None = None) -> None:
        self.name = name
        self._head = stream.read(HEAD)
        self.kind = kind_of(self._head)
        whole = _WholeStream(self._head, stream)
        self._stream: Any
        openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
        self._stream = openers[self.kind](whole) if self.kind in openers else whole
        refuse_unreadable(self.kind, name)
        self._left = None
        if compressed_size is not None and self.kind in COMPRESSIONS:
            self._left = largest_content(self.kind, compressed_size)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            piece: bytes = self._stream.read(size)
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise damaged(self.name, error) from error
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0:
                raise grows_too_much(self.name)
        return piece

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _WholeStream(io.RawIOBase):
    """A stream from its beginning, though its head has been read already."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._stream.read(size)
        if size < 0:
            piece, self._head = self._head + self._stream.read(), b""
        else:
            piece, self._head = self._head[:size], self._head[size:]
        return piece

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def damaged(name: str, error: Exception) -> DataError:
    """Return the error for a file that cannot be decompressed to its end."""
    reason = str(error) or type(error).__name__
    return DataError(f"{name} is cut off or damaged ({reason}); fetch it again")


def grows_too_much(name: str) -> DataError:
    """Return the error for a file that would fill the disk."""
    return DataError(
        f"{name} grows to more than {LARGEST_GROWTH} times its size when decompressed, which no ranking data does;"
        " decompress it yourself if you trust it, and name the result"
    )
