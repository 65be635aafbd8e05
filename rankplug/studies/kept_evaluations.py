"""Evaluations kept in the cache: JSON with tables as Parquet and pictures as they are, under a digest of their causes,
and what is made of all of it, as the executed notebook. Each file begins with its own digest, so that damage is told
from what was evaluated.

What an evaluation depends on are the files of the results, the code of rankplug and of all plugins, and the versions of
all that is installed. Nothing is kept of results that are not read from a store, of a study that is not installed, or
beside losses of this session only.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.registry import SESSION, package_files, registry
from rankplug.studies.evaluation_parts import (
    ClaimEvaluation,
    ExhibitEvaluation,
    ObservationEvaluation,
    Source,
)
from rankplug.studies.runs import StoredFrames
from rankplug.studies.verdicts import read_judgement
from rankplug.system import cache_folder, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies.papers import Exhibit, Study
    from rankplug.studies.study_results import Results


Conclusions = tuple[tuple[ClaimEvaluation, ...], tuple[ObservationEvaluation, ...]]
LATEST = 8
"""Evaluations of a study that are kept; older ones go."""
INSTALLED = (".dist-info", ".egg-info")
"""Ends of names that tell of an installed distribution and of its version."""


class KeptEvaluation:
    """The parts of one evaluation that are on disk already.

    Args:
        folder: where they lie; None where nothing is kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def exhibit(self, exhibit: Exhibit, draw: Callable[[], ExhibitEvaluation]) -> ExhibitEvaluation:
        """Return an exhibit's evaluation as it was kept, or as it is drawn now."""
        file = f"{hashlib.blake2b(exhibit.name.encode(), digest_size=8).hexdigest()}.json"
        kept = self._read(file)
        if kept is not None:
            with contextlib.suppress(Exception):  # A damaged file is evaluated again.
                pictures = {suffix: base64.b64decode(content) for suffix, content in kept["pictures"].items()}
                return ExhibitEvaluation(exhibit, _read_table(kept["table"]), pictures, _read_sources(kept["sources"]))
        drawn = draw()
        self._write(
            file,
            lambda: {
                "exhibit": exhibit.name,
                "table": _text(drawn.table.to_parquet()),
                "pictures": {suffix: _text(content) for suffix, content in drawn.pictures.items()},
                "sources": _plain_sources(drawn.sources),
            },
        )
        return drawn

    def table(self, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table as it was kept, or as it is made now."""
        kept = self._read(f"{name}.json")
        if kept is not None:
            with contextlib.suppress(Exception):  # A damaged file is evaluated again.
                return _read_table(kept["table"])
        table = plain_table(make())
        self._write(f"{name}.json", lambda: {"table": _text(table.to_parquet())})
        return table

    def conclusions(self, study: Study, conclude: Callable[[], Conclusions]) -> Conclusions:
        """Return verdicts and observations as they were kept, or as they are found now."""
        kept = self._read("conclusions.json")
        if kept is not None:
            with contextlib.suppress(Exception):  # A damaged file is evaluated again.
                claims = tuple(
                    ClaimEvaluation(claim, read_judgement(entry["verdict"]), _read_sources(entry["sources"]))
                    for claim, entry in zip(study.claims, kept["claims"], strict=True)
                )
                seen = tuple(
                    ObservationEvaluation(
                        study.observations[observation["place"]],
                        observation["told"],
                        _read_sources(observation["sources"]),
                    )
                    for observation in kept["observations"]
                )
                return claims, seen
        conclusions = conclude()
        self._write(
            "conclusions.json",
            lambda: {
                "claims": [
                    {
                        "claim": evaluation.claim.id,
                        "verdict": evaluation.verdict.describe(),
                        "sources": _plain_sources(evaluation.sources),
                    }
                    for evaluation in conclusions[0]
                ],
                "observations": [
                    {
                        "place": study.observations.index(evaluation.observation),
                        "told": evaluation.told,
                        "sources": _plain_sources(evaluation.sources),
                    }
                    for evaluation in conclusions[1]
                ],
            },
        )
        return conclusions

    def content(self, name: str, causes: Iterable[str], make: Callable[[], bytes]) -> bytes:
        """Return a file's content as it was kept, or as it is made now.

        Args:
            name: of what it is.
            causes: on which it depends beside the evaluation.
            make: makes it.
        """
        file = f"{name}-{_digest(json.dumps(list(causes)).encode()).decode()}"
        content = self._content(file)
        if content is None:
            content = make()
            self._keep(file, content)
        return content

    def _read(self, name: str) -> Any:
        with contextlib.suppress(ValueError):
            content = self._content(name)
            return None if content is None else json.loads(content)
        return None

    def _write(self, name: str, describe: Callable[[], dict[str, Any]]) -> None:
        if self._folder is not None:
            self._keep(name, json.dumps(describe()).encode())

    def _content(self, name: str) -> bytes | None:
        if self._folder is None:
            return None
        with contextlib.suppress(OSError):
            digest, _, content = (self._folder / name).read_bytes().partition(b"\n")
            # A flipped bit may leave JSON that says another number.
            return content if digest == _digest(content) else None
        return None

    def _keep(self, name: str, content: bytes) -> None:
        if self._folder is None:
            return
        with contextlib.suppress(OSError):  # Nothing is lost but time where the cache cannot be written.
            if not self._folder.exists():
                _remove_oldest(self._folder.parent)
            write_whole(self._folder / name, _digest(content) + b"\n" + content)


def kept_evaluation(study: Study, results: Results) -> KeptEvaluation:
    """Return what is kept of a study's evaluation on some results."""
    if not isinstance(results.frames, StoredFrames) or not _is_installed(study):
        return KeptEvaluation(None)
    decided = {claim_id: verdict.describe() for claim_id, verdict in results.decisions.items()}
    return kept_under(study.name, (results.profile, results.frames.digest, json.dumps(decided)))


def kept_under(name: str, causes: Iterable[str]) -> KeptEvaluation:
    """Return what is kept of something that depends on some causes, and on the code."""
    digest = hashlib.blake2b(digest_size=16)
    for cause in (name, code_digest(), *causes):
        digest.update(cause.encode() + b"\n")
    return KeptEvaluation(cache_folder() / "evaluations" / name / digest.hexdigest())


def _is_installed(study: Study) -> bool:
    """Tell whether another process has the same study by its name, though it knows no plugin of this session."""
    plugins = list(registry().plugins())
    if any(plugin.distribution == SESSION for plugin in plugins):
        return False
    mine = [
        plugin for plugin in plugins if (plugin.specification.kind, plugin.specification.name) == ("study", study.name)
    ]
    return len(mine) == 1 and mine[0].specification.load() is study


@functools.cache
def code_digest() -> str:
    """Return a digest of the code that evaluations depend on: its files, and the versions of all that is installed."""
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for distribution in installed_distributions():
        digest.update(f"{distribution}\n".encode())
    packages = {"rankplug"}
    for plugin in registry().plugins():
        code = plugin.specification.implementation
        module = code.partition(":")[0] if isinstance(code, str) else getattr(code, "__module__", "")
        packages.add(module.partition(".")[0])
    for package in sorted(packages - {""}):
        for name, path in sorted(package_files(package)):
            digest.update(f"{package} {name}\n".encode() + _digest(path.read_bytes()))
    return digest.hexdigest()


def installed_distributions() -> list[str]:
    """Return the names and versions of all that is installed, by the folders that tell of them."""
    found: set[str] = set()
    for folder in filter(os.path.isdir, sys.path):
        found.update(name for name in os.listdir(folder) if name.endswith(INSTALLED))
    return sorted(found)


def _remove_oldest(folder: Path) -> None:
    """Leave room for one more evaluation of a study."""
    folders = sorted(folder.glob("*/"), key=lambda path: path.stat().st_mtime) if folder.exists() else []
    for old in folders[: max(len(folders) - LATEST + 1, 0)]:
        shutil.rmtree(old, ignore_errors=True)


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have numbers, and whose columns hold numbers or text under one name each."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    columns = {}
    for name, column in table.items():
        numbers = pd.api.types.is_numeric_dtype(column.dtype)
        words = column.astype(object)
        heading = " ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name)
        columns[heading] = column if numbers else words.where(words.isna(), words.map(str)).astype(object)
    return pd.DataFrame(columns)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).hexdigest().encode()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _read_table(content: str) -> pd.DataFrame:
    import pandas as pd

    return plain_table(pd.read_parquet(io.BytesIO(base64.b64decode(content))))


def _plain_sources(sources: Iterable[Source]) -> list[list[Any]]:
    return [[source.group, source.model, list(source.identities)] for source in sources]


def _read_sources(described: Iterable[Any]) -> tuple[Source, ...]:
    return tuple(Source(group, model, tuple(identities)) for group, model, identities in described)
