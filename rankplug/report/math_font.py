"""The font that formulas of a page are set in: only the glyphs that the page uses, embedded into it.

Browsers set MathML well only in a font with tables for mathematics, which many systems lack: accents then stand beside
their letters. STIX Two Math comes with the package ziamath, under the SIL Open Font License, which a subset names too.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re
import unicodedata

FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
ITALIC = (*range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C))
"""Slanted letters, which browsers take for a variable of one letter."""
DRAWN_BY_BROWSERS = "\N{SQUARE ROOT}\N{MINUS SIGN}\N{PRIME}"
"""Signs that stand for an element or another character."""
NAMES = [0, 1, 2, 7, 13, 14]
"""Copyright, family, style, trademark and licence, by OpenType's numbers."""


def math_font_style(page: str) -> str:
    """Return the style that embeds a font for the formulas of a page; nothing for a page without any."""
    if not math_characters(page):
        return ""
    data = base64.b64encode(math_font(page)).decode()
    return f'@font-face {{ font-family: "Page Mathematics"; src: url(data:font/woff;base64,{data}) format("woff"); }}\n'


def math_font(page: str) -> bytes:
    """Return a WOFF file of STIX Two Math with what the formulas of a page, or of several, are drawn with."""
    return _subset(math_characters(page))


def math_characters(page: str) -> frozenset[str]:
    """Return the characters that a browser may draw in the formulas of a page.

    >>> sorted(math_characters("<p>text</p><math><mi>x</mi><mo>&lt;</mo></math>") - set(DRAWN_BY_BROWSERS))
    ['<', 'x', '𝑥']
    """
    written = {letter for formula in FORMULA.findall(page) for letter in html.unescape(TAG.sub("", formula))}
    plain = {unicodedata.normalize("NFKC", letter) for letter in written}
    slanted = {letter for letter in map(chr, ITALIC) if unicodedata.normalize("NFKC", letter) in plain}
    return frozenset(written | slanted | set(DRAWN_BY_BROWSERS)) if written else frozenset()


@functools.lru_cache(maxsize=256)
def _subset(characters: frozenset[str]) -> bytes:
    """Return the font with some characters, and the larger glyphs that these grow into."""
    from importlib.metadata import distribution

    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(layout_features=["ssty", "dtls", "flac"], name_IDs=NAMES, hinting=False, glyph_names=False)
    written = io.BytesIO()
    # The package is not imported: it draws formulas itself, which takes longer than making the subset.
    path = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    with TTFont(str(path), lazy=True, recalcTimestamp=False) as font:
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=map(ord, characters))
        subsetter.subset(font)
        font.flavor = "woff"
        font.save(written)
    return written.getvalue()
