"""Installed packages: rankplug's version, optional packages, and files in packages."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from rankplug.errors import MissingPackageError, RankplugError

__version__ = metadata.version("rankplug")
EXTRA = re.compile(r"^([A-Za-z0-9._-]+).*;.*\bextra == ['\"]([a-z]+)['\"]")
BROUGHT_BY = {
    "IPython": "ipython",
    "jupyter_client": "jupyter-client",
    "pyterrier": "python-terrier",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Packages whose name differs from the module's."""


def require_modules(*modules: str) -> None:
    """Raise an error with the command that installs what is missing of some modules."""
    for module in modules:
        if not is_installed(module):
            raise MissingPackageError(missing(module), name=module)


@functools.cache
def is_installed(module: str) -> bool:
    """Return whether a module can be imported."""
    return importlib.util.find_spec(module) is not None


def missing(module: str) -> str:
    """Return a sentence about a module that is not installed.

    >>> missing("matplotlib.pyplot")
    "matplotlib is not installed, which this needs; install it with: pip install 'rankplug[notebooks]'"
    """
    top = module.partition(".")[0]
    package = BROUGHT_BY.get(top, top)
    extra = _extras().get(package.lower())
    requirement = f"'rankplug[{extra}]'" if extra else package
    return f"{top} is not installed, which this needs; install it with: pip install {requirement}"


@functools.cache
def _extras() -> dict[str, str]:
    """Return the extra of rankplug that brings each optional package."""
    matches = [EXTRA.match(line) for line in metadata.requires("rankplug") or ()]
    pairs = [(match[1].lower(), match[2]) for match in matches if match]
    return {package: extra for package, extra in pairs if extra != "all" and package != "rankplug"}


@functools.cache
def version_of(package: str) -> str:
    """Return the version of an installed package; empty where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, rankplug, what all backends share, and some packages."""
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in ("rankplug", "numpy", "numba", *packages)
    }


def packaged_file(resource: str) -> Path:
    """Return the file that ``package:path`` names: inside the package, or beside it where it is installed in place.

    >>> packaged_file("rankplug:notebooks/combination.ipynb").name
    'combination.ipynb'
    """
    package, _, path = resource.partition(":")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise RankplugError(f"{resource} is in a package {package}, which is not installed")
    homes = [Path(home) for home in spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]]
    for folder in (*homes, *(home.parent for home in homes)):
        if (folder / path).is_file():
            return folder / path
    raise RankplugError(
        f"the package {package} has no file {path}; put it there, check that the package's build includes it, and"
        " install it again"
    )


def notebooks_folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or beside it in a checkout."""
    return packaged_file("rankplug:notebooks/combination.ipynb").parent
