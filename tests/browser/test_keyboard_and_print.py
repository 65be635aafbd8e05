"""The report by keyboard alone, and on paper."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("report")]
REACHED = "a[href], button, input, select, summary, [tabindex]:not([tabindex='-1'])"
"""Elements that a reader reaches by Tab."""
FOCUS = """
() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  const shown = one.checkVisibility() && box.width && box.height && Number(style.opacity) > 0
    && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const ringed = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1;
  const place = [...document.querySelectorAll("*")].indexOf(one);
  return {place, told: one.outerHTML.slice(0, 120), shown: Boolean(shown), ringed, outside: one === document.body};
}
"""
"""The element that has the focus, and whether a reader sees it and that it has it."""
HAS_FOCUS = "([tag, part]) => document.activeElement.tagName === tag && document.activeElement.closest(part) !== null"
PAPER = 688
"""Pixels of a line of print: A4 without its margins of 14 mm, at 96 dots an inch."""
CUT_OFF = """
width => [...document.querySelectorAll("main td, main th, main img, main pre, main svg, main p, main math")]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > width + 1)
  .map(one => one.outerHTML.slice(0, 120))
"""


def walk(page: Any, most: int = 3000) -> list[dict[str, Any]]:
    """Press Tab from the top of a page until the focus leaves it; return what had it."""
    seen: list[dict[str, Any]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["outside"] or (seen and focus["place"] == seen[0]["place"]):
            return seen
        seen.append(focus)
    raise AssertionError(f"the focus does not leave the page: {seen[-3:]}")


@pytest.mark.parametrize("name", ["index", "claims", "scoreboard"])
def test_tab_reaches_everything_once_and_the_focus_is_seen(name, page, report, board):
    page.goto((board if name == "scoreboard" else report.parent / f"{name}.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    shown = "names => [...document.querySelectorAll(names)].filter(one => one.checkVisibility()).length"
    asked = page.evaluate(shown, REACHED)
    seen = walk(page)
    places = [focus["place"] for focus in seen]
    assert len(places) == len(set(places)), "the focus goes in circles"
    assert len(places) >= asked > 10
    assert [focus["told"] for focus in seen if not focus["shown"]] == []
    assert [focus["told"] for focus in seen if not focus["ringed"]] == []
    assert not page.problems


def test_the_first_tab_leads_past_the_navigation(page, report):
    page.goto(report.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_claims_are_filtered_and_the_scoreboard_is_sorted_by_keys_alone(page, report, board):
    page.goto(f"{report.parent.as_uri()}/claims.html")
    reach(page, "INPUT", "main")
    page.keyboard.type("holds")
    rows = page.locator(".claims tbody tr:visible")
    assert rows.count() and all("holds" in text for text in rows.all_inner_texts())
    page.keyboard.press("Tab")
    page.keyboard.press("h")
    assert page.evaluate("document.activeElement.value") == "holds"
    page.goto(board.as_uri())
    reach(page, "SELECT", "main")
    reach(page, "SUMMARY", "section")
    if not page.evaluate("document.activeElement.parentElement.open"):
        page.keyboard.press("Enter")
    reach(page, "BUTTON", ".board thead")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('th').ariaSort") in ("ascending", "descending")
    assert not page.problems


def reach(page: Any, tag: str, inside: str, most: int = 500) -> None:
    """Press Tab until an element of some kind has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(HAS_FOCUS, [tag, inside]):
            return
    raise AssertionError(f"no {tag} in {inside} is reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_on_paper_and_it_is_dark_on_white(scheme, page, report, board, pictures):
    page.emulate_media(media="print", color_scheme=scheme)
    page.set_viewport_size({"width": PAPER, "height": 1000})
    for path in [*sorted(report.parent.glob("*.html")), board]:
        page.goto(path.as_uri())
        assert page.evaluate(CUT_OFF, PAPER) == [], path.name
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        filters = page.locator("img").evaluate_all("all => all.map(one => getComputedStyle(one).filter)")
        assert set(filters) <= {"none"}
        assert not page.get_by_label("Pages").is_visible()
        Path(pictures / f"print-{path.stem}.pdf").write_bytes(page.pdf(prefer_css_page_size=True))
    assert not page.problems


def test_a_long_table_has_its_heads_on_every_printed_page(page, report, tmp_path):
    if not (reader := shutil.which("pdftotext")):
        pytest.skip("pdftotext of poppler is not installed")
    page.goto(f"{report.parent.as_uri()}/claims.html")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    file = tmp_path / "claims.pdf"
    file.write_bytes(page.pdf(prefer_css_page_size=True))
    text = subprocess.run([reader, "-layout", file, "-"], capture_output=True, text=True, check=True).stdout
    *whole, _ = text.rstrip("\f").split("\f")
    heads = [" ".join(line.split()) for printed in whole for line in printed.splitlines()]
    assert len(whole) > 1 and heads.count("claim verdict evidence") >= len(whole), text
