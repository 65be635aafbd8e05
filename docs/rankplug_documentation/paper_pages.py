"""A page for each paper: its idea beside what came out, its figures and tables, and its notebook's parts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankplug.report import ClaimsInShort, KeptExhibits, slug
from rankplug.studies import Study, StudyEvidence, study
from rankplug_documentation.evidence import exhibits_in
from rankplug_documentation.parameter_table import table
from rankplug_documentation.reproduction import ORDER, evidence_in, extents, findings, largest_whole
from rankplug_documentation.tutorials import executed, notebook_page, read_notebook

RUNS = re.compile(r"^## The runs$", re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
PLAIN_TABLE = re.compile(r"<table[^>]*>")
SHOWN = re.compile(r'show\(evaluation, "([^"]+)"\)')
NO_CONTENTS = "---\nhide: [toc]\n---"
"""Leaves the list of a page's headings out, so that figures have its room; a paper's page lists its figures itself."""
MOST_ROWS = 12
"""Rows of a table that is shown; longer ones are folded."""
MOST_TOLD, MOST_OPEN = 3, 3
"""Claims of one kind that are told, and kinds that are not folded."""


def paper_pages(docs: Path) -> dict[str, str | bytes]:
    """Return the pages in Markdown and their pictures, by path inside ``docs``.

    Args:
        docs: where the evidence lies.
    """
    evidence, kept = evidence_in(docs / "evidence"), exhibits_in(docs / "evidence")
    pages: dict[str, str | bytes] = {}
    for name in ORDER:
        one = study(name)
        notebook = read_notebook(one.notebook_path)
        idea = notebook_page(executed(idea_of(notebook)), f"papers/{name}", code=False)
        pages |= idea
        parts = [_page(one, str(idea[f"papers/{name}.md"]), evidence[name])]
        if name in kept:
            pictures = {f"{name}/{each.file}": each.picture.encode() for each in kept[name].exhibits if each.picture}
            pages |= {f"papers/{path}": content for path, content in pictures.items()}
            parts += exhibits_shown(kept[name], evidence[name])
        pages[f"papers/{name}.md"] = "\n".join([*parts, *_notebook(one, notebook)])
    return pages


def papers_in_short(docs: Path) -> str:
    """Return HTML for the first page: a figure of each paper, its title and verdicts, which lead to its page.

    Args:
        docs: where the evidence lies.
    """
    evidence, kept = evidence_in(docs / "evidence"), exhibits_in(docs / "evidence")
    cards = []
    for name in ORDER:
        drawn = [each.file for each in kept[name].exhibits if each.picture] if name in kept else []
        picture = f'<img src="papers/{name}/{drawn[0]}" alt="" loading="lazy">' if drawn else ""
        told = largest_whole(evidence[name])
        words = f"<b>{html.escape(told.title)}</b><small>{told.in_short}, at {told.profile}</small>"
        cards.append(f'<a href="papers/{name}/"><span>{picture}</span>{words}</a>')
    return f'<div class="papers">{"".join(cards)}</div>'


def idea_of(notebook: Any) -> Any:
    """Return the part of a paper's notebook that needs no training: what stands before the runs."""
    kept = []
    for cell in notebook.cells:
        found = RUNS.search(cell.source) if cell.cell_type == "markdown" else None
        if found:
            kept.append({**cell, "source": cell.source[: found.start()].rstrip()})
            break
        if cell.source != "controls(study, globals())":
            kept.append(cell)
    # The first cell is the paper's title and how to use the notebook, which the page says in its own words.
    return type(notebook)({**notebook, "cells": [type(notebook)(cell) for cell in kept[1:]]})


def _page(one: Study, idea: str, profiles: Mapping[str, StudyEvidence]) -> str:
    told = largest_whole(profiles)
    anchors = [claim.id for claim in told.claims]
    # Addresses as they stand in HTML, in which the builder does not turn names of files into those of pages.
    claims = ClaimsInShort(told, anchors, f"../../evidence/{one.name}/")
    counts = f'<div class="claims">{_on_one_line(claims.counts)}</div>\n'
    lines = [NO_CONTENTS, f"# {one.title}\n", f"{told.citation}.\n", counts]
    lines += ['<div class="side-by-side" markdown>', '<div class="idea" markdown>\n', idea.strip(), "\n</div>"]
    lines += ['<div class="result" markdown>\n', *_result(one.name, claims, profiles), "</div>", "</div>\n"]
    summary = f"<summary>Every claim in words, at {told.profile}</summary>"
    lines += [f'<details class="claims">{summary}{_on_one_line(claims.forest)}</details>\n']
    return "\n".join(lines)


def _result(name: str, claims: ClaimsInShort, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    yield "## What came out\n"
    yield f'<div class="claims">{_on_one_line(claims.strips)}</div>\n'
    yield (
        f"*A line for each claim at `{claims.evidence.profile}`: its difference in units of the margin that would"
        " matter, which the band spans, with its 95 % interval. Lines lead to what is behind them.*\n"
    )
    yield from extents(profiles)
    for place, (words, told) in enumerate(findings(profiles, most=MOST_TOLD)):
        if told[0].isdigit():
            yield f"{words}: {told[0]}\n"
        elif place < MOST_OPEN:
            yield f"**{words}:**\n"
            yield from _listed(told)
        else:
            yield f'<details markdown="1"><summary>{words}: {len(told)}</summary>\n'
            yield from _listed(told)
            yield "</details>\n"
    yield (
        "Every claim with its verdict is on [the page of all papers](../reproduction.md), its evidence"
        f" [here](../evidence/{name}.md).\n"
    )


def _listed(told: Iterable[str]) -> Iterator[str]:
    yield from (f"- {each}" for each in told)
    yield ""


def exhibits_shown(kept: KeptExhibits, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield the kept figures and tables of a paper; long tables are folded."""
    evidence = profiles.get(kept.profile)
    note = f" {evidence.note}" if evidence and evidence.note else ""
    yield f"## Figures and tables at `{kept.profile}`\n"
    yield (
        f"Drawn on runs of the profile `{kept.profile}`, of which [the page of all papers](../reproduction.md) tells"
        f" what they are.{note} `rankplug reproduce {kept.study} --profile {kept.profile}` makes them again, each with"
        " its numbers and the runs behind it.\n"
    )
    yield '<div class="contents" markdown>\n'
    yield from _listed(f"[{each.name}: {each.title}](#{slug(each.name)})" for each in kept.exhibits)
    yield "</div>\n"
    for each in kept.exhibits:
        yield f"### {each.name}: {each.title} {{ #{slug(each.name)} }}\n"
        if each.caption:
            yield f"{each.caption}\n"
        if each.picture:
            picture = f"{kept.study}/{each.file}"
            yield f"[![{each.name}: {each.title}]({picture})]({picture})\n"
        else:
            rows = each.table.count("<tr") - 1
            opened = " open" if rows <= MOST_ROWS else ""
            folded = f"<summary>the numbers: {rows} row{'s' * (rows > 1)}</summary>{_on_one_line(each.table)}"
            yield f'<details class="numbers"{opened}>{folded}</details>\n'
        if each.extent:
            yield f"{each.extent[:1].upper()}{each.extent[1:]}.\n{{ .extent }}\n"


def _on_one_line(text: str) -> str:
    """Return HTML without line breaks, at which Markdown might go on as text."""
    return " ".join(PLAIN_TABLE.sub("<table>", text).split())


def _notebook(one: Study, notebook: Any) -> Iterator[str]:
    yield "## The notebook\n"
    yield (
        "`rankplug lab` copies the notebooks into a folder and opens them in JupyterLab; this one is"
        f" `{one.notebook_path.name}`. `rankplug reproduce {one.name}` in the shell runs it and writes a report."
        " What moves in it are the pictures of the idea above, by sliders.\n"
    )
    titles = {exhibit.name: exhibit.title for exhibit in one.exhibits}
    rows, heading = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = (HEADING.findall(cell.source) or [heading])[-1]
        else:
            rows += [(heading, name, titles[name]) for name in SHOWN.findall(cell.source)]
    yield f'<details markdown="1"><summary>Its {len(rows)} figures and tables</summary>\n'
    yield from table(("part", "exhibit", "what it shows"), rows)
    yield "</details>\n"
