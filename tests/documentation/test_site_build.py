"""The builder of the site hears warnings, and links between pages and tutorials lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from rankplug_documentation.tutorials import notebook_page

ROOT = Path(__file__).parents[2]


def test_warnings_of_the_builder_are_heard():
    (command,) = re.findall(r"^.*mkdocs build.*$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "--strict" in command and "--quiet" not in command


def test_a_link_from_one_tutorial_to_another_leads_to_its_page():
    cell = nbformat.v4.new_markdown_cell("See [the other](experimenter.ipynb), [a page](https://example.org/x.ipynb).")
    pages = notebook_page(nbformat.v4.new_notebook(cells=[cell]), "tutorials/author")
    text = str(pages["tutorials/author.md"])
    assert "[the other](experimenter.md)" in text and "https://example.org/x.ipynb" in text


def test_pages_in_the_tree_link_to_pages_that_are_there_or_made():
    notebooks = [path.stem for path in (ROOT / "notebooks").rglob("*.ipynb")]
    made = {f"{folder}/{name}.md" for folder in ("tutorials", "papers") for name in notebooks}
    missing = []
    for page in (ROOT / "docs").rglob("*.md"):
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if not target.exists() and target.relative_to(ROOT / "docs").as_posix() not in made:
                missing.append(f"{page.name}: {link}")
    assert not missing
