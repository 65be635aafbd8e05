"""Formulas: accents and function names are set as TeX sets them, in a font that holds what a page needs."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont

from rankplug.report import math_font, math_html
from rankplug.report.rendering import math_font_style
from rankplug.report.safe_html import policy

FORMULA = r"\log \hat y_i = -\beta\log(-\log U_i) + \sqrt{\frac{a}{b}}"


def parts(formula: str) -> list[tuple[str, str]]:
    return [(part.tag, part.text or "") for part in ElementTree.fromstring(math_html(formula)).iter()]


@pytest.mark.parametrize(("accent", "sign"), [("hat", "\u02c6"), ("tilde", "\u02dc"), ("bar", "\u00af")])
def test_an_accent_is_the_character_that_fonts_place_over_letters(accent, sign):
    assert ("mo", sign) in parts(rf"\{accent}{{y}}")


def test_names_of_functions_stand_apart_from_letters_and_not_from_brackets():
    tags = [tag for tag, _ in parts(r"\beta\log x")]
    assert tags == ["math", "mrow", "mi", "mspace", "mi", "mspace", "mi"]
    assert "mspace" not in [tag for tag, _ in parts(r"\log(x) + \log\sum_i x_i + \beta x y")]


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


def test_a_page_without_formulas_embeds_no_font():
    assert math_font_style("<p>x = 1</p>") == ""


def test_the_same_formulas_give_the_same_file():
    assert math_font(str(math_html(FORMULA))) == math_font(f"<p>{math_html(FORMULA)}</p>")


def test_a_page_may_take_fonts_from_itself_only():
    assert "font-src data:;" in policy("")
