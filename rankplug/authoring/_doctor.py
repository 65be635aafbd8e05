"""Diagnosis of this machine: versions, threads, backends, plugins and folders."""

from __future__ import annotations

import importlib
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug.registry import BackendSpecification, BrokenPlugin, Registry, registry, third_party_problems
from rankplug.system import (
    __version__,
    available_cores,
    busy_threads,
    cache_folder,
    data_folders,
    other_results,
    results_place,
    threads,
    waiting_pools,
)

DISTRIBUTION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class BackendHealth:
    """Usability of a backend, with the reason if it cannot be used."""

    name: str
    works: bool
    reason: str = ""


@dataclass(frozen=True)
class Folder:
    """A folder rankplug reads or writes."""

    purpose: str
    path: str
    exists: bool
    writable: bool
    variable: str
    """The environment variable that moves it."""
    why: str = ""
    """Reason for choosing this one of several possible folders."""


@dataclass(frozen=True)
class Diagnosis:
    """All findings."""

    versions: dict[str, str]
    """Versions of Python, rankplug and everything it depends on; ``not installed`` where an extra is missing."""
    threads: int
    cores: int
    busy: int
    """Threads of other programs that compute at the moment."""
    waiting: dict[str, str]
    """Environment variables that say how long a thread that waits keeps its core busy."""
    backends: list[BackendHealth]
    failed: list[BrokenPlugin]
    conflicts: list[tuple[str, str, list[str]]]
    folders: list[Folder]
    others: dict[str, str]
    """Third-party plugins, with what is wrong with each, or nothing."""
    remarks: list[str]

    @property
    def problems(self) -> list[str]:
        """Return what should be put right, one sentence each; a backend that is not installed is no problem."""
        problems = [
            f"plugin {failure.entry_point} of {failure.distribution} failed: {failure.reason}"
            for failure in self.failed
        ]
        problems += [f"{kind} {name} is offered by {' and '.join(offers)}" for kind, name, offers in self.conflicts]
        problems += [f"{name}: {problem}" for name, problem in self.others.items() if problem]
        for folder in self.folders:
            if folder.purpose == "data" and not folder.exists:
                problems.append(f"the folder for data, {folder.path}, does not exist; correct {folder.variable}")
            elif folder.purpose != "data" and not folder.writable:
                place = f"the folder for {folder.purpose}, {folder.path}"
                problems.append(f"{place}, cannot be written; set {folder.variable} to another")
        if not any(backend.works for backend in self.backends):
            problems.append(
                "no backend works, so nothing can be trained: install one with pip install 'rankplug[lightgbm]'"
            )
        return problems

    def describe(self) -> dict[str, Any]:
        """Return all findings as plain values."""
        conflicts = [{"kind": kind, "name": name, "distributions": offers} for kind, name, offers in self.conflicts]
        return asdict(self) | {"conflicts": conflicts, "problems": self.problems}


def examine(plugins: Registry | None = None) -> Diagnosis:
    """Examine everything, importing the engine of each backend to see whether it works."""
    plugins = registry() if plugins is None else plugins
    others = [
        f"there are results in {path} too, which are not used here; rankplug results merge {path} brings them in"
        for path in other_results()
    ]
    return Diagnosis(
        versions=dict(_versions()),
        threads=threads(),
        cores=available_cores(),
        busy=busy_threads(),
        waiting=waiting_pools(),
        backends=list(_backends(plugins)),
        failed=list(plugins.broken),
        conflicts=list(plugins.conflicts()),
        folders=list(_folders()),
        others=third_party_problems(plugins),
        remarks=[*plugins.remarks, *others],
    )


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    yield "system", platform.platform()
    yield "rankplug", __version__
    required = [DISTRIBUTION_NAME.match(line) for line in metadata.requires("rankplug") or ()]
    for name in sorted({match.group() for match in required if match} - {"rankplug"}):
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, "not installed"


def _backends(plugins: Registry) -> Iterator[BackendHealth]:
    for specification in plugins.specifications(BackendSpecification):
        try:
            for module in specification.requires:
                importlib.import_module(module)
            specification.load()
        except (Exception, SystemExit) as error:
            reason = str(error) if isinstance(error, RankplugError) else f"{type(error).__name__}: {error}"
            yield BackendHealth(specification.name, False, reason)
        else:
            yield BackendHealth(specification.name, True)


def _folders() -> Iterator[Folder]:
    for folder in data_folders():
        yield _folder("data", folder, "RANKPLUG_DATA")
    yield _folder("prepared data and compiled code", cache_folder(create=False), "RANKPLUG_CACHE")
    results, why = results_place()
    yield _folder("results", results, "RANKPLUG_RESULTS", why)


def _folder(purpose: str, path: Path, variable: str, why: str = "") -> Folder:
    whole = path.expanduser().absolute()
    # Unlike methods of paths, these functions treat a folder that may not be read as one that does not exist.
    nearest = next(folder for folder in (whole, *whole.parents) if os.path.exists(folder))
    writable = os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK)
    return Folder(purpose, str(whole), os.path.isdir(whole), writable, variable, why)
