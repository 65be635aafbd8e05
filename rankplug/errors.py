"""Every error a user can meet: one sentence that says what was wrong, where, and what to do."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class RankplugError(Exception):
    """Base of all errors raised on purpose; the command line prints these without a traceback."""


class GrammarError(RankplugError):
    """A text such as ``lambdarank[sigma=2]`` that cannot be read."""


class UnknownPluginError(RankplugError):
    """A name that no installed plugin offers."""


class PluginConflictError(RankplugError):
    """A name that two distributions offer."""


class BrokenPluginError(RankplugError):
    """A plugin that was asked for, is known, and cannot be used."""


class SpecificationError(RankplugError):
    """A plugin that declares something impossible."""


class ParameterError(RankplugError):
    """A plugin's parameter that does not exist or has an impossible value."""


class DataError(RankplugError):
    """Data that is not what it should be."""


class NothingLeftError(DataError):
    """Data of which a transform would leave no query."""


class FitError(RankplugError):
    """Training that cannot start or had to stop."""


class DivergedError(FitError):
    """Training whose scores or loss are no longer finite.

    ``model`` is the best model before that, or None where there was none.
    """

    model: Any = None


class MissingPackageError(RankplugError, ModuleNotFoundError):
    """A package that is not installed, and the extra of rankplug that brings it."""


class NotRunError(RankplugError):
    """A trial that could not run as it was planned, which is no fault of its combination: nothing is recorded of it."""


class ModelFileError(RankplugError):
    """A file that is no model of ours, or a damaged one."""


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 200
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxfrozenset = 6
_short.maxlevel = 2


def shown(value: Any) -> str:
    """Return a value in the form that messages show, which is short however large or deep it is.

    >>> shown("tree"), len(shown([[["x"] * 1000] * 1000] * 1000)) < 1_000
    ("'tree'", True)
    """
    try:
        return _short.repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the nearest known words, or lists all if they are few.

    >>> did_you_mean("lamdarank", ["lambdarank", "listnet"])
    'did you mean lambdarank?'
    >>> did_you_mean("zzz", ["b", "a"])
    'known: a, b'
    """
    names = sorted(set(known))
    near = get_close_matches(word, names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not names:
        return "none is installed"
    shown = ", ".join(names[:20])
    return f"known: {shown}" + (f" and {len(names) - 20} more" if len(names) > 20 else "")
