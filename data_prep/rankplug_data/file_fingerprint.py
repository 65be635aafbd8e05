"""The digest of a user's own files, by which results are named: an edited file gives new results."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from rankplug_data.file_specifications import OwnDataParameters
from rankplug_data.text.regular_files import edit_state, is_there

AT_ONCE = 1 << 22


def content_digest(parameters: OwnDataParameters) -> str:
    """Return one digest of all files that the parameters name; empty where one is missing, which loading will tell."""
    digest = hashlib.blake2b(digest_size=16)
    for name in parameters.paths:
        path = Path(name).expanduser() if name is not None else None
        if path is None:
            continue
        if not is_there(path):
            return ""
        files = [file for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if file.is_file()]
        if not files:
            # An empty folder is where a disk that is away would be mounted.
            return ""
        for file in files:
            digest.update(str(file.relative_to(path)).encode("utf-8", "surrogateescape"))
            digest.update(_file_digest(file, edit_state(file.stat())))
    return digest.hexdigest()


@functools.lru_cache(maxsize=1024)
def _file_digest(path: Path, state: tuple[int, ...]) -> bytes:
    """Return the digest of a file's content; its state tells whether an earlier digest is still valid."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(AT_ONCE):
            digest.update(block)
    return digest.digest()
