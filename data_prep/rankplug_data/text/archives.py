"""Files inside folders and archives, as streams: nothing is ever unpacked, so that no name can lead outside.

Archives may be zip or tar, compressed or not, and may lie inside one another (one level). Links and special files are
left out. An archive that grows out of all proportion is refused.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from rankplug.errors import DataError
from rankplug_data.text.blocks import BLOCK, Letters, blocks_of_file, blocks_of_stream
from rankplug_data.text.compression import (
    HEAD,
    Reader,
    damaged,
    grows_too_much,
    kind_of,
    largest_content,
    refuse_unreadable,
)
from rankplug_data.text.regular_files import is_there, open_regular
from rankplug_data.text.tar_headers import headers_of

SUFFIXES = (
    ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz", ".zip", ".rar", ".7z",
)  # fmt: skip
"""Endings of archives' names, only for finding them; what a file is, its first bytes tell."""


@dataclass(frozen=True)
class Member:
    """A file in a folder or archive.

    Args:
        name: its path inside, with forward slashes.
        size: its bytes, None where only reading them all would tell.
        label: how messages name it.
        blocks: gives its text as blocks of lines.
    """

    name: str
    size: int | None
    label: str
    blocks: Callable[[], Iterator[Letters]]


def is_archive_name(name: str) -> bool:
    """Tell whether a file's name ends as those of archives do."""
    return name.lower().endswith(SUFFIXES)


def members(source: Path) -> Iterator[Member]:
    """Yield all files of a folder or archive, or the file itself, in the order in which they lie there.

    The blocks of a member must be read before the next member is asked for.
    """
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield _file(path, path.relative_to(source).as_posix())
        return
    if not is_there(source):
        raise DataError(f"there is no file or folder {source}")
    with open_regular(source) as file, _named_damage(str(source)):
        if kind_of(file.read(HEAD)) == "plain":
            yield _file(source, source.name)
            return
        file.seek(0)
        yield from _members_of_stream(file, source.name, str(source), source.stat().st_size)


def _file(path: Path, name: str) -> Member:
    with open_regular(path) as file:
        kind = kind_of(file.read(HEAD))
    refuse_unreadable(kind, str(path))
    return Member(name, path.stat().st_size if kind == "plain" else None, str(path), lambda: blocks_of_file(path))


def _members_of_stream(stream: BinaryIO, name: str, label: str, size: int) -> Iterator[Member]:
    """Yield the files inside a stream, or the stream itself if it is no archive."""
    reader = Reader(stream, label, size)
    if reader.kind == "zip":
        if isinstance(stream, tarfile.ExFileObject) or not stream.seekable():
            raise DataError(
                f"{label} is a zip archive inside another archive; unpack the outer one and name the folder"
            )
        stream.seek(0)
        yield from _members_of_zip(stream, label)
        return
    text = io.BufferedReader(reader, BLOCK)
    if kind_of(text.peek(HEAD)) == "tar":
        yield from _members_of_tar(text, label, largest_content(reader.kind, size))
    else:
        yield Member(name, None, label, lambda: blocks_of_stream(text, label))


def _members_of_zip(stream: BinaryIO, label: str) -> Iterator[Member]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = f"{label}:{info.filename}"
            if info.file_size > largest_content("zip", info.compress_size):
                raise grows_too_much(name)
            with _named_damage(name), archive.open(info) as file:
                yield from _members_inside(file, info.filename, name, info.file_size)


def _members_of_tar(stream: BinaryIO, label: str, most: int) -> Iterator[Member]:
    with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK, tarinfo=headers_of(most)) as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() else None
            if file is not None:
                name = f"{label}:{info.name}"
                yield from _members_inside(file, info.name, name, info.size)


def _members_inside(file: IO[bytes], inside: str, label: str, size: int) -> Iterator[Member]:
    """Yield a file of an archive, or the files of an archive within the archive."""
    name = inside.replace("\\", "/")
    if is_archive_name(inside):
        yield from _members_of_stream(cast(BinaryIO, file), name, label, size)
        return

    def blocks() -> Iterator[Letters]:
        with _named_damage(label):
            yield from blocks_of_stream(cast(BinaryIO, file), label, size)

    yield Member(name, size, label, blocks)


@contextlib.contextmanager
def _named_damage(label: str) -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:
        raise DataError(
            f"{label} is compressed in a way that is not read here ({error}); unpack it and name the folder"
        ) from error
    except RuntimeError as error:
        # The standard library has no other word for a zip archive with a password.
        if "password" not in str(error):
            raise
        raise DataError(f"{label} is encrypted, which is not read here; unpack it and name the folder") from error
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise damaged(label, error) from error
