"""Pages of the report in a browser: each kind keeps to WCAG and the screen, its scripts work, and texts run nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("report")]
KINDS = ("index", "xendcg", "claims", "exhibits", "runs", "queries", "search", "combination", "scoreboard")
LEVEL_AA = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


def address(kind: str, report: Path, board: Path) -> str:
    """Return the address of a page of a kind."""
    combination = min((board.parent / "combinations").glob("*.html"))
    special = {"combination": combination, "scoreboard": board}
    return special.get(kind, report.parent / f"{kind}.html").as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 420)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_each_kind_is_accessible(kind, scheme, width, page, report, board, pictures):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address(kind, report, board))
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.screenshot(path=pictures / f"report-{kind}-{width}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "it scrolls sideways"
    assert not page.problems
    violations = axe.run(page, options=LEVEL_AA).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in violations] == []


def test_the_pointer_over_a_curve_shows_its_point(page, report):
    for name in ("exhibits", "xendcg"):
        page.goto(address(name, report, report))
        files = page.evaluate("() => Object.entries(JSON.parse(document.getElementById('points').textContent))")
        file, points = next((file, points) for file, points in files if points)
        picture = page.locator(f".picture img[src='{file}']").first
        picture.scroll_into_view_if_needed()
        box, (across, down, words) = picture.bounding_box(), points[-1]
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
        assert picture.locator("xpath=..").locator(".told").inner_text() == words


def test_the_search_finds_claims_by_their_words(page, report):
    page.goto(report.as_uri())
    page.keyboard.press("/")
    page.keyboard.type("bounds ndcg")
    page.keyboard.press("Enter")
    hit = page.locator(".results a").first
    hit.wait_for()
    assert "claims.html#xendcg-" in hit.get_attribute("href")
    hit.click()
    page.wait_for_url("**/claims.html#xendcg-*")
    assert not page.problems


def test_tables_are_sorted_and_filtered(page, report):
    page.goto(address("claims", report, report))
    page.get_by_label("verdict").select_option("holds")
    assert set(page.locator(".claims tbody tr:visible td:nth-child(2) span").all_inner_texts()) == {"holds"}
    page.goto(address("runs", report, report))
    page.locator("th button", has_text="fit seconds").click()
    seconds = [float(text) for text in page.locator("tbody td:nth-child(4)").all_inner_texts()]
    assert seconds == sorted(seconds, reverse=True) and len(seconds) > 2


def test_two_models_are_compared_query_by_query(page, report):
    page.goto(address("queries", report, report))
    groups = page.evaluate("() => JSON.parse(document.getElementById('groups').textContent)")
    place = next(place for place, group in enumerate(groups) if len(group["models"]) > 2)
    group, first, second = groups[place], 0, 2
    page.get_by_label("runs").select_option(str(place))
    page.get_by_label("across").select_option(str(first))
    page.get_by_label("up", exact=True).select_option(str(second))
    assert page.locator(".pair circle").count() == page.locator(".pair rect").count() == len(group["drawn"])
    wins, losses = group["better"][second][first], group["better"][first][second]
    shares = [f"{100 * count / group['queries']:.1f} %" for count in (losses, group["queries"] - wins - losses, wins)]
    assert page.locator(".outcomes b").all_inner_texts() == shares and not page.problems


NOTICES = """
window.ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = () => window.ran.push(name);
document.addEventListener("securitypolicyviolation", event => window.ran.push(`${event.violatedDirective} forbidden`));
"""
TEMPTS = """
() => {
  document.addEventListener("click", event => event.preventDefault(), true);
  for (const one of document.querySelectorAll("*")) {
    for (const kind of ["mouseover", "focus", "toggle", "error", "load"])
      one.dispatchEvent(new Event(kind, {bubbles: true}));
    if (one.click) one.click();
  }
  return window.ran;
}
"""


@pytest.mark.parametrize("policy", [True, False], ids=["with policy", "without policy"])
def test_hostile_texts_run_and_fetch_nothing(
    policy: bool, chromium: Any, active_texts: list[str], report_of: Callable[..., list[Path]], tmp_path: Path
) -> None:
    context = chromium.new_context(bypass_csp=not policy)
    requests: list[str] = []
    context.route(
        lambda target: not target.startswith("file:"), lambda route: (requests.append(route.request.url), route.abort())
    )
    context.add_init_script(NOTICES)
    page = context.new_page()
    page.set_content("<b onclick='alert(1)'>b</b>")
    assert page.evaluate(TEMPTS) == ["alert"], "what watches sees a handler"
    for path in report_of(active_texts[::20], tmp_path):
        page.goto(path.as_uri())
        assert [*page.evaluate(TEMPTS), *requests] == [], path
    context.close()
