"""Markdown with formulas to HTML; formulas become MathML, which browsers draw without any script."""

from __future__ import annotations

import functools
import html
from typing import Any


def math_html(formula: str, display: bool = False) -> str:
    """A LaTeX formula as MathML; one that cannot be converted is shown as it was written."""
    from latex2mathml.converter import convert

    try:
        return str(convert(formula, display="block" if display else "inline"))
    except Exception:
        return f"<code>{html.escape(formula)}</code>"


def markdown_html(text: str) -> str:
    """Markdown as HTML; raw HTML in it is shown as text, but for <br>, the one way to break a line in a table."""
    return str(_converter()(text)).replace("&lt;br&gt;", "<br>")


@functools.cache
def _converter() -> Any:
    import mistune

    convert = mistune.create_markdown(escape=True, plugins=["math", "table", "strikethrough"])
    renderer = convert.renderer
    assert isinstance(renderer, mistune.HTMLRenderer)
    renderer.register("inline_math", lambda _, formula: math_html(formula))
    renderer.register("block_math", lambda _, formula: f"<p>{math_html(formula, display=True)}</p>\n")
    return convert
