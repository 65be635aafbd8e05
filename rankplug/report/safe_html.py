"""HTML that shows and never acts: every page, and every text from elsewhere on it, is reduced to what stands here.

What a store, a notebook or a data set says may have been written by anyone, so a page is made safe twice: nh3 parses it
as a browser does and keeps known tags, attributes and addresses only, and the page's policy forbids the browser to run
or fetch anything at all. Figures are files of their own; of SVG only plain shapes without any reference are tags of a
page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

TEXT_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del", "details", "div", "dl",
    "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p", "pre", "small", "span", "strong",
    "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
MATH_TAGS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt",
    "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
PICTURE_TAGS = {
    "circle": {"cx", "cy", "r"}, "g": set(), "path": {"d"}, "rect": {"height", "width", "x", "y"},
    "svg": {"aria-hidden", "preserveAspectRatio", "role", "viewBox"}, "text": {"x", "y"},
}  # fmt: skip
"""Shapes of the report's own small pictures with their measures: none of them refers to anything or can act."""
PAGE_TAGS = {"img", "section", *PICTURE_TAGS}
"""Only the report itself writes these; what comes from elsewhere loses them."""

TEXT_ATTRIBUTES = {"class", "colspan", "rowspan", "scope", "title"}
MATH_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle",
    "fence", "form", "frame", "height", "largeop", "linethickness", "lspace", "mathbackground", "mathcolor",
    "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace",
    "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip
WITHOUT_CONTENT = {"script", "style", "template", "title"}
"""Tags whose content is not text for a reader, and is removed with them."""

COLOURS = ("mathbackground", "mathcolor")
COLOUR = re.compile(r"#?\w+")
"""A colour by its name or number, and nothing that a style sheet might take for an address."""
LINK = re.compile(r"https?://[^\s\\]+|mailto:[^\s\\]+|(?:#|(?:\.\./)*\w)[^\s:\\]*")
"""A page that a click opens; an address that begins with two slashes would be a machine of any network."""
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+|(?:\.\./)*(?:[\w-]+/)?exhibits/[\w./-]+")
"""A picture within the page, or a figure of the report."""


def safe_text(text: str) -> Markup:
    """Reduce HTML from elsewhere to text, tables, formulas and links.

    >>> safe_text('<b onclick="act()">bold</b><script>act()</script><a href="javascript:act()">link</a>')
    Markup('<b>bold</b><a>link</a>')
    """
    return _reduced(text, TEXT_TAGS | MATH_TAGS, TEXT_ATTRIBUTES)


def safe_body(body: str) -> Markup:
    """Sanitize the whole body of a page, keeping the report's own sections, anchors and pictures.

    >>> safe_body('<section id="one"><img src="exhibits/a.png"><img src="http://elsewhere/a.png"></section>')
    Markup('<section id="one"><img src="exhibits/a.png"><img></section>')
    """
    return _reduced(body, TEXT_TAGS | MATH_TAGS | PAGE_TAGS, TEXT_ATTRIBUTES | {"aria-label", "id", "tabindex"})


def policy(script: str = "") -> str:
    """Return the Content-Security-Policy of a page: nothing from elsewhere, the report's style, no script or one."""
    rules = ["default-src 'none'", "img-src 'self' data:", "font-src data:", "style-src 'self'"]
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        rules.append(f"script-src 'sha256-{digest}'")
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _reduced(text: str, tags: set[str], everywhere: set[str]) -> Markup:
    import nh3
    from markupsafe import Markup

    of_math = dict.fromkeys(tags & MATH_TAGS, MATH_ATTRIBUTES)
    of_pictures = {tag: measures for tag, measures in PICTURE_TAGS.items() if tag in tags}
    clean = nh3.clean(
        text,
        tags=tags,
        clean_content_tags=WITHOUT_CONTENT,
        attributes={
            "*": everywhere,
            "a": {"href"},
            "details": {"open"},
            "img": {"alt", "loading", "src"},
            **of_math,
            **of_pictures,
        },
        attribute_filter=_address,
        url_schemes={"data", "http", "https", "mailto"},
        link_rel=None,
    )
    return Markup(clean)


def _address(tag: str, attribute: str, value: str) -> str | None:
    if attribute in COLOURS:
        return value if COLOUR.fullmatch(value) else None
    if attribute not in ("href", "src"):
        return value
    allowed = LINK if attribute == "href" else PICTURE
    return value if allowed.fullmatch(value) else None
