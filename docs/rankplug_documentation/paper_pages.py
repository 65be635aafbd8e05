"""A page for each paper: its idea beside what came out, its figures and tables, and its notebook's parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankplug.report import KeptExhibits
from rankplug.studies import Study, StudyEvidence, study
from rankplug_documentation.evidence import exhibits_in
from rankplug_documentation.parameter_table import table
from rankplug_documentation.reproduction import ORDER, evidence_in, in_words
from rankplug_documentation.tutorials import executed, notebook_page, read_notebook

RUNS = re.compile(r"^## The runs$", re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
PLAIN_TABLE = re.compile(r"<table[^>]*>")
SHOWN = re.compile(r'show\(evaluation, "([^"]+)"\)')


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
    lines = [f"# {one.title}\n", f"{next(iter(profiles.values())).citation}.\n"]
    lines += ['<div class="side-by-side" markdown>', '<div class="idea" markdown>\n', idea.strip(), "\n</div>"]
    lines += ['<div class="result" markdown>\n', *_result(one.name, profiles), "</div>", "</div>\n"]
    return "\n".join(lines)


def _result(name: str, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    yield "## What came out\n"
    picture = f"../images/claims-{name}.svg"
    yield f"[![Every claim, its difference in units of the margin that would matter]({picture})]({picture})\n"
    yield from in_words(profiles)
    yield (
        "Every claim with its verdict is on [the page of all papers](../reproduction.md), its evidence"
        f" [here](../evidence/{name}.md).\n"
    )


def exhibits_shown(kept: KeptExhibits, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield the kept figures and tables of a paper; tables without published numbers are folded."""
    evidence = profiles.get(kept.profile)
    note = f" {evidence.note}" if evidence and evidence.note else ""
    yield f"## Figures and tables at `{kept.profile}`\n"
    yield (
        f"Drawn on runs of the profile `{kept.profile}`, of which [the page of all papers](../reproduction.md) tells"
        f" what they are.{note} `rankplug reproduce {kept.study} --profile {kept.profile}` makes them again, each with"
        " its numbers and the runs behind it.\n"
    )
    for each in kept.exhibits:
        yield f"### {each.name}: {each.title}\n"
        if each.caption:
            yield f"{each.caption}\n"
        if each.picture:
            picture = f"{kept.study}/{each.file}"
            yield f"[![{each.name}: {each.title}]({picture})]({picture})\n"
        elif each.beside_published:
            yield f'<div class="numbers">{_on_one_line(each.table)}</div>\n'
        else:
            folded = f"<summary>the numbers</summary>{_on_one_line(each.table)}"
            yield f'<details class="numbers">{folded}</details>\n'
        if each.extent:
            yield f"*{each.extent[:1].upper()}{each.extent[1:]}.*\n"


def _on_one_line(table: str) -> str:
    """Return HTML without line breaks, at which Markdown might go on as text."""
    return " ".join(PLAIN_TABLE.sub("<table>", table).split())


def _notebook(one: Study, notebook: Any) -> Iterator[str]:
    yield "## The notebook\n"
    yield (
        "`rankplug lab` copies the notebooks into a folder and opens them in JupyterLab; this one is"
        f" `{one.notebook_path.name}`. `rankplug reproduce {one.name}` in the shell runs it and writes a report. What"
        " it shows, part by part:\n"
    )
    titles = {exhibit.name: exhibit.title for exhibit in one.exhibits}
    rows, heading = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = (HEADING.findall(cell.source) or [heading])[-1]
        else:
            rows += [(heading, name, titles[name]) for name in SHOWN.findall(cell.source)]
    yield from table(("part", "exhibit", "what it shows"), rows)
