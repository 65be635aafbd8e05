"""An executed notebook as HTML: text, folded code, and outputs, of which nothing can run."""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.rendering import anchors, render
from rankplug.report.safe_html import safe_text
from rankplug.system import escape_control_characters

if TYPE_CHECKING:
    from markupsafe import Markup

WIDGET = "application/vnd.jupyter.widget-view+json"
CONTROL = ("control", "")
CELL = re.compile(r"<(td|th)\b[^>]*>(.*?)</(?:td|th)>", re.DOTALL)
NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?%?|nan|inf|True|False")
SHOWN = re.compile(r'^show\(evaluation, "([^"]+)"\)', re.MULTILINE)
"""A line of a study's notebook that shows an exhibit."""
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
PART = re.compile(r"^## (.*\S)", re.MULTILINE)
"""The heading of a notebook's part."""
FEWEST = 5
"""Parts of a notebook whose page lists them."""
About = Callable[[Mapping[str, Any]], "tuple[str | None, Markup]"]
"""Returns, for what an output has under ``rankplug`` in its metadata, the file of its picture and a note below it.

Without a picture the file is empty; it is None where the note stands in the place of the output.
"""


@dataclass
class Piece:
    """A cell with text, or cells with code up to one that has outputs, as a page shows them.

    Args:
        text: in Markdown.
        code: of the cells.
        outputs: each after the kind of its content.
        anchor: of the part that begins with it; empty where none does.
    """

    text: str = ""
    code: str = ""
    outputs: list[tuple[str, str]] = field(default_factory=list)
    anchor: str = ""


def notebook_html(path: Path, about: About | None = None) -> Markup:
    """Return the body of a notebook's page.

    Args:
        path: the notebook.
        about: describes outputs that show a part of a study; a picture whose file is there is not embedded.
    """
    notebook = _read(path)
    if notebook is None:
        return render("notebook", pieces=None, contents=[])
    pieces = list(_pieces(notebook.cells, about))
    parts = [(piece, match[1].strip()) for piece in pieces if (match := PART.search(piece.text))]
    for (piece, _), anchor in zip(parts, anchors(f"part-{heading}" for _, heading in parts), strict=True):
        piece.anchor = anchor
    contents = [(piece.anchor, heading) for piece, heading in parts]
    return render("notebook", pieces=pieces, contents=contents if len(contents) >= FEWEST else [])


def _pieces(cells: Iterable[Any], about: About | None) -> Iterator[Piece]:
    """Yield what is shown of a notebook; its controls, which work in JupyterLab only, are mentioned once."""
    code: list[str] = []
    has_controls = False
    for cell in cells:
        if cell.cell_type == "code":
            code += filter(str.strip, [cell.source])
            outputs = []
            for output in _outputs(cell, about):
                if output != CONTROL or not has_controls:
                    outputs.append(output)
                has_controls = has_controls or output == CONTROL
            if code and outputs:
                yield Piece(code="\n\n".join(code), outputs=outputs)
                code = []
            continue
        if code:
            yield Piece(code="\n\n".join(code))
            code = []
        if cell.cell_type == "markdown":
            yield Piece(text=cell.source)
    if code:
        yield Piece(code="\n\n".join(code))


def captions(path: Path) -> dict[str, str]:
    """Return what a study's notebook says right before it shows an exhibit, as Markdown by the exhibit's name."""
    words: dict[str, str] = {}
    notebook, before = _read(path), ""
    for cell in notebook.cells if notebook is not None else ():
        if cell.cell_type == "markdown":
            before = HEADING.sub("", cell.source).strip()
        elif names := SHOWN.findall(cell.source):
            words = {names[0]: before, **words}
            before = ""
    return words


def _read(path: Path) -> Any:
    """Read a notebook and validate it against nbformat's schema; return None where it is damaged."""
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # nbformat.reads() would go on with a notebook that is not valid, and print its content.
            as_written = nbformat.reader.reads(path.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]
            notebook = nbformat.convert(as_written, 4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except Exception:  # Converting an old notebook meets a damaged part with any error.
        return None
    return notebook


def _outputs(cell: Any, about: About | None) -> Iterator[tuple[str, str]]:
    """Yield the outputs of a cell, each after the kind of its content, and the notes below them."""
    for output in cell.outputs:
        content = _content(output)
        if content is None:
            continue
        shows = output.get("metadata", {}).get("rankplug")
        file, note = about(shows) if about and isinstance(shows, Mapping) else ("", "")
        if file is not None:
            yield ("file", file) if file and content[0] == "picture" else content
        if note:
            yield "html", note


def _content(output: Any) -> tuple[str, str] | None:
    """Return what is shown of an output, after its kind; None where nothing is."""
    if output.output_type == "stream":
        return None if output.name == "stderr" else ("output", escape_control_characters(output.text))
    if output.output_type == "error":
        return "error", escape_control_characters("\n".join(output.traceback))
    data = {kind: content for kind, content in output.get("data", {}).items() if isinstance(content, str)}
    if "image/png" in data:
        return "picture", "".join(data["image/png"].split())
    if "text/html" in data:
        return "table", with_words(safe_text(data["text/html"]))
    if "text/markdown" in data:
        return "markdown", data["text/markdown"]
    if WIDGET in output.get("data", {}):
        return CONTROL
    return ("output", escape_control_characters(data["text/plain"])) if "text/plain" in data else None


def is_number(text: str) -> bool:
    """Return whether the text of a cell is a number, or empty."""
    return NUMBER.fullmatch(text.strip()) is not None


def with_words(tables: Markup) -> Markup:
    """Mark the columns of tables that hold anything but numbers, so that they are set as text is.

    >>> print(with_words("<table><tr><th>model</th><th>value</th></tr><tr><td>a</td><td>0.5</td></tr></table>"))
    <table><tr><th class="words">model</th><th>value</th></tr><tr><td class="words">a</td><td>0.5</td></tr></table>
    """
    from markupsafe import Markup

    def with_marks(table: re.Match[str]) -> str:
        rows = [list(CELL.finditer(row)) for row in re.findall(r"<tr.*?</tr>", table[0], flags=re.DOTALL)]
        words = {
            column
            for row in rows
            for column, cell in enumerate(row)
            if cell[1] == "td" and not is_number(html.unescape(re.sub(r"<[^>]*>", "", cell[2])))
        }
        columns = iter([column for row in rows for column in range(len(row))])
        return CELL.sub(
            lambda cell: cell[0].replace(">", ' class="words">', 1) if next(columns) in words else cell[0], table[0]
        )

    # Tables with cells over several columns, and those that the report itself has marked, are left as they are.
    pattern = r"<table(?:(?!span=|class=\"words\").)*?</table>"
    return Markup(re.sub(pattern, with_marks, tables, flags=re.DOTALL))
