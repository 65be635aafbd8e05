"""Hooks of MkDocs: pages generated at build time, tables of evidence, and formulas as MathML, which needs no script."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from rankplug.report import math_font, math_html
from rankplug_documentation.evidence import read_evidence, study_page, which_loss_page
from rankplug_documentation.notebooks import idea_page, tutorial_pages
from rankplug_documentation.reference import reference_pages
from rankplug_documentation.tables import fill_tables

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)

_formulas: list[str] = []
"""Formulas of all pages built so far; the site's font contains their characters."""


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    evidence = read_evidence(Path(config.docs_dir))
    pages: dict[str, str | bytes] = {**reference_pages(), **tutorial_pages()}
    pages["which-loss.md"] = which_loss_page(evidence)
    for study, evaluations in evidence.items():
        if evaluations:
            pages |= idea_page(study)
            pages[f"papers/{study}.md"] = study_page(study, evaluations, str(pages[f"papers/{study}.md"]))
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Fill in tables of evidence."""
    return fill_tables(markdown, Path(config.docs_dir))


def on_page_content(content: str, **_: Any) -> str:
    """Convert the formulas of a page to MathML."""
    content = DISPLAYED.sub(lambda match: f"<p>{math_html(html.unescape(match[1]).strip(), display=True)}</p>", content)
    content = INLINE.sub(lambda match: math_html(html.unescape(match[1])), content)
    _formulas.extend(FORMULA.findall(content))
    return content


def on_post_build(config: Any) -> None:
    """Write the font of all formulas."""
    Path(config.site_dir, "math.woff").write_bytes(math_font("".join(_formulas)))
