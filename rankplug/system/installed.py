"""Installed packages: rankplug's version, those that only some of its uses need, their files, and notebooks' engine."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path

from rankplug.errors import MissingPackageError, RankplugError

__version__ = "0.1.0"
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
EVERYTHING = "all"


def require_modules(*modules: str) -> None:
    """Raise an error that says how to install what is missing of some modules."""
    for module in modules:
        if not _is_there(module):
            raise MissingPackageError(missing(module), name=module)


@functools.cache
def _is_there(module: str) -> bool:
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
    from importlib import metadata

    matches = [EXTRA.match(line) for line in metadata.requires("rankplug") or ()]
    pairs = [(match[1].lower(), match[2]) for match in matches if match]
    return {package: extra for package, extra in pairs if extra != EVERYTHING and package != "rankplug"}


@functools.cache
def version_of(package: str) -> str:
    """Return the version of an installed package, of which a process imports one; empty where it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, rankplug, what all backends share, and some packages."""
    from importlib import metadata

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
        f"there is no file {path} in the package {package}; put it there, see that the package's build includes it, and"
        " install it again"
    )


def notebooks_folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise RankplugError(f"the notebooks are neither in {package} nor beside it; install rankplug again")
