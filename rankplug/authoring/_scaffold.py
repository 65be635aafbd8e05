"""A small package with one working plugin, for its author to change.

The texts are in ``rankplug/authoring/templates``: ``package`` is common to all kinds, each other folder is one kind.
In a file's name ``MODULE`` stands for the import package, ``NAME`` for the plugin's name, and what lies in
``PACKAGE`` goes beside the package, in place of what is common to all; in its text ``$name`` and the like for values of
:class:`NewPlugin`.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
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
    """A package that cannot be written."""


@dataclass(frozen=True)
class NewPlugin:
    """A plugin whose package is written.

    Args:
        kind: kind such as ``loss``.
        name: name by which users will call it.
        flavour: form of a loss: a compiled function of one list, or a PyTorch expression.
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
        words = {word for path, text in self._templates() if path.suffix == ".py" for word in WORD.findall(text)}
        if used := {self.name, self.title} & words:
            raise ScaffoldError(f"the template itself uses the word {used.pop()}; take another name than {self.name}")

    @property
    def module(self) -> str:
        """Name of its import package."""
        return f"rankplug_{self.name}"

    @property
    def title(self) -> str:
        """Its name as part of the name of a class."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def _folder(self) -> Path:
        return TEMPLATES / (f"loss-{self.flavour}" if self.kind == "loss" else self.kind)

    def _templates(self) -> Iterator[tuple[Path, str]]:
        """Yield the package's files with the texts of their templates."""
        for root, home in ((TEMPLATES / "package", ""), (self._folder, "MODULE")):
            for template in sorted(root.rglob(f"*{SUFFIX}")):
                path = str(home / template.relative_to(root).with_suffix(""))
                path = path.replace("MODULE/PACKAGE/", "").replace("MODULE", self.module).replace("NAME", self.name)
                yield Path(path), template.read_text()

    @property
    def facts(self) -> dict[str, str]:
        """Values of the templates' placeholders."""
        about = tomllib.loads((self._folder / "about.toml").read_text())
        sweep = Template(about["sweep"]).substitute(name=self.name)
        return {
            "kind": self.kind,
            "name": self.name,
            "title": self.title,
            "module": self.module,
            "distribution": f"rankplug-{self.name.replace('_', '-')}",
            "contract": f"{self.kind.capitalize()}Contract",
            "summary": about["summary"],
            "sweep": sweep,
            "compared": about["compared"],
            "extra": f"[{about['extra']}]" if about["extra"] else "",
            "run": Template(about["run"]).substitute(name=self.name) if "run" in about else f"rankplug sweep {sweep}",
            "version": __version__,
        }

    def files(self) -> dict[Path, str]:
        """Return the package's files with their texts."""
        facts = self.facts
        return {path: Template(text).substitute(facts) for path, text in self._templates()}

    def write(self, into: Path) -> Path:
        """Write the package as a new folder of its name, and return that folder."""
        target = into / self.name
        if target.exists():
            raise ScaffoldError(f"{target} exists already; remove it, or say with --into where else")
        try:
            into.mkdir(parents=True, exist_ok=True)
            # Under another name until it is whole, so that a killed run leaves nothing in the way.
            with whole_folder(target) as folder:
                for path, text in self.files().items():
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_text(text)
        except OSError as error:
            raise ScaffoldError(f"cannot write {target}: {error.strerror}; name another folder with --into") from error
        return target
