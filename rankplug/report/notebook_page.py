"""An executed notebook as HTML: text, folded code, and outputs, of which nothing can run."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankplug.report.markdown import markdown_html
from rankplug.report.safe_html import safe_text
from rankplug.system import harmless

WIDGET = "application/vnd.jupyter.widget-view+json"
CONTROL = '<p class="note">The controls are there when the notebook is opened in JupyterLab.</p>'
CELL = re.compile(r"<(td|th)[^>]*>(.*?)</(?:td|th)>", re.DOTALL)
NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?%?|nan|inf|True|False")
VERDICT = re.compile(r"<strong>(?=(holds|fails|inconclusive)</strong>)")
DAMAGED = '<p class="note">The executed notebook is damaged; run the combination again to have it shown.</p>'


def notebook_html(path: Path, render: Callable[[Mapping[str, Any]], str] = lambda shown: "") -> str:
    """Return the body of a notebook's page.

    Args:
        path: of the notebook.
        render: HTML for what an output says under ``rankplug`` in its metadata that it shows, in place of the output;
            nothing where the output itself is to be shown.
    """
    notebook = _read(path)
    return DAMAGED if notebook is None else "\n".join(_cell(cell, render) for cell in notebook.cells)


def _read(path: Path) -> Any:
    """Read a notebook and validate it against nbformat's schema; return None where it is damaged."""
    import warnings

    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # nbformat.reads() would go on with a notebook that is not valid, and print what it holds.
            found = nbformat.reader.reads(path.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]
            notebook = nbformat.convert(found, 4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except Exception:  # Converting an old notebook meets a damaged part with any error.
        return None
    return notebook


def _cell(cell: Any, render: Callable[[Mapping[str, Any]], str]) -> str:
    if cell.cell_type == "markdown":
        return f'<section class="text">{markdown_html(cell.source)}</section>'
    if cell.cell_type != "code" or not cell.source.strip():
        return ""
    code = f"<details><summary>code</summary><pre><code>{html.escape(cell.source)}</code></pre></details>"
    shown = [text for one in cell.outputs if (text := render(_about(one)) or _output(one))]
    outputs = "\n".join(text for place, text in enumerate(shown) if text != CONTROL or CONTROL not in shown[:place])
    return f'<section class="cell">{code}\n{outputs}</section>'


def _about(output: Any) -> Mapping[str, Any]:
    """Return what an output says it shows of a study."""
    about = output.get("metadata", {}).get("rankplug")
    return about if isinstance(about, Mapping) else {}


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return "" if output.name == "stderr" else _preformatted(output.text)
    if output.output_type == "error":
        return _preformatted("\n".join(output.traceback), "error")
    data = {kind: content for kind, content in output.get("data", {}).items() if isinstance(content, str)}
    if "image/png" in data:
        picture = "".join(data["image/png"].split())
        return f'<img alt="figure" src="data:image/png;base64,{html.escape(picture)}">'
    if "text/html" in data:
        return f'<div class="table">{with_words(safe_text(data["text/html"]))}</div>'
    if "text/markdown" in data:
        marked = VERDICT.sub(r'<strong class="\1">', markdown_html(data["text/markdown"]))
        return f'<div class="wide">{marked}</div>'
    if WIDGET in output.get("data", {}):
        return CONTROL
    return _preformatted(data["text/plain"]) if "text/plain" in data else ""


def with_words(tables: str) -> str:
    """Mark the columns of tables that hold anything but numbers, so that they are set as text is.

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


def _preformatted(text: str, kind: str = "output") -> str:
    return f'<pre class="{kind}">{html.escape(harmless(text))}</pre>'
