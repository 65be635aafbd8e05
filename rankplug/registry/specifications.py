"""Plugins: what each says of itself, who offers it, and its code. Listing all of them imports no engine.

The code behind a specification is named as ``"package.module:object"`` and imported at first use.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rankplug.errors import BrokenPluginError, SpecificationError
from rankplug.registry.grammar import NAME
from rankplug.registry.loading import TimeUp, own_packages, printing_elsewhere
from rankplug.registry.parameters import Parameters, describe_parameters
from rankplug.registry.replacements import without_changes, without_replacements
from rankplug.system import missing

IMPLEMENTATION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def check_paths(specification: Specification, name: str, paths: Mapping[str, Any]) -> None:
    """Raise an error if a path is not of the form ``package.module:object``."""
    if not isinstance(paths, Mapping):
        raise SpecificationError(f"{specification}: {name} must map names to package.module:object, got {paths!r}")
    for path in paths.values():
        if not (isinstance(path, str) and IMPLEMENTATION.fullmatch(path)):
            raise SpecificationError(f"{specification}: {name}: {path!r} is not of the form package.module:object")


def import_object(path: str, owner: str) -> Any:
    """Import and return the object behind ``package.module:object``."""
    module, _, name = path.partition(":")
    try:
        # A module that another thread is still importing is there already; importing it waits.
        value: Any = importlib.import_module(module) if module in sys.modules else _imported(module, owner)
        for part in name.split("."):
            value = getattr(value, part)
    except (KeyboardInterrupt, TimeUp):
        raise
    except BaseException as error:
        if isinstance(error, BrokenPluginError):
            raise BrokenPluginError(f"{owner} cannot be used: {error}") from error
        if isinstance(error, ModuleNotFoundError) and error.name:
            raise BrokenPluginError(f"{owner} cannot be used: {missing(error.name)}") from error
        raise BrokenPluginError(f"{owner} cannot be used: {type(error).__name__}: {error}") from error
    return value


def _imported(module: str, owner: str) -> Any:
    root = module.partition(".")[0]
    if root in own_packages():
        return importlib.import_module(module)
    try:
        with printing_elsewhere(owner, deeply=True), without_changes(), without_replacements(root):
            return importlib.import_module(module)
    except BrokenPluginError:
        sys.modules.pop(module, None)
        raise


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A plugin of any kind.

    Args:
        name: what users call it.
        summary: one line.
        implementation: ``"package.module:object"``, or the object itself.
        parameters: the model of its parameters.
        paper: short name of the paper it comes from, or a citation.
        formula: LaTeX, for the generated pages.
        revision: to be raised when the plugin gives other numbers for the same parameters while its distribution keeps
            its version, so that results from before do not count as those of now.
    """

    kind: ClassVar[str] = "plugin"

    name: str
    summary: str
    implementation: Any = ""
    parameters: type[Parameters] = Parameters
    paper: str = ""
    formula: str = ""
    revision: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and NAME.fullmatch(self.name)):
            raise SpecificationError(
                f"{self.name!r} is not a plugin's name: letters, digits, _ and -, beginning with a letter"
            )
        if not (isinstance(self.summary, str) and self.summary):
            raise SpecificationError(f"{self.kind} {self.name} has no summary")
        path = self.implementation
        if isinstance(path, str) and path and not IMPLEMENTATION.fullmatch(path):
            raise SpecificationError(f"{self}: {path!r} is not of the form package.module:object")
        if not isinstance(self.revision, int) or self.revision < 0:
            raise SpecificationError(f"{self}: revision must be a whole number of at least 0, got {self.revision!r}")
        if not (isinstance(self.parameters, type) and issubclass(self.parameters, Parameters)):
            raise SpecificationError(f"{self.kind} {self.name}: parameters must be a subclass of rankplug.Parameters")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def load(self) -> Any:
        """Import the object behind the specification."""
        if isinstance(self.implementation, str):
            return import_object(self.implementation, str(self))
        return self.implementation

    def describe(self) -> dict[str, Any]:
        """Return the specification as plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "paper": self.paper,
            "parameters": describe_parameters(self.parameters),
        }


@dataclass(frozen=True)
class Plugin:
    """A specification with the distribution that offers it."""

    specification: Specification
    distribution: str
    version: str
    source: str = ""
    """Source of a plugin that was written in this session."""

    def describe(self) -> dict[str, Any]:
        return {**self.specification.describe(), "distribution": self.distribution, "version": self.version}


@dataclass(frozen=True)
class BrokenPlugin:
    """A plugin, or one of its hooks, that could not be used, and why."""

    entry_point: str
    distribution: str
    version: str
    reason: str
    traceback: str = ""

    def describe(self) -> dict[str, str]:
        return dict(vars(self))
