"""SVG without what no reader sees: matplotlib writes places to a millionth of a point, and the font with every text."""

from __future__ import annotations

import re
from collections import Counter

PLACES = re.compile(r'(?<= )(d|x|y|points|transform)="(?!scale)([^"]*)"')
"""Attributes that hold places; what scales is not one."""
NUMBER = re.compile(r"-?\d+\.\d+")
SPACE = re.compile(r"\s+")
UPRIGHT = re.compile(r' transform="rotate\(-0 [^)"]*\)"')
"""A turn by nothing, which matplotlib writes with every text."""
FONT = re.compile(r'font-family: ([^;"]+)')
STYLES = "</style>"


def compact_svg(text: str) -> str:
    """Return a picture whose places have two digits behind the point, and whose usual font is named once.

    >>> compact_svg('<path d="M 57.612345 307.5 \\nL -0.001 2 \\n"/> <g transform="scale(0.001 1)">1.23456</g>')
    '<path d="M 57.61 307.5 L 0 2"/> <g transform="scale(0.001 1)">1.23456</g>'
    """
    short = PLACES.sub(lambda found: f'{found[1]}="{_rounded(found[2])}"', UPRIGHT.sub("", text))
    fonts = Counter(FONT.findall(short)).most_common(1)
    if not fonts or STYLES not in short:
        return short
    named = f"font-family: {fonts[0][0]}"
    without = short.replace(f"{named}; ", "").replace(f'; {named}"', '"')
    return without.replace(STYLES, f"text{{{named}}}{STYLES}", 1)


def _rounded(places: str) -> str:
    return SPACE.sub(" ", NUMBER.sub(_shorter, places)).strip()


def _shorter(number: re.Match[str]) -> str:
    shorter = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if shorter == "-0" else shorter
