"""The report as a reader sees it: every link leads somewhere, nothing goes wrong on any page, in light and in dark."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("report")]
STUDY = "xendcg"
"""The study of the report, see the fixture."""


def links(page) -> list[str]:
    return page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")


def test_every_link_leads_somewhere_and_no_page_has_an_error(page, report):
    waiting, seen, files = [report.as_uri()], set(), set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        file = Path(address.removeprefix("file://").partition("#")[0])
        assert file.is_file() and file.is_relative_to(report.parent), address
        if file.suffix != ".html":
            continue
        page.goto(address)
        assert page.title().endswith("rankplug report")
        if (anchor := unquote(address.partition("#")[2])) and not anchor.startswith("cell"):
            assert page.evaluate("id => document.querySelectorAll(`[id='${id}']`).length", anchor) == 1, address
        if file not in files:
            files.add(file)
            waiting += links(page)
            assert page.locator("img").evaluate_all(
                "all => all.every(one => one.loading == 'lazy' || one.naturalWidth)"
            )
    names = {file.relative_to(report.parent).parts[0] for file in files}
    pages = {"index", STUDY, "claims", "exhibits", "runs", "queries", "search"}
    assert names == {*(f"{name}.html" for name in pages), "combinations"}
    assert not page.problems


def test_a_number_of_the_table_leads_to_the_executed_notebook_of_its_combination(page, report):
    page.goto(f"{report.parent.as_uri()}/{STUDY}.html")
    page.locator("tr", has_text="XE-NDCG").locator("td a").first.click()
    page.get_by_role("heading", name="The executed notebook").wait_for()
    assert page.locator("img").count() >= 2
    assert "xe_ndcg" in page.title()


def test_the_scoreboard_is_sorted_and_filtered_by_its_one_script_and_by_no_other(page, board):
    page.goto(board.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    table = page.locator("table.board").first
    means = "table => [...table.tBodies[0].rows].map(row => Number.parseFloat(row.cells[3].textContent))"
    before = [mean for mean in table.evaluate(means) if mean == mean]
    table.locator("thead th").nth(3).get_by_role("button").click()
    assert [mean for mean in table.evaluate(means) if mean == mean] == sorted(before, reverse=True)
    table.locator("thead th").nth(3).get_by_role("button").click()
    assert [mean for mean in table.evaluate(means) if mean == mean] == sorted(before)
    rows = page.locator("table.board tbody tr:visible")
    every = rows.count()
    page.get_by_label("filter").fill("lambdamart")
    assert 0 < rows.count() < every and all("lambdaMART" in text for text in rows.all_inner_texts())
    page.get_by_label("filter").fill("label_flips")
    assert rows.count() > 0 and page.locator(".collections", has_text="label_flips").first.is_visible()
    page.get_by_label("filter").fill("no such method")
    assert rows.count() == 0
    page.get_by_label("filter").fill("")
    page.get_by_label("verdict").select_option("best")
    assert all("best" in text for text in rows.all_inner_texts())
    assert set(page.get_by_label("conditions").locator("option").all_inner_texts()) == {
        "all",
        *page.locator("h2").evaluate_all("heads => heads.map(head => head.firstChild.textContent.trim())"),
    }
    address = page.locator(".board tbody .permalink").first.get_attribute("href")
    page.goto(board.as_uri() + address)
    assert page.locator("tr:target").is_visible()
    for name in ("CSV", "LaTeX", "SVG", "PNG", "PDF"):
        assert page.get_by_role("link", name=name, exact=True).count() >= (name in ("CSV", "LaTeX"))
    assert not page.problems
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    assert page.evaluate("window.ran") is None and page.problems


def test_the_search_finds_claims_figures_and_combinations_by_their_words(page, report):
    page.goto(f"{report.as_uri()}")
    page.keyboard.press("/")
    page.keyboard.type("lambdamart")
    page.keyboard.press("Enter")
    page.get_by_label("Search for").wait_for()
    found = page.locator(".results li")
    assert "search.html" in page.url and found.count() > 3
    page.get_by_label("Search for").fill("XE-NDCG lambdaMART ranks better claim")
    first = found.first.locator("a")
    assert first.inner_text() == "XE-NDCG ranks better than lambdaMART."
    first.click()
    page.wait_for_url("**/claims.html#*")
    assert "ranks better than lambdaMART" in page.locator("tr:target").inner_text()
    page.goto(f"{report.parent.as_uri()}/search.html#q=no such words")
    assert found.count() == 0 and not page.problems


def test_tables_are_sorted_and_filtered_and_each_row_has_an_address(page, report):
    page.goto(f"{report.parent.as_uri()}/runs.html")
    seconds = "table => [...table.tBodies[0].rows].map(row => Number.parseFloat(row.cells[3].textContent))"
    table = page.locator("table").first
    before = table.evaluate(seconds)
    head = table.locator("thead th").nth(3)
    head.get_by_role("button").press("Enter")
    assert table.evaluate(seconds) == sorted(before, reverse=True) and head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").click()
    assert table.evaluate(seconds) == sorted(before)
    rows = table.locator("tbody tr:visible")
    page.get_by_label("filter").fill("xe_ndcg")
    assert 0 < rows.count() < len(before) and all("xe_ndcg" in text for text in rows.all_inner_texts())
    page.goto(f"{report.parent.as_uri()}/claims.html")
    verdicts = page.locator(".claims tbody tr:visible td:nth-child(2) span")
    page.get_by_label("verdict").select_option("holds")
    assert verdicts.count() and set(verdicts.all_inner_texts()) == {"holds"}
    page.goto(f"{report.parent.as_uri()}/exhibits.html")
    address = page.locator("section.exhibit tbody tr .permalink").first.get_attribute("href")
    page.goto(f"{report.parent.as_uri()}/exhibits.html{address}")
    assert page.locator("tr:target").is_visible() and not page.problems
    named = page.locator("section.exhibit table", has=page.locator(".permalink")).first
    first = "table => [...table.tBodies[0].rows].map(row => row.cells[0].firstChild.textContent.trim())"
    named.locator("thead button").first.click()
    assert named.evaluate(first) == named.evaluate(
        f"table => ({first})(table).sort((a, b) => a.localeCompare(b, undefined, {{numeric: true}}))"
    )


def test_the_pointer_over_a_curve_is_told_its_point(page, report):
    page.goto(f"{report.parent.as_uri()}/exhibits.html")
    files = page.evaluate("() => Object.entries(JSON.parse(document.getElementById('points').textContent))")
    file, points = next((file, points) for file, points in files if points)
    picture = page.locator(f".picture img[src='{file}']").first
    picture.scroll_into_view_if_needed()
    box, (across, down, words) = picture.bounding_box(), points[-1]
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
    assert picture.locator("xpath=..").locator(".told").inner_text() == words


def test_two_models_are_compared_query_by_query_in_two_linked_pictures(page, report):
    page.goto(f"{report.parent.as_uri()}/queries.html")
    groups = page.evaluate("() => JSON.parse(document.getElementById('groups').textContent)")
    two = next(place for place, one in enumerate(groups) if len(one["models"]) > 2)
    page.get_by_label("runs").select_option(str(two))
    one, first, second = groups[two], 0, 2
    page.get_by_label("across").select_option(str(first))
    page.get_by_label("up", exact=True).select_option(str(second))
    points, bars = page.locator(".pair circle"), page.locator(".pair rect")
    assert points.count() == bars.count() == len(one["drawn"])
    wins, losses = one["better"][second][first], one["better"][first][second]
    shares = [f"{100 * count / one['queries']:.1f} %" for count in (losses, one["queries"] - wins - losses, wins)]
    assert page.locator(".outcomes b").all_inner_texts() == shares
    differences = [ours - theirs for ours, theirs in zip(one["values"][second], one["values"][first], strict=True)]
    for kind, count in (("wins", sum(d > 0 for d in differences)), ("losses", sum(d < 0 for d in differences))):
        assert page.locator(f".pair circle.{kind}").count() == page.locator(f".pair rect.{kind}").count() == count
    bars.last.dispatch_event("pointerenter")
    best = differences.index(max(differences))
    told = page.locator("#pairs > .note")
    assert page.locator("circle.marked").count() == page.locator("rect.marked").count() == 1
    assert f"{one['values'][second][best] / 1000:.3f} by {one['models'][second]}" in told.inner_text()
    page.get_by_label("go through them").press("Home")
    page.get_by_label("go through them").press("ArrowRight")
    assert bars.nth(1).evaluate("bar => bar.classList.contains('marked')")
    button = page.locator(".outcomes .wins")
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true" and page.locator(".pair[data-kind=wins]").count() == 1
    page.goto(f"{report.parent.as_uri()}/queries.html#{groups[-1]['id']}")
    page.wait_for_function("last => document.querySelector('#pairs select').value === last", arg=str(len(groups) - 1))
    assert page.locator(f"details[id='{groups[-1]['id']}']").get_attribute("open") is not None and not page.problems


@pytest.mark.parametrize("width", [1300, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_violation_of_wcag_at_level_aa(scheme, width, page, report, board):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    combinations = sorted((report.parent / "combinations").glob("*.html"))
    valued = min((board.parent / "combinations").glob("*.html"))
    for path in [*sorted(report.parent.glob("*.html")), *combinations[:2], board, valued]:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found] == [], path.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_in_light_and_in_dark(scheme, page, report, pictures):
    page.emulate_media(color_scheme=scheme)
    for path in sorted(report.parent.glob("*.html")):
        page.goto(path.as_uri())
        text, back = page.evaluate(
            "() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(text, back) > 7, "body text as WCAG's level AAA wants it"
        wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert wide, f"{path.name} scrolls sideways"
        page.screenshot(path=pictures / f"report-{path.stem}-{scheme}.png", full_page=True)
    assert not page.problems


def contrast(one: str, other: str) -> float:
    """Return WCAG's ratio of two colours such as ``rgb(27, 31, 36)``."""

    def luminance(colour: str) -> float:
        shares = [int(part) / 255 for part in colour[4:-1].split(",")]
        red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


NOT_SEEN = """
(width) => {
  const far = element => element.getBoundingClientRect().right > width + 1;
  const scrolls = element => {
    for (let box = element; box && box !== document.body; box = box.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX) && !far(box)) return true;
    return false;
  };
  const told = element => element.tagName + ' ' + element.textContent.slice(0, 60);
  const cells = [...document.querySelectorAll('.wide td, .wide th')].filter(far);
  const formulas = [...document.querySelectorAll('math')].filter(one => far(one) && !scrolls(one));
  return [...cells, ...formulas].map(told);
}
"""
"""Cells of tables of words that a screen of some width does not show, and formulas to whose end nobody can scroll."""


SCROLLED = """
() => [...document.querySelectorAll('.table, .dataframe')].filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => one.textContent.trim().slice(0, 60))
"""
"""Tables of which a part lies beyond their box."""


@pytest.mark.parametrize("width", [420, 1300])
def test_every_page_is_read_without_scrolling_sideways(width, page, report, board, pictures):
    page.set_viewport_size({"width": width, "height": 900})
    for path in [*sorted(report.parent.rglob("*.html")), *sorted(board.parent.rglob("*.html"))]:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path.name} scrolls sideways"
        assert page.evaluate(NOT_SEEN, width) == [], path.name
        assert width < 1300 or page.evaluate(SCROLLED) == [], path.name
        if path.parent == report.parent:
            page.screenshot(path=pictures / f"report-{path.stem}-{width}.png", full_page=True)
    assert not page.problems


@pytest.mark.parametrize("width", [420, 1300])
def test_the_bars_of_all_claims_are_on_the_scale_below_them(width, page, report):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(report.as_uri())
    found = page.evaluate("""() => [...document.querySelectorAll('.strips')].map(strips => {
        const across = one => { const box = one.getBoundingClientRect(); return [box.left, box.right]; };
        const [left, right] = across([...strips.querySelectorAll(':scope > svg')].at(-1));
        const bands = [...strips.querySelectorAll('.band')].map(across);
        return bands.flatMap(([from, to]) => [(from - left) / (right - left), (to - left) / (right - left)]);
    })""")
    assert found and all(found)
    for ends in found:
        assert ends[::2] == pytest.approx([102 / 240] * (len(ends) // 2), abs=0.01)
        assert ends[1::2] == pytest.approx([138 / 240] * (len(ends) // 2), abs=0.01)


def test_no_row_of_claims_is_much_taller_on_a_narrow_screen_than_its_words_are(page, report):
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{report.parent.as_uri()}/claims.html")
    assert page.evaluate("document.documentElement.scrollHeight") < 2000, "papers are folded"
    rows = page.locator(".claims tbody tr")
    assert not rows.first.is_visible()
    page.get_by_label("verdict").select_option("holds")
    assert set(page.locator(".claims tbody tr:visible td:nth-child(2) span").all_inner_texts()) == {"holds"}
    page.get_by_label("verdict").select_option("all")
    page.locator(".jump a").first.click()
    assert rows.first.is_visible()
    empty = "row => row.offsetHeight - [...row.children].reduce((sum, cell) => sum + cell.offsetHeight, 0)"
    assert rows.count() and all(rows.nth(position).evaluate(empty) < 100 for position in range(rows.count()))
