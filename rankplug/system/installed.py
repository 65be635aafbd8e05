"""Installed packages: rankplug's version, those that only some of its uses need, and the engine of notebooks."""

from __future__ import annotations

import functools
import importlib.util
import re
from typing import Any

from rankplug.errors import MissingPackageError

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
FORKING_ENGINE = "rankplug"
"""Name of papermill's engine that forks kernels, which a plugin offers."""


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
    wanted = f"'rankplug[{extra}]'" if extra else package
    return f"{top} is not installed, which this needs; install it with: pip install {wanted}"


@functools.cache
def _extras() -> dict[str, str]:
    """Return the extra of rankplug that brings each optional package."""
    from importlib import metadata

    matches = [EXTRA.match(line) for line in metadata.requires("rankplug") or ()]
    pairs = [(match[1].lower(), match[2]) for match in matches if match]
    return {package: extra for package, extra in pairs if extra != EVERYTHING and package != "rankplug"}


def engine() -> Any:
    """Return papermill's engine that forks kernels; None where no installed package offers it."""
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillException

    try:
        return papermill_engines.get_engine(FORKING_ENGINE)
    except PapermillException:
        return None


def engine_name() -> str | None:
    """Return the name of that engine; None, which is papermill's own, where no installed package offers it."""
    return None if engine() is None else FORKING_ENGINE
