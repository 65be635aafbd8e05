"""Origins of merged results: one JSON file a merge beside the results, which stay byte for byte what they were."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankplug.errors import shown
from rankplug.store.result_files import StoreError, require_file
from rankplug.system import write_whole

ORIGINS = "origins"
ORIGIN = "origin"
"""The column that tells where a merged result came from; empty for those that were made into the store."""
SUMS = "SHA256SUMS"
SUM = re.compile(r"([0-9a-f]{64})  (.+)")


def sha256_of(content: bytes) -> str:
    """Return the digest that a list of digests has of a file's content."""
    return hashlib.sha256(content).hexdigest()


def write_sums(digests: Mapping[str, str]) -> str:
    """Return the text of a list of digests by path, which ``sha256sum --check`` reads too."""
    if broken := [path for path in digests if len(path.splitlines()) > 1]:
        raise StoreError(f"{shown(broken[0])} has a line break in its name; rename the file")
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))


def read_sums(file: Path) -> dict[str, str]:
    """Read a list of digests by path."""
    digests = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {file}: {error}") from error
    for number, line in enumerate(lines, 1):
        match = SUM.fullmatch(line)
        if match is None:
            raise StoreError(f"{file}, line {number}: expected a SHA-256 digest and a path, found {line[:80]!r}")
        digests[match[2]] = match[1]
    return digests


def changed_files(folder: Path, digests: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each file of a folder that is missing, or not what its digest says."""
    root = folder.resolve()
    for path, digest in digests.items():
        file = root / path
        if not file.resolve().is_relative_to(root):
            yield f"{path} lies outside of {folder}"
        elif not file.is_file():
            yield f"{path} is missing"
        elif sha256_of(file.read_bytes()) != digest:
            yield f"{path} is not what it was: its SHA-256 digest is another than {SUMS} says"


def write_origin(folder: Path, origin: str, digests: Mapping[str, str]) -> None:
    """Record that results of a store came from elsewhere.

    Args:
        folder: of the store.
        origin: where they came from, in words.
        digests: of the results' files, by path in the store.
    """
    record = {"origin": origin, "merged": time.time(), "files": dict(sorted(digests.items()))}
    name = hashlib.blake2b(json.dumps([origin, *sorted(digests)]).encode(), digest_size=8).hexdigest()
    write_whole(folder / ORIGINS / f"{name}.json", json.dumps(record, indent=1).encode())


def origins_of(folder: Path) -> dict[str, str]:
    """Return where the merged results of a store came from, by path in the store."""
    origins: dict[str, str] = {}
    for file in sorted((folder / ORIGINS).glob("*.json")):
        record = _read(file)
        origins |= dict.fromkeys(record["files"], record["origin"])
    return origins


def _read(file: Path) -> dict[str, Any]:
    require_file(file)
    try:
        record = json.loads(file.read_bytes())
        sound = isinstance(record["origin"], str) and isinstance(record["files"], dict)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise StoreError(f"{file} does not say where results came from; delete it and merge them again")
    return dict(record)
