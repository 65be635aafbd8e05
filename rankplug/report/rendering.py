"""HTML from the templates of the report, in which a text is escaped unless it is HTML already."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from rankplug.report.markdown import markdown_html

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup


def render(template: str, /, **values: Any) -> Markup:
    """Fill in a template of the report.

    Args:
        template: its name, without ``.html``.
        values: what it calls by these names.
    """
    from markupsafe import Markup

    return Markup(_environment().get_template(f"{template}.html").render(values))


def page_of(identity: str) -> str:
    """Return the page of a combination, relative to the report."""
    return f"combinations/{identity}.html"


def slug(name: str) -> str:
    """Return a name as files and anchors have it.

    >>> slug("Table 1, tests")
    'table-1-tests'
    """
    return re.sub(r"\W+", "-", name.lower()).strip("-")


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("rankplug.report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"markdown": markdown_html, "page_of": page_of, "slug": slug}
    return environment
