"""HTML from the templates of the report and from Markdown; a text is escaped unless it is HTML already.

Formulas become MathML, which browsers draw without any script, but well only in a font with tables for mathematics,
which many systems lack: accents then stand beside their letters. So the style embeds the glyphs that formulas use, of
STIX Two Math, which comes with the package ziamath, under the SIL Open Font License, which a subset names too.
"""

from __future__ import annotations

import functools
import html
import io
import re
import unicodedata
from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, tostring

from rankplug.report.safe_html import safe_text
from rankplug.studies import Abstention, Judgement, slug

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

ACCENTS = {"&#x0005E;": "&#x002C6;", "&#x0007E;": "&#x002DC;"}
"""Accent of latex2mathml -> the character that fonts have for it."""
ROWS = {"math", "mrow", "mtd", "mstyle"}
"""Elements of MathML whose parts stand side by side."""
COMPACT = (",", ":")
"""Separators of values in JSON that programs read, without spaces."""
CHARACTER = re.compile(r"&amp;(#x[0-9A-Fa-f]{1,6};)")
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
ITALIC = (*range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C))
"""Slanted letters, which browsers take for a variable of one letter."""
DRAWN_BY_BROWSERS = "\N{SQUARE ROOT}\N{MINUS SIGN}\N{PRIME}"
"""Signs that stand for an element or another character."""
NAMES = [0, 1, 2, 7, 13, 14]
"""Copyright, family, style, trademark and licence, by OpenType's numbers."""


def render(template: str, /, **values: Any) -> Markup:
    """Fill in a template of the report.

    Args:
        template: its name, without ``.html``.
        values: what it calls by these names.
    """
    from markupsafe import Markup

    return Markup(_environment().get_template(f"{template}.html").render(values))


def render_macro(name: str, /, **values: Any) -> Markup:
    """Fill in a macro of the template ``parts``."""
    from markupsafe import Markup

    return Markup(getattr(_environment().get_template("parts.html").module, name)(**values))


def template_text(name: str) -> str:
    """Return a file of the templates that is not filled in, such as a script or a style."""
    return resources.files("rankplug.report").joinpath("templates", name).read_text(encoding="utf-8")


def page_of(identity: str) -> str:
    """Return the page of a combination, relative to the report."""
    return f"combinations/{identity}.html"


def anchors(names: Iterable[str]) -> list[str]:
    """Return an anchor for each name, each its own.

    >>> anchors(["a b", "c", "a-b"])
    ['a-b', 'c', 'a-b--2']
    """
    unique: list[str] = []
    for name in map(slug, names):
        same = sum(anchor == name or anchor.startswith(f"{name}--") for anchor in unique)
        unique.append(f"{name}--{same + 1}" if same else name)
    return unique


def told_in_parts(verdict: Judgement) -> tuple[list[str], list[str], list[str]]:
    """Return the evidence of a verdict in words: up to the decisive part, of the other parts, and what follows them."""
    if isinstance(verdict, Abstention):
        return [verdict.sentence], [], []
    clauses, first = verdict.clauses, 1 + bool(verdict.data)
    last = first - 1 + len(verdict.parts)
    return clauses[:first], clauses[first:last], clauses[last:]


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
    environment.globals["told_in_parts"] = told_in_parts
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": COMPACT}
    environment.filters |= {"markdown": markdown_html, "page_of": page_of, "slug": slug}
    return environment


def math_html(formula: str, display: bool = False) -> Markup:
    """Convert a LaTeX formula to MathML; one that cannot be converted is shown as written."""
    from latex2mathml.converter import convert_to_element
    from markupsafe import Markup

    try:
        element = convert_to_element(formula, display="block" if display else "inline")
        for part in element.iter():
            if part.tag == "mover":  # The sign of a typewriter becomes an accent, which fonts place.
                part[1].text = ACCENTS.get(part[1].text or "", part[1].text)
            _set_apart(part)
        # latex2mathml's own way to a string takes back all escapes, those of text in the formula too.
        written = CHARACTER.sub(r"&\1", tostring(element, encoding="unicode"))
    except Exception:
        return Markup("<code>{}</code>").format(formula)
    return safe_text(written)


def _set_apart(part: Element) -> None:
    """Set the names of functions apart from their neighbours by a thin space, as TeX does."""
    for index in reversed(range(len(part))):
        name = part[index].text or "" if part.tag in ROWS and part[index].tag == "mi" else ""
        if len(name) > 1 and name.isalpha():
            for side, beside in ((index + 1, index + 1), (index, index - 1)):
                if 0 <= beside < len(part) and next(leaf for leaf in part[beside].iter() if not len(leaf)).tag != "mo":
                    part.insert(side, Element("mspace", width="0.1667em"))


def math_font(page: str) -> bytes:
    """Return a WOFF file of STIX Two Math with the characters of a page's formulas, and the glyphs these grow into."""
    from importlib.metadata import distribution

    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(layout_features=["ssty", "dtls", "flac"], name_IDs=NAMES, hinting=False, glyph_names=False)
    written = io.BytesIO()
    # The package is not imported: it draws formulas itself, which takes longer than making the subset.
    path = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    with TTFont(str(path), lazy=True, recalcTimestamp=False) as font:
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=map(ord, math_characters(page)))
        subsetter.subset(font)
        font.flavor = "woff"
        font.save(written)
    return written.getvalue()


def math_characters(page: str) -> frozenset[str]:
    """Return the characters that a browser may draw in the formulas of a page.

    >>> sorted(math_characters("<p>text</p><math><mi>x</mi><mo>&lt;</mo></math>") - set(DRAWN_BY_BROWSERS))
    ['<', 'x', '𝑥']
    """
    written = {letter for formula in FORMULA.findall(page) for letter in html.unescape(TAG.sub("", formula))}
    plain = {unicodedata.normalize("NFKC", letter) for letter in written}
    slanted = {letter for letter in map(chr, ITALIC) if unicodedata.normalize("NFKC", letter) in plain}
    return frozenset(written | slanted | set(DRAWN_BY_BROWSERS)) if written else frozenset()


def markdown_html(text: str) -> Markup:
    """Convert Markdown to HTML; raw HTML in it is shown as text, but for <br>, the only line break in a table."""
    return safe_text(str(_converter()(text)).replace("&lt;br&gt;", "<br>"))


@functools.cache
def _converter() -> Any:
    import mistune

    convert = mistune.create_markdown(escape=True, plugins=["math", "table", "strikethrough"])
    renderer = convert.renderer
    assert isinstance(renderer, mistune.HTMLRenderer)
    # Not as HTML that escapes what it is joined to: mistune puts its own tags around.
    renderer.register("inline_math", lambda _, formula: str(math_html(formula)))
    renderer.register("block_math", lambda _, formula: renderer.paragraph(str(math_html(formula, display=True))))
    return convert
