"""The builder of the site hears warnings, and links between pages and tutorials lead somewhere."""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
from rankplug_documentation import paper_pages
from rankplug_documentation.evidence import exhibits_in
from rankplug_documentation.paper_pages import papers_in_short
from rankplug_documentation.reproduction import ORDER, evidence_in, largest_whole
from rankplug_documentation.site import PAPERS
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


def test_formulas_of_notebooks_are_formulas_on_their_pages():
    """Blanks inside of the dollars make them dollars for the builder, whatever JupyterLab shows."""
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            text = re.sub(r"`[^`]*`", "", cell.source.replace("$$", "")) if cell.cell_type == "markdown" else ""
            formulas = text.split("$")[1::2]
            assert [one for one in formulas if one != one.strip()] == [], path.name


def test_the_first_page_leads_to_every_paper_with_a_figure_and_its_verdicts():
    assert PAPERS in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    cards = papers_in_short(ROOT / "docs")
    kept, evidence = exhibits_in(ROOT / "docs" / "evidence"), evidence_in(ROOT / "docs" / "evidence")
    for name in ORDER:
        (figure,) = re.findall(rf'<a href="papers/{name}/"><span><img src="papers/{name}/([^"]+)"', cards)
        assert figure in {each.file for each in kept[name].exhibits if each.picture}
        assert f"{largest_whole(evidence[name]).in_short}, at" in cards


def test_lines_of_claims_lead_to_their_evidence(monkeypatch):
    monkeypatch.setattr(paper_pages, "executed", lambda notebook: notebook)
    pages = paper_pages.paper_pages(ROOT / "docs")
    for name in ORDER:
        evidence = (ROOT / "docs" / "evidence" / f"{name}.md").read_text(encoding="utf-8")
        link = rf'<a href="\.\./\.\./evidence/{name}/#([a-z0-9-]+)" title="([^"]+)"'
        lines = re.findall(link, str(pages[f"papers/{name}.md"]))
        assert lines, name
        for claim_id, words in lines:
            (label,) = re.findall(rf"^## (.+) {{ #{claim_id}[ }}].*}}$", evidence, re.MULTILINE)
            assert html.unescape(words).startswith(label.rstrip(".")), (name, claim_id)


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
