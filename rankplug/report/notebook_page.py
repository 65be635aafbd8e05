"""An executed notebook as HTML: text, folded code, and outputs, of which nothing can run."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankplug.report.markdown import markdown_html

TAGS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "br",
        "caption",
        "code",
        "col",
        "colgroup",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "hr",
        "i",
        "li",
        "ol",
        "p",
        "pre",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
ATTRIBUTES = {"*": ["class", "colspan", "rowspan", "scope", "title"], "a": ["href"]}
CELL = re.compile(r"<(td|th)[^>]*>(.*?)</(?:td|th)>", re.DOTALL)
NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?%?|nan|inf|True|False")
VERDICT = re.compile(r"<strong>(?=(holds|fails|inconclusive)</strong>)")
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
FOLDED_TAGS = {"hide-input", "injected-parameters", "parameters"}


def notebook_html(path: Path, after: Callable[[str], str] = lambda source: "") -> str:
    """The body of a page.

    Args:
        path: of the executed notebook.
        after: what follows the outputs of a cell, given its source.
    """
    import nbformat

    notebook: Any = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    return "\n".join(_cell(cell, after) for cell in notebook.cells)


def _cell(cell: Any, after: Callable[[str], str]) -> str:
    if cell.cell_type == "markdown":
        return f'<section class="text">{markdown_html(cell.source)}</section>'
    if cell.cell_type != "code" or not cell.source.strip():
        return ""
    code = f"<details><summary>code</summary><pre><code>{html.escape(cell.source)}</code></pre></details>"
    outputs = "\n".join(filter(None, (_output(output) for output in cell.outputs)))
    return f'<section class="cell">{code}\n{outputs}\n{after(cell.source)}</section>'


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return "" if output.name == "stderr" else _preformatted(output.text)
    if output.output_type == "error":
        return _preformatted("\n".join(output.traceback), "error")
    data = output.get("data", {})
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        return f'<img alt="figure" src="data:image/png;base64,{html.escape(picture)}">'
    if "text/html" in data:
        return f'<div class="table">{with_words(clean_html(data["text/html"]))}</div>'
    if "text/markdown" in data:
        marked = VERDICT.sub(r'<strong class="\1">', markdown_html(data["text/markdown"]))
        return f'<div class="wide">{marked}</div>'
    if "application/vnd.jupyter.widget-view+json" in data:
        return '<p class="note">A control that moves when the notebook is opened in JupyterLab.</p>'
    return _preformatted(data["text/plain"]) if "text/plain" in data else ""


def with_words(tables: str) -> str:
    """Tables in which the columns that hold anything but numbers are marked, so that they are set as text is.

    >>> with_words("<table><tr><th>model</th><th>value</th></tr><tr><td>a</td><td>0.5</td></tr></table>")
    '<table><tr><th class="words">model</th><th>value</th></tr><tr><td class="words">a</td><td>0.5</td></tr></table>'
    """
    return re.sub(r"<table.*?</table>", lambda table: _with_words(table[0]), tables, flags=re.DOTALL)


def _with_words(table: str) -> str:
    if "span=" in table:
        return table
    rows = [CELL.findall(row) for row in re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)]
    words = {
        column
        for row in rows
        for column, (kind, text) in enumerate(row)
        if kind == "td" and not NUMBER.fullmatch(html.unescape(re.sub(r"<[^>]*>", "", text)).strip())
    }

    def mark(row: re.Match[str]) -> str:
        place = itertools.count()
        return CELL.sub(lambda cell: _marked(cell, next(place) in words), row[0])

    return re.sub(r"<tr.*?</tr>", mark, table, flags=re.DOTALL)


def _marked(cell: re.Match[str], words: bool) -> str:
    return cell[0].replace(f"<{cell[1]}", f'<{cell[1]} class="words"', 1) if words else cell[0]


def clean_html(text: str) -> str:
    """HTML reduced to text, tables and links."""
    import bleach

    without_styles = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL | re.IGNORECASE)
    return str(bleach.clean(without_styles, tags=TAGS, attributes=ATTRIBUTES, strip=True))


def _preformatted(text: str, kind: str = "output") -> str:
    return f'<pre class="{kind}">{html.escape(ANSI.sub("", text))}</pre>'
