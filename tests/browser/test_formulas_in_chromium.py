"""Formulas in a browser whose system has no font for mathematics: the page's own is loaded and used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from rankplug.report import math_html
from rankplug.report.rendering import math_font_style
from rankplug.report.safe_html import policy

pytestmark = pytest.mark.slow
NO_MATHEMATICS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<selectfont><rejectfont><glob>*Math*</glob></rejectfont></selectfont></fontconfig>"""
FORMULA = r"\sqrt{\frac{\frac{a}{b}}{c}} \hat y"


@pytest.fixture
def plain_page(chromium: Any, tmp_path: Path) -> Any:
    """Open an empty page of a browser that knows no font for mathematics."""
    pytest.importorskip("playwright.sync_api")
    configuration = tmp_path / "fonts.conf"
    configuration.write_text(NO_MATHEMATICS)
    program = os.environ.get("RANKPLUG_CHROMIUM") or shutil.which("chromium")
    browser = chromium.browser_type.launch(
        executable_path=program, env={**os.environ, "FONTCONFIG_FILE": str(configuration)}
    )
    yield browser.new_page()
    browser.close()


def test_the_fonts_of_a_page_set_its_formulas_under_its_policy(plain_page, tmp_path, pictures):
    formula = math_html(FORMULA)
    style = f'{math_font_style(formula)}math {{ font: 40px "Page Mathematics" }}'
    rules = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy(style)}">'
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html>{rules}<style>{style}</style>{formula}", encoding="utf-8")
    problems: list[str] = []
    plain_page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    plain_page.goto(path.as_uri())
    loaded = plain_page.evaluate("document.fonts.ready.then(all => [...all].map(one => one.status))")
    plain_page.screenshot(path=pictures / "formulas.png")
    assert loaded == ["loaded"] and not problems
    with_font = plain_page.evaluate("document.querySelector('math').getBoundingClientRect().height")
    path.write_text(f"<!doctype html><style>math {{ font: 40px sans-serif }}</style>{formula}", encoding="utf-8")
    plain_page.goto(path.as_uri())
    without = plain_page.evaluate("document.querySelector('math').getBoundingClientRect().height")
    assert with_font > 1.2 * without, "only a font for mathematics has roots that grow and room around fractions"
