"""Formulas: accents and function names are set as TeX sets them, in a font that holds what a page needs."""

from __future__ import annotations

import base64
import io
import re

from fontTools.ttLib import TTFont

from rankplug.report import math_html
from rankplug.report.rendering import math_font_style

FORMULA = r"\log \hat y_i = -\beta\log(-\log U_i) + \sqrt{\frac{a}{b}}"


def test_a_page_with_formulas_embeds_their_glyphs_with_the_licence_and_little_else():
    style = math_font_style(f"<p>Words with ß</p>{math_html(FORMULA)}")
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", style)
    assert len(style) < 40_000
    font = TTFont(io.BytesIO(base64.b64decode(data)))
    glyphs = font.getBestCmap()
    upright, slanted = "log()=", "\N{MATHEMATICAL ITALIC SMALL Y}\N{MATHEMATICAL ITALIC SMALL BETA}"
    assert {ord(letter) for letter in f"{upright}{slanted}\u02c6\N{SQUARE ROOT}\N{MINUS SIGN}"} <= set(glyphs)
    assert ord("ß") not in glyphs and ord("W") not in glyphs
    accents = font["MATH"].table.MathGlyphInfo.MathTopAccentAttachment.TopAccentCoverage.glyphs
    assert glyphs[ord("\N{MATHEMATICAL ITALIC SMALL Y}")] in accents
    assert "SIL Open Font License" in font["name"].getDebugName(13)
