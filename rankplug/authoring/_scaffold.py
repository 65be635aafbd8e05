"""A small package with one working plugin, for its author to change.

The texts are in ``rankplug/authoring/templates``: ``package`` is common to all kinds, each other folder is one kind.
In a file's name ``MODULE`` stands for the import package, ``NAME`` for the plugin's name, and what lies in
``PACKAGE`` goes beside the package, in place of what is common to all; in its text ``$name`` and the like for what
:class:`NewPlugin` says.
"""

from __future__ import annotations

import errno
import importlib.util
import keyword
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Literal

from rankplug.errors import RankplugError, did_you_mean
from rankplug.registry import registry
from rankplug.system import __version__, whole_folder

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".template"
KINDS = ("loss", "sampler", "scorer", "backend", "dataset", "transform", "metric", "study")
NAME = re.compile(r"[a-z][a-z0-9_]*")
WORD = re.compile(r"[A-Za-z_]\w*")

Flavour = Literal["numba", "torch"]


class ScaffoldError(RankplugError):
    """A package that cannot be begun."""


@dataclass(frozen=True)
class NewPlugin:
    """A plugin to begin with.

    Args:
        kind: such as ``loss``.
        name: what users will call it.
        flavour: of a loss: a compiled function of one list, or a PyTorch expression.
    """

    kind: str
    name: str
    flavour: Flavour = "numba"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ScaffoldError(f"there is no template for a {self.kind}: {did_you_mean(self.kind, KINDS)}")
        if not NAME.fullmatch(self.name) or keyword.iskeyword(self.name):
            raise ScaffoldError(
                f"{self.name!r} cannot name a new plugin: take small letters, digits and _, beginning with a letter,"
                " and no word of Python"
            )
        for plugin in registry().plugins(self.kind):
            if plugin.specification.name == self.name:
                raise ScaffoldError(f"{plugin.specification} is offered by {plugin.distribution} already; take another")
        if importlib.util.find_spec(self.module) is not None:
            raise ScaffoldError(f"a package {self.module} is installed already; take another name than {self.name}")
        if used := {self.name, self.title} & self.words:
            raise ScaffoldError(f"the template itself uses the word {used.pop()}; take another name than {self.name}")

    @property
    def folder(self) -> Path:
        """The folder of the kind's own templates."""
        return TEMPLATES / (f"loss-{self.flavour}" if self.kind == "loss" else self.kind)

    @property
    def module(self) -> str:
        """Its import package."""
        return f"rankplug_{self.name}"

    @property
    def title(self) -> str:
        """Its name as a class has it."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def words(self) -> set[str]:
        """The words that the template of its code uses itself."""
        return {word for path, text in self._templates() if path.suffix == ".py" for word in WORD.findall(text)}

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """Values for the templates' placeholders."""
        about = tomllib.loads((self.folder / "about.toml").read_text())
        extra = f"[{about['extra']}]" if about["extra"] else ""
        return {
            "kind": self.kind,
            "name": self.name,
            "title": self.title,
            "module": self.module,
            "distribution": f"rankplug-{self.name.replace('_', '-')}",
            "contract": f"{self.kind.capitalize()}Contract",
            "summary": about["summary"],
            "sweep": Template(about["sweep"]).substitute(name=self.name),
            "compared": about["compared"],
            "extra": extra,
            "run": Template(about.get("run", f"rankplug sweep {about['sweep']}")).substitute(name=self.name),
            "version": __version__,
        }

    def files(self) -> dict[Path, str]:
        """Return the package's files with their texts."""
        return {path: Template(text).substitute(self.facts) for path, text in self._templates()}

    def write(self, into: Path) -> Path:
        """Write the package as a new folder of its name, and return that folder."""
        target = into / self.name
        if target.exists():
            raise ScaffoldError(f"{target} exists already; remove it, or say with --into where else")
        try:
            if into.exists() and not into.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            into.mkdir(parents=True, exist_ok=True)
            # Under another name until it is whole, so that a run that was killed is in nobody's way.
            with whole_folder(target) as made:
                for path, text in self.files().items():
                    (made / path).parent.mkdir(parents=True, exist_ok=True)
                    (made / path).write_text(text)
        except OSError as error:
            raise ScaffoldError(f"cannot write {target}: {error.strerror}; name another folder with --into") from error
        return target

    def _templates(self) -> Iterator[tuple[Path, str]]:
        for root, home in ((TEMPLATES / "package", ""), (self.folder, "MODULE")):
            for template in sorted(root.rglob(f"*{SUFFIX}")):
                path = str(home / template.relative_to(root).with_suffix(""))
                path = path.replace("MODULE/PACKAGE/", "").replace("MODULE", self.module).replace("NAME", self.name)
                yield Path(path), template.read_text()
