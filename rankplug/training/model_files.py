"""Reading of saved models, of which nothing is trusted: what a file says is checked, and whose reader may crash reads
it in a child process first.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.errors import GrammarError, ModelFileError, RankplugError, UnknownPluginError
from rankplug.registry import problem_in, registry
from rankplug.system import run_watched
from rankplug.training.model_description import Sidecar
from rankplug.training.models import (
    FORMAT,
    Model,
    Record,
    mark_readable,
    named_file,
    readable_mark,
    sidecar_of,
    trusts_files,
)

SECONDS = 60.0
"""Seconds that a child process may take to read a model and predict with it."""
ROWS = 1000
MEMORY_BEYOND_FILE = 4 << 30
"""Bytes that a child may take, beside some for each byte of the file."""


@dataclass(frozen=True)
class _ModelFile:
    """A model's file with what lies beside it."""

    path: Path
    content: bytes
    backend: str
    record: Record
    engine: Any


def load_model(path: str | os.PathLike[str]) -> Model:
    """Load a model that :meth:`Model.save` wrote, in this process or another.

    The first time that a file of a backend whose reader trusts its input is seen, a child process reads it first and
    predicts with it.
    """
    file = _model_file(path)
    if trusts_files(file.backend):
        _try_in_child(file)
    return _read(file)


def _model_file(path: str | os.PathLike[str]) -> _ModelFile:
    target = named_file(path)
    if not target.is_file():
        raise ModelFileError(f"there is no model file {target}")
    beside = sidecar_of(target)
    if not beside.is_file():
        raise ModelFileError(
            f"{beside.name} is missing beside {target}: only models saved by rankplug can be loaded; a model of a plain"
            " engine is read by that engine"
        )
    try:
        sidecar = json.loads(beside.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{beside} is damaged or not of rankplug ({type(error).__name__}: {error})") from None
    if isinstance(sidecar, dict) and isinstance(sidecar.get("format"), str) and sidecar["format"] != FORMAT:
        raise ModelFileError(f"{beside} has the format {sidecar['format']!r}; this version reads {FORMAT!r}")
    if problem := problem_in(sidecar, Sidecar):
        raise ModelFileError(f"{beside} is damaged or not of rankplug ({problem})")
    backend, record = sidecar["backend"], Record.read(sidecar["record"])
    content = target.read_bytes()
    if hashlib.blake2b(content, digest_size=16).hexdigest() != sidecar["digest"]:
        raise ModelFileError(f"{target} is damaged or was replaced: it is not the file that {beside.name} describes")
    try:
        engine = registry().find("backend", backend).specification.load()
    except (GrammarError, UnknownPluginError) as error:
        raise ModelFileError(f"{target} was saved by the backend {backend}, which is not installed: {error}") from None
    return _ModelFile(target, content, backend, record, engine)


def _read(file: _ModelFile) -> Model:
    try:
        model: Model = file.engine.load(file.content, file.record)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        raise _unreadable(file, f"{type(error).__name__}: {error}") from error
    return model


def _unreadable(file: _ModelFile, reason: str) -> ModelFileError:
    return ModelFileError(f"{file.path} cannot be read by {file.backend}: {' '.join(reason.split())[:300]}")


def _try_in_child(file: _ModelFile) -> None:
    """Raise where a child that reads a model fails or ends; what it could read is remembered."""
    if readable_mark(file.content, file.backend, file.record).exists():
        return
    code = "from rankplug.training.model_files import read_in_child; read_in_child(*sys.argv[1:])"
    end = run_watched(code, [str(file.path.absolute())], seconds=SECONDS)
    notes = [json.loads(line) for line in end.notes.splitlines()]
    if reason := next((note["reason"] for note in notes if note.get("reason")), ""):
        raise ModelFileError(reason.replace(str(file.path.absolute()), str(file.path)))
    if end.code != 0:
        what = "does not come to an end" if end.code is None else f"ends the process that reads it ({end.describe()})"
        raise _unreadable(file, f"it {what}, so it is damaged or forged")
    mark_readable(file.content, file.backend, file.record)


def read_in_child(notes: str, path: str) -> None:
    """Read a model in a child process, predict with it, and note why where that fails."""
    reason = ""
    try:
        model_file = _model_file(path)
        _limit_memory(MEMORY_BEYOND_FILE + 50 * len(model_file.content))
        model = _read(model_file)
        noise = np.random.default_rng(0)
        rows = noise.standard_normal((ROWS, model_file.record.features)) * 10.0 ** noise.integers(-3, 9, (ROWS, 1))
        rows[:2] = [[0.0], [np.nan]]
        if model.scores_lists:
            model.predict(rows.astype(np.float32))
    except RankplugError as error:
        reason = str(error)
    except Exception as error:
        reason = f"{path} cannot be read: {type(error).__name__}: {error}"
    with open(notes, "a", encoding="utf-8") as file:
        file.write(json.dumps({"reason": reason}) + "\n")


def _limit_memory(beyond: int) -> None:
    try:
        import resource
    except ImportError:
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if os.name == "posix" else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + beyond if hard == resource.RLIM_INFINITY else min(used + beyond, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
