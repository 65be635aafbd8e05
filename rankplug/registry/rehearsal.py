"""Rehearsal of another's plugin in a child process, as it may hang, crash, exit, print or replace what is not its own.

The child imports the plugin and the code behind it, and ends. What was found holds as long as no file of the
distribution changes, so that a plugin is tried once and not by every command; a refusal holds for an hour.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from rankplug.registry.loading import AT_END, import_seconds, is_rehearsal
from rankplug.registry.package_files import package_files
from rankplug.system import ChildEnd, __version__, cache_folder, run_watched, write_whole

REFUSED_FOR = 3600.0
"""Seconds after which a plugin that was refused is tried again."""
READ_WHOLE = 1 << 20
"""Bytes of the largest file whose content is compared; of larger ones size and time are."""


@dataclass(frozen=True)
class Verdict:
    """Outcome of trying a plugin.

    Args:
        refusal: why it must not be imported here; empty where it may be.
        trace: what the child complained of.
        prints: whether something is printed while it is imported.
    """

    refusal: str = ""
    trace: str = ""
    prints: bool = False


def verdict_of(entry_point: metadata.EntryPoint) -> Verdict:
    """Return what came of trying a plugin, now or earlier."""
    if is_rehearsal() or entry_point.dist is None or not sys.executable:
        return Verdict()
    path = cache_folder() / "plugins" / f"{_digest(entry_point)}.json"
    try:
        known = Verdict(**json.loads(path.read_bytes()))
        if not known.refusal or time.time() - path.stat().st_mtime < REFUSED_FOR:
            return known
    except (OSError, ValueError, TypeError):
        pass
    verdict = _try(entry_point)
    with contextlib.suppress(OSError):
        write_whole(path, json.dumps(asdict(verdict)).encode())
    return verdict


def _try(entry_point: metadata.EntryPoint) -> Verdict:
    assert entry_point.dist is not None
    seconds = import_seconds()
    code = "from rankplug.registry.rehearsed_import import rehearse; rehearse(*sys.argv[1:])"
    words = [entry_point.dist.name, entry_point.name, entry_point.value, entry_point.group]
    return _judge(run_watched(code, words, seconds=seconds, variables={"OPENBLAS_NUM_THREADS": "1"}), seconds)


def _judge(end: ChildEnd, seconds: float) -> Verdict:
    notes = [json.loads(line) for line in end.notes.splitlines()]
    stage = next((note["stage"] for note in reversed(notes) if "stage" in note), "its import")
    refusal = next((note["refusal"] for note in notes if "refusal" in note), "")
    threads: list[str] = next((note["threads"] for note in notes if note.get("threads")), [])
    if refusal:
        pass
    elif end.code is None and stage == AT_END:
        why = f"the thread {threads[0]}, which is no daemon" if threads else "what it does at the end"
        refusal = f"it keeps every command from ending, by {why}"
    elif end.code is None:
        refusal = f"{stage} did not end in {seconds:g} s (RANKPLUG_IMPORT_SECONDS)"
    elif stage != AT_END:
        refusal = f"{stage} ends the process ({end.describe()})"
    elif end.code:
        refusal = f"it makes every command end with {end.describe()}"
    return Verdict(refusal, end.complained.decode("utf-8", "replace")[-4000:] if refusal else "", bool(end.printed))


def _digest(entry_point: metadata.EntryPoint) -> str:
    """Name what was tried: every file of the distribution, and what it was tried with."""
    assert entry_point.dist is not None
    digest = hashlib.blake2b(digest_size=16)
    tried = (sys.version, __version__, entry_point.dist.name, entry_point.dist.version)
    point = (entry_point.name, entry_point.value, entry_point.group)
    digest.update(json.dumps([*tried, *point, entry_point.dist.requires, import_seconds()]).encode())
    for name, path in sorted(_files_of(entry_point)):
        with contextlib.suppress(OSError):
            state = path.stat()
            digest.update(f"{name} {state.st_size}\n".encode("utf-8", "surrogateescape"))
            small = state.st_size <= READ_WHOLE
            digest.update(path.read_bytes() if small else str(state.st_mtime_ns).encode())
    return digest.hexdigest()


def _files_of(entry_point: metadata.EntryPoint) -> Iterator[tuple[str, Path]]:
    """Yield the files that the distribution lists, and those of the imported package, which may lie elsewhere."""
    assert entry_point.dist is not None
    for file in entry_point.dist.files or ():
        if file.suffix != ".pyc":
            yield str(file), Path(str(file.locate()))
    yield from package_files(entry_point.module.partition(".")[0])
