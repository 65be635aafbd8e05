"""An executed notebook as HTML: text, folded code, and outputs, of which nothing can run."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.rendering import anchors, render
from rankplug.report.safe_html import safe_text
from rankplug.system import harmless

if TYPE_CHECKING:
    from markupsafe import Markup

WIDGET = "application/vnd.jupyter.widget-view+json"
CONTROL = ("control", "")
CELL = re.compile(r"<(td|th)[^>]*>(.*?)</(?:td|th)>", re.DOTALL)
NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?%?|nan|inf|True|False")
SHOWN = re.compile(r'^show\(evaluation, "([^"]+)"\)', re.MULTILINE)
"""A line of a study's notebook that shows an exhibit."""
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
PART = re.compile(r"^## (.*\S)", re.MULTILINE)
"""The heading of a notebook's part."""
FEWEST = 5
"""Parts of a notebook whose page lists them."""
About = Callable[[Mapping[str, Any]], "tuple[str, Markup]"]
"""Tells of what an output says under ``rankplug`` in its metadata: the file of its picture, and a note below it."""


def notebook_html(path: Path, about: About | None = None) -> Markup:
    """Return the body of a notebook's page.

    Args:
        path: of the notebook.
        about: tells of the outputs that show a part of a study; a picture whose file is there is not embedded.
    """
    notebook = _read(path)
    headings = [] if notebook is None else _headings(notebook.cells)
    ids = iter(anchors(f"part-{heading}" for heading in headings if heading))
    parts = [(next(ids), heading) if heading else None for heading in headings]
    return render(
        "notebook",
        pieces=None if notebook is None else list(_pieces(notebook.cells, parts, about)),
        contents=[part for part in parts if part] if len(headings) - headings.count("") >= FEWEST else [],
    )


@dataclass(frozen=True)
class Piece:
    """A cell with text, or cells with code up to one that has outputs, as a page shows them.

    Args:
        text: in Markdown.
        anchor: of the part that begins with it; empty where none does.
        code: of the cells.
        outputs: each after the kind of its content.
    """

    text: str = ""
    anchor: str = ""
    code: str = ""
    outputs: Sequence[tuple[str, str]] = ()


def _pieces(cells: Iterable[Any], parts: Iterable[tuple[str, str] | None], about: About | None) -> Iterator[Piece]:
    """Yield what is shown of a notebook; its controls, which work in JupyterLab only, are mentioned once."""
    code: list[str] = []
    controls = False
    for cell, part in zip(cells, parts, strict=True):
        if cell.cell_type == "code":
            code += filter(str.strip, [cell.source])
            outputs = [output for output in _outputs(cell, about) if output != CONTROL or not controls]
            controls = controls or CONTROL in outputs
            if not (code and outputs):
                continue
            yield Piece(code="\n\n".join(code), outputs=outputs)
        else:
            if code:
                yield Piece(code="\n\n".join(code))
            if cell.cell_type == "markdown":
                yield Piece(text=cell.source, anchor=part[0] if part else "")
        code = []
    if code:
        yield Piece(code="\n\n".join(code))


def _headings(cells: Iterable[Any]) -> list[str]:
    """Return for each cell the heading of the part that begins with it; empty where none does."""
    found = (PART.search(cell.source) if cell.cell_type == "markdown" else None for cell in cells)
    return [heading[1].strip() if heading else "" for heading in found]


def captions(path: Path) -> dict[str, str]:
    """Return what a study's notebook says right before it shows an exhibit, as Markdown by the exhibit's name."""
    found: dict[str, str] = {}
    notebook, told = _read(path), ""
    for cell in notebook.cells if notebook is not None else ():
        if cell.cell_type == "markdown":
            told = HEADING.sub("", cell.source).strip()
            continue
        for name in SHOWN.findall(cell.source):
            found.setdefault(name, told)
            told = ""
    return found


def _read(path: Path) -> Any:
    """Read a notebook and validate it against nbformat's schema; return None where it is damaged."""
    import warnings

    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # nbformat.reads() would go on with a notebook that is not valid, and print what it holds.
            as_written = nbformat.reader.reads(path.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]
            notebook = nbformat.convert(as_written, 4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except Exception:  # Converting an old notebook meets a damaged part with any error.
        return None
    return notebook


def _outputs(cell: Any, about: About | None) -> list[tuple[str, str]]:
    """Return the outputs of a cell to be shown, each with the kind of its content; controls once."""
    shown: list[tuple[str, str]] = []
    for output in cell.outputs:
        content = _content(output)
        if content is None or (content == CONTROL and CONTROL in shown):
            continue
        shows = output.get("metadata", {}).get("rankplug")
        file, note = about(shows) if about and isinstance(shows, Mapping) else ("", "")
        shown.append(("file", file) if file and content[0] == "picture" else content)
        if note:
            shown.append(("html", note))
    return shown


def _content(output: Any) -> tuple[str, str] | None:
    """Return what is shown of an output, after its kind; None where nothing is."""
    if output.output_type == "stream":
        return None if output.name == "stderr" else ("output", harmless(output.text))
    if output.output_type == "error":
        return "error", harmless("\n".join(output.traceback))
    data = {kind: content for kind, content in output.get("data", {}).items() if isinstance(content, str)}
    if "image/png" in data:
        return "picture", "".join(data["image/png"].split())
    if "text/html" in data:
        return "table", with_words(safe_text(data["text/html"]))
    if "text/markdown" in data:
        return "markdown", data["text/markdown"]
    if WIDGET in output.get("data", {}):
        return CONTROL
    return ("output", harmless(data["text/plain"])) if "text/plain" in data else None


def is_number(text: str) -> bool:
    """Tell whether the text of a cell is a number, or empty."""
    return NUMBER.fullmatch(text.strip()) is not None


def with_words(tables: Markup) -> Markup:
    """Mark the columns of tables that hold anything but numbers, so that they are set as text is.

    >>> print(with_words("<table><tr><th>model</th><th>value</th></tr><tr><td>a</td><td>0.5</td></tr></table>"))
    <table><tr><th class="words">model</th><th>value</th></tr><tr><td class="words">a</td><td>0.5</td></tr></table>
    """
    from markupsafe import Markup

    return Markup(re.sub(r"<table.*?</table>", lambda table: _with_words(table[0]), tables, flags=re.DOTALL))


def _with_words(table: str) -> str:
    if "span=" in table:
        return table
    rows = [CELL.findall(row) for row in re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)]
    words = {
        column
        for row in rows
        for column, (kind, text) in enumerate(row)
        if kind == "td" and not is_number(html.unescape(re.sub(r"<[^>]*>", "", text)))
    }

    def mark(row: re.Match[str]) -> str:
        column = itertools.count()
        return CELL.sub(lambda cell: _marked(cell, next(column) in words), row[0])

    return re.sub(r"<tr.*?</tr>", mark, table, flags=re.DOTALL)


def _marked(cell: re.Match[str], words: bool) -> str:
    return cell[0].replace(f"<{cell[1]}", f'<{cell[1]} class="words"', 1) if words else cell[0]
