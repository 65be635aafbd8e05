"""Hooks of the site's builder: formulas become MathML, and the tutorials are executed and shown as pages.

Browsers draw MathML without any script, so the built site needs no network.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from rankplug.report import math_font, math_html
from rankplug_documentation.paper_pages import paper_pages
from rankplug_documentation.tutorials import tutorial_pages

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


_formulas: list[str] = []
"""Formulas of all pages that have been built, for which the site's font is made."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages made from executed notebooks."""
    from mkdocs.structure.files import File

    for path, content in {**tutorial_pages(), **paper_pages(Path(config.docs_dir))}.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """Turn the formulas of a page into MathML."""
    content = DISPLAYED.sub(lambda match: f"<p>{math_html(html.unescape(match[1]).strip(), display=True)}</p>", content)
    content = INLINE.sub(lambda match: math_html(html.unescape(match[1])), content)
    _formulas.extend(FORMULA.findall(content))
    return content


def on_post_build(config: Any) -> None:
    """Write the font that all formulas of the site are set in."""
    Path(config.site_dir, "math.woff").write_bytes(math_font("".join(_formulas)))
