"""Whatever the texts in a report say, Chromium runs none of it and asks no machine for anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankplug.report.safe_html import policy
from rankplug.report.site import _page

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("hostile report")]
PARTS = 8
NOTICES = """
window.ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = () => window.ran.push(name);
document.addEventListener("securitypolicyviolation", event => window.ran.push(`${event.violatedDirective} forbidden`));
"""
"""Takes down what runs in a page, and what its policy had to stop."""

ACTIVE = (
    "script", "style", "i?frame", "object", "embed", "base", "meta", "link", "form", "input", "button", "video",
    "audio", "template", "foreignobject", "use", "image", "animate.*", "set",
)  # fmt: skip
"""Tags that can act or fetch, of which a page has none but what the report's own script makes."""

TEMPTS = """
() => {
  document.addEventListener("click", event => event.preventDefault(), true);
  for (const one of document.querySelectorAll("*")) {
    if (one.localName == "details") one.open = true;
    for (const kind of ["mouseover", "mouseenter", "focus", "blur", "toggle", "animationend", "error", "load", "begin"])
      one.dispatchEvent(new Event(kind, {bubbles: true}));
    if (one.click) one.click();
  }
  const made = "#index, #points, #groups, body > script:last-child, nav > input, .tools input, .tools select,"
    + " th button, .outcomes button, .walk input";
  const wide = one => one.matches(".outcomes button") && /^flex-grow: [0-9]+;$/.test(one.getAttribute("style"));
  const seen = new Set();
  function look() {
    const all = [...document.head.querySelectorAll("script"), ...document.body.querySelectorAll("*")];
    for (const one of all) {
      for (const name of one.getAttributeNames())
        if (/^on|:/.test(name) || name === "style" && !wide(one)) seen.add(name);
      if (!one.matches(made) && TAGS.test(one.localName)) seen.add(one.localName);
    }
    for (const one of document.querySelectorAll("[href], [src]")) {
      const address = one.href ?? one.src;
      if (!/^(https?:|mailto:|data:,$|data:image\\/png;|file:\\/\\/\\/.*REPORT)/.test(address)) seen.add(address);
    }
  }
  look();
  for (const choice of document.querySelectorAll("select"))
    for (const {value} of [...choice.options]) {
      choice.value = value;
      choice.dispatchEvent(new Event("input", {bubbles: true}));
      look();
    }
  return [...window.ran, ...seen];
}
""".replace("TAGS", f"/^({'|'.join(ACTIVE)})$/")
"""Script that does in a page all that a reader might, and returns what could have run: handlers, tags and addresses."""


class Watched:
    """A page with what went wrong on it; everything it asks for beyond its own files is taken down and refused."""

    def __init__(self, context: Any) -> None:
        self.asked: list[str] = []
        context.route(lambda address: not address.startswith("file:"), self._refuse)
        context.add_init_script(NOTICES)
        self.page = context.new_page()
        self.page.on("dialog", lambda dialog: (self.asked.append(dialog.message), dialog.dismiss()))

    def _refuse(self, route: Any) -> None:
        self.asked.append(route.request.url)
        route.abort()

    def seen(self, path: Path) -> list[str]:
        """Return what a page did or could do, and what it requested."""
        self.asked.clear()
        self.page.goto(path.as_uri(), wait_until="load")
        return [*self.page.evaluate(TEMPTS.replace("REPORT", "report")), *self.asked]


@pytest.fixture
def without_policy(chromium: Any) -> Iterator[Watched]:
    """Open a browser that ignores a page's policy, so that only the page's own text is its protection."""
    context = chromium.new_context(bypass_csp=True)
    yield Watched(context)
    context.close()


@pytest.fixture
def with_policy(chromium: Any) -> Iterator[Watched]:
    """Open a browser as readers have it."""
    context = chromium.new_context()
    yield Watched(context)
    context.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_on_any_page_runs_or_fetches_anything_even_without_the_policy(
    part: int,
    without_policy: Watched,
    active_texts: list[str],
    report_of: Callable[..., list[Path]],
    tmp_path: Path,
) -> None:
    texts = active_texts[part::PARTS]
    pages = report_of(texts, tmp_path)
    assert len(texts) > 25 and len(pages) == 2 * (6 + 2 * len(texts))
    for path in pages:
        assert without_policy.seen(path) == [], (texts, path)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_name_on_a_scoreboard_adds_anything_to_its_one_script_even_without_the_policy(
    part: int,
    without_policy: Watched,
    active_texts: list[str],
    scoreboard_of: Callable[..., Path],
    tmp_path: Path,
) -> None:
    texts = active_texts[part::PARTS]
    page = scoreboard_of(texts, tmp_path)
    runs = sorted((page.parent / "combinations").glob("*.html"))
    assert len(runs) == 3 * len(texts)
    for path in (page, *runs):
        assert without_policy.seen(path) == [], (texts, path)


def test_the_policy_alone_stops_texts_that_nobody_made_safe(
    with_policy: Watched, active_texts: list[str], tmp_path: Path
) -> None:
    navigations = ("http-equiv=refresh", "<plaintext>")
    for number, text in enumerate(active_texts):
        if any(word in text for word in navigations):
            continue  # A page that sends its reader elsewhere fetches nothing; only the first protection knows it.
        path = tmp_path / f"{number}.html"
        path.write_text(_page("title", "HERE", [], "index.html").replace("HERE", text), encoding="utf-8")
        with_policy.asked.clear()
        with_policy.page.goto(path.as_uri())
        ran = with_policy.page.evaluate("window.ran.filter(what => !what.endsWith('forbidden'))")
        assert [*ran, *with_policy.asked] == [], text


def test_the_policy_forbids_nothing_that_a_report_needs(
    with_policy: Watched, report_of: Callable[..., list[Path]], tmp_path: Path
) -> None:
    for path in report_of("a model", tmp_path):
        with_policy.page.goto(path.as_uri())
        assert with_policy.page.evaluate("window.ran") == []
        assert with_policy.page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "flex"


def test_what_watches_the_pages_sees_a_script_a_handler_and_a_request(without_policy: Watched, tmp_path: Path) -> None:
    path = tmp_path / "unsafe.html"
    path.write_text("<script>alert(1)</script><b onclick='1'>b</b><img src=http://elsewhere.invalid/a.png>")
    assert {"alert", "onclick", "script", "http://elsewhere.invalid/a.png"} <= set(without_policy.seen(path))


def test_a_policy_allows_a_script_only_by_its_digest() -> None:
    assert "script-src" not in policy() and "script-src 'sha256-" in policy(script="act()")
    assert policy().startswith("default-src 'none'; ")
