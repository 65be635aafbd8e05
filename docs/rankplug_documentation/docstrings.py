"""Conversion of docstrings to Markdown: roles of Sphinx turn into formulas and names, doctests into blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

MATH = re.compile(r":math:`([^`]+)`")
ROLE = re.compile(r":\w+:`~?([^`]+)`")
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)


def markdown(docstring: str) -> str:
    r"""Convert a docstring with its roles to Markdown.

    >>> markdown("of :class:`~rankplug.data.Lists` with :math:`x^2`")
    'of `Lists` with $x^2$'
    """
    text = MATH.sub(r"$\1$", docstring).replace("``", "`")
    text = ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", text)
    return EXAMPLE.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```\n", text)


class Docstrings(griffe.Extension):
    """Rewrites every docstring that is read from source."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of an object, for which griffe calls this."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)
