"""Names, messages and outputs from other people are text: pages and notebooks show them and run nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankplug as rp
from rankplug.report.rendering import markdown_html
from rankplug.report.safe_html import safe_text
from rankplug.store import Store, Trial, merge, query, write_table
from rankplug.sweeps import failed_result

FORBIDDEN = {
    "script", "style", "link", "meta", "base", "iframe", "frame", "object", "embed", "applet", "form", "input",
    "button", "select", "textarea", "foreignobject", "use", "image", "animate", "set", "video", "audio", "source",
    "track", "template", "noscript", "plaintext",
    "maction", "annotation-xml", "mglyph", "body", "html",
}  # fmt: skip


TEMPLATES = resources.files("rankplug.report").joinpath("templates")
REPORT, QUERIES = (TEMPLATES.joinpath(name).read_text(encoding="utf-8") for name in ("report.js", "queries.js"))
DATA = re.compile(r'<script type="application/json" id="(?:index|points|groups)">[^<]*</script>')
"""Texts that a page's own script reads: none of them can hold a tag."""


TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
"""The time at which a page was made, or a run began."""


def foreign(page: Path) -> str:
    """Return the body of a page without the report's own script and what it reads."""
    own = REPORT + QUERIES * (page.name == "queries.html")
    return DATA.sub("", page.read_text().partition("<body>")[2].replace(f"<script>{own}</script>", ""))


class Active(HTMLParser):
    """Collects what a browser would run: scripts, handlers of events, and links to code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith(("javascript:", "data:text")):
                self.found.append(f"{tag} {name}={value}")


SOME = slice(0, None, 150)
MORE = [pytest.param(slice(part, None, 30), marks=pytest.mark.slow) for part in range(1, 11)]


@pytest.mark.parametrize("part", [SOME, *MORE], ids=str)
def test_a_report_runs_no_hostile_text(
    part: slice, active_texts: list[str], report_of: Callable[[list[str], Path], list[Path]], tmp_path: Path
) -> None:
    pages = report_of(active_texts[part], tmp_path)
    assert sum(page.name == "queries.html" for page in pages) == 2
    for page in pages:
        assert not Active(foreign(page)).found, page
        assert "49" not in TIME.sub("", foreign(page)).replace("4900", ""), f"a template was filled in on {page}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=200))
def test_no_text_makes_an_active_page(text: str) -> None:
    for start in ("", "<script>", "<img src=x onerror=", "[a](", "<a href='javascript:", "<style>", "$", "$$\n"):
        assert not Active(markdown_html(start + text)).found
        assert not Active(safe_text(start + text)).found


def test_a_name_never_leads_out_of_the_store(tmp_path: Path) -> None:
    other, here = tmp_path / "other", Store(tmp_path / "here")
    (other / "notebooks").mkdir(parents=True)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (other / "notebooks" / "x.ipynb").symlink_to(secret)
    merge(here, [other])
    assert not (here.folder / "notebooks" / "x.ipynb").exists()


def test_a_failure_with_a_hostile_traceback_is_listed_as_text(tmp_path: Path) -> None:
    store = Store(tmp_path)
    trial = Trial(rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse"))
    store.write(failed_result(trial, "'; drop table failures; -- <script>alert(1)</script>"))
    frame = query("select failure from failures", store)
    assert frame["failure"].tolist() == ["'; drop table failures; -- <script>alert(1)</script>"]
    assert json.loads(write_table(frame, "json"))[0]["failure"].startswith("'; drop")
