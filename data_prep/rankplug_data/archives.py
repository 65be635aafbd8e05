"""Files in folders and archives, as blocks of lines.

Archives are zip or tar, compressed or not, whatever their names; a tar may lie inside another archive. Nothing is
unpacked, so no name can lead outside, and links are left out. A file that ends too early, fails its checksum or grows
out of proportion is refused.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import math
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError

BLOCK = 1 << 21
"""Bytes that are read at once; a line may have twice as many."""
LARGEST_GROWTH = 1000
"""Largest ratio of a file's decompressed size to its own."""
ALWAYS_ALLOWED = 1 << 28
"""Bytes that any compressed file may hold."""
LARGEST_EXTENSION = 1 << 20
"""Bytes of a long name and the like in a tar archive."""
HEAD = 512
FIRST_BYTES = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"Rar!\x1a\x07": "rar",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x28\xb5\x2f\xfd": "zstandard",
}
OPENERS: dict[str, Callable[[Any], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
SUFFIXES = (
    ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz", ".zip", ".rar", ".7z",
)  # fmt: skip
"""Endings of archives' names, only for finding them; the first bytes of a file decide what it is."""


Block = NDArray[np.uint8]
NEWLINE = ord("\n")


@dataclass(frozen=True)
class Member:
    """A file in a folder or archive: its path inside, its bytes if known, its name in messages, and its text in blocks.

    The blocks are read before the next member is requested.
    """

    name: str
    size: int | None
    label: str
    blocks: Callable[[], Iterator[Block]]


def kind_of(head: bytes) -> str:
    """Return the kind of a file by its first bytes, such as ``gzip`` or ``tar``; ``plain`` for text."""
    kinds = (kind for first, kind in FIRST_BYTES.items() if head.startswith(first))
    return next(kinds, "tar" if head[257:262] == b"ustar" else "plain")


def exists(path: Path) -> bool:
    """Return whether a file or folder exists; raise where that cannot be known, as for a name that is too long."""
    try:
        return path.exists()
    except OSError as error:
        raise DataError(f"{str(path)[:200]} cannot be read: {error.strerror or error}") from error


def changed(path: Path | str) -> DataError:
    """Return the error for a source that changed while it was read."""
    return DataError(f"{path} changed while it was read; load it again once nothing writes to it")


def members(source: Path) -> Iterator[Member]:
    """Yield all files of a folder or archive, or the file itself, in the order in which they lie there."""
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield _file_member(path, path.relative_to(source).as_posix())
        return
    if not exists(source):
        raise DataError(f"there is no file or folder {source}")
    with _open(source) as file, _named_damage(str(source)):
        kind = kind_of(file.peek(HEAD))
        if kind == "zip":
            yield from _zip_members(file, str(source))
        elif kind == "plain":
            yield _file_member(source, source.name)
        else:
            yield from _stream_members(file, source.name, str(source), source.stat().st_size)


def blocks_of_file(path: Path, size: int = BLOCK) -> Iterator[Block]:
    """Yield blocks of a file, which may be compressed; each ends with a newline."""
    # Not mapped into memory: a mapped file that is cut short ends the process that reads it.
    with _open(path) as file, _named_damage(str(path)):
        yield from _blocks(file, str(path), path.stat().st_size, size)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[io.BufferedReader]:
    """Open a regular file, which must not change until the end of the block; a pipe could wait for ever."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    before = os.fstat(handle)
    if not stat.S_ISREG(before.st_mode):
        os.close(handle)
        raise DataError(f"{path} cannot be read: it is no regular file; save what comes from it, and name that file")
    with os.fdopen(handle, "rb") as file:
        yield file
        after = os.fstat(handle)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise changed(path)


def _file_member(path: Path, name: str) -> Member:
    with _open(path) as file:
        plain = _decompressed(file, str(path)) is file
    return Member(name, path.stat().st_size if plain else None, str(path), lambda: blocks_of_file(path))


def _decompressed(stream: Any, label: str) -> Any:
    """Return a stream with a compressed one's content, or the stream itself."""
    kind = kind_of(stream.peek(HEAD))
    if kind in ("rar", "7z", "zstandard"):
        raise DataError(
            f"{label} is a {kind} archive, which is not read here; unpack it (for instance with 7z x or unar) and"
            " name the folder instead"
        )
    return OPENERS[kind](stream) if kind in OPENERS else stream


def _zip_members(stream: Any, label: str) -> Iterator[Member]:
    with zipfile.ZipFile(stream) as archive:
        files = [info for info in archive.infolist() if not info.is_dir()]
        if sum(info.file_size for info in files) > _largest_content(stream.seek(0, os.SEEK_END)):
            raise _grows_too_much(label)
        for info in files:
            name = f"{label}:{info.filename}"
            with _named_damage(name), archive.open(info) as file:
                yield from _inner_members(file, info.filename, name, info.file_size)


def _stream_members(stream: Any, name: str, label: str, size: int) -> Iterator[Member]:
    """Yield the files of a tar archive, or the stream itself if it is none."""
    content = _decompressed(stream, label)
    kind = kind_of(content.peek(HEAD))
    if isinstance(stream, zipfile.ZipExtFile) and kind == "zip":
        yield from _zip_members(stream, label)
        return
    if kind == "zip":
        raise DataError(f"{label} is a zip archive inside another archive; unpack the outer one and name the folder")
    if kind != "tar":
        yield Member(name, None, label, lambda: _blocks(content, label, size, unpacked=content is not stream))
        return
    left = size if content is stream else _largest_content(size)
    header = type("Header", (_Header,), {"limit": left, "compressed": content is not stream})
    with tarfile.open(fileobj=content, mode="r|", bufsize=BLOCK, tarinfo=header) as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() else None
            if file is not None:
                left -= info.size
                if left < 0:
                    raise _grows_too_much(label)
                yield from _inner_members(file, info.name, f"{label}:{info.name}", info.size)


def _inner_members(file: Any, inside: str, label: str, size: int) -> Iterator[Member]:
    """Yield a file of an archive, or the files of an archive within the archive."""
    name = inside.replace("\\", "/")
    if inside.lower().endswith(SUFFIXES):
        yield from _stream_members(file, name, label, size)
    else:
        yield Member(name, size, label, lambda: _blocks(file, label, size))


class _Header(tarfile.TarInfo):
    """Header of a file in a tar archive, which claims no more than the archive can hold.

    The standard library takes an archive that is cut between two files for one that ends there, and skips as many bytes
    as a header claims.
    """

    limit, compressed = 0, False

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(archive)._checked()
        except tarfile.HeaderError as error:
            if str(error) == "end of file header":
                raise
            raise tarfile.ReadError("it has no end" if str(error) == "empty header" else str(error)) from None

    @classmethod
    def frombuf(cls, *arguments: Any, **options: Any) -> Any:
        # Extensions are read right after this, so that the size is checked here.
        return super().frombuf(*arguments, **options)._checked()

    def _checked(self) -> _Header:
        if self.islnk() or self.issym() or self.isdir() or self.isdev():
            return self
        if not 0 <= self.size <= (self.limit if self.isreg() else min(self.limit, LARGEST_EXTENSION)):
            if self.compressed:
                raise _grows_too_much(self.name)
            raise tarfile.ReadError(f"{self.name} claims {self.size:,} bytes")
        if self.issparse():
            raise tarfile.ReadError(f"{self.name} has holes (a sparse file), which are not read here")
        return self


def _blocks(stream: Any, label: str, compressed: int, size: int = BLOCK, unpacked: bool = False) -> Iterator[Block]:
    """Yield blocks of whole lines; text that was compressed, here or by the caller, must not grow too much."""
    with _named_damage(label):
        content = _decompressed(stream, label)
        left = _largest_content(compressed) if unpacked or content is not stream else math.inf
        rest, lines, first = np.empty(0, np.uint8), 0, True
        while True:
            letters = np.empty(rest.size + size, np.uint8)
            letters[: rest.size] = rest
            count = content.readinto(letters[rest.size :].data)
            if not count:
                break
            left -= count
            if left < 0:
                raise _grows_too_much(label)
            letters = letters[: rest.size + count]
            if first and letters[:3].tobytes() == b"\xef\xbb\xbf":
                letters = letters[3:]
            first = False
            newlines = np.flatnonzero(letters == NEWLINE)
            cut = int(newlines[-1]) + 1 if newlines.size else 0
            lines += newlines.size
            rest, letters = letters[cut:].copy(), letters[:cut]
            if cut:
                yield letters
            # The next block is allocated when this one is released.
            del letters
            if rest.size > 2 * size:
                beginning = rest[:60].tobytes().decode("utf-8", "replace")
                raise DataError(
                    f"{label}, line {lines + 1}: a line of more than {2 * size:,} bytes, which is no ranking data; it"
                    f" begins with {beginning!r}"
                )
        if rest.size:
            yield np.append(rest, np.uint8(NEWLINE))


def _largest_content(size: int) -> int:
    return max(ALWAYS_ALLOWED, LARGEST_GROWTH * size)


def _grows_too_much(label: str) -> DataError:
    return DataError(
        f"{label} grows to more than {LARGEST_GROWTH} times its size when decompressed, which no ranking data does;"
        " decompress it yourself if you trust it, and name the result"
    )


@contextlib.contextmanager
def _named_damage(label: str) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{label} is cut off or damaged ({reason}); fetch it again") from error
    except (NotImplementedError, RuntimeError) as error:
        # Of zipfile: a compression that it does not know, or a password.
        raise DataError(f"{label} is not read here ({error}); unpack it and name the folder") from error
