"""Hooks of the site's builder: formulas become MathML, and the tutorials are executed and shown as pages.

Browsers draw MathML without any script, so the built site needs no network.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from rankplug.report import claims_style, math_font, math_html
from rankplug_documentation.paper_pages import paper_pages, papers_in_short
from rankplug_documentation.tutorials import tutorial_pages

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
PAPERS = "<!-- papers: written by make docs -->"

_formulas: list[str] = []
"""Formulas of all pages that have been built, for which the site's font is made."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages made from executed notebooks, and the style of the claims on them."""
    from mkdocs.structure.files import File

    made = {**tutorial_pages(), **paper_pages(Path(config.docs_dir)), "claims.css": claims_style()}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Put the papers into the first page."""
    return markdown.replace(PAPERS, papers_in_short(Path(config.docs_dir))) if page.is_homepage else markdown


def on_page_content(content: str, **_: Any) -> str:
    """Turn the formulas of a page into MathML."""
    content = DISPLAYED.sub(lambda match: f"<p>{math_html(html.unescape(match[1]).strip(), display=True)}</p>", content)
    content = INLINE.sub(lambda match: math_html(html.unescape(match[1])), content)
    _formulas.extend(FORMULA.findall(content))
    return content


def on_post_build(config: Any) -> None:
    """Write the font that all formulas of the site are set in."""
    Path(config.site_dir, "math.woff").write_bytes(math_font("".join(_formulas)))
