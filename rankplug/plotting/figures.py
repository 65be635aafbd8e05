"""Style and files of figures: a palette for the colour-blind, the same colour for the same model everywhere.

The colours are those of Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

import contextlib
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankplug.system import require_modules, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#663300", "#555555", "#000000")
COLOURS = 128
"""Colours of a PNG: those that cover best what is drawn leave no pixel off by a tenth, a palette of means does."""
PADDING = 0.1
"""Inches left free around what is drawn."""
SMALLEST = 8
"""Points of the smallest text of a figure, at the size at which it is printed."""
STYLE: dict[str, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 144,
    "font.size": 9,
    # The first comes with matplotlib, which places texts by its widths, and the second is as wide and on most systems.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Bitstream Vera Sans", "Liberation Sans", "Arial"],
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "rankplug",
}
"""The project's own settings, over seaborn's theme for papers."""
UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""Metadata of formats that tell a time: the same figure gives the same file, whenever it is drawn."""
PLACES = re.compile(r'(?<= )(d|x|y|points|transform)="(?!scale)([^"]*)"')
"""Attributes that hold places; what scales is not one."""
NUMBER = re.compile(r"-?\d+\.\d+")
SPACE = re.compile(r"\s+")
UPRIGHT = re.compile(r' transform="rotate\(-0 [^)"]*\)"')
"""A turn by nothing, which matplotlib writes with every text."""
FONT = re.compile(r'font-family: ([^;"]+)')
STYLED = re.compile(r' style="([^"]*)"')
STYLES = "</style>"
"""The end of the rules that hold for the whole picture."""
NAME, REFERENCE = re.compile(r' id="([^"]*)"'), re.compile(r"""(href="|url\()#([\w.-]+)""")
"""The name of an element, and what refers to one."""
INDENT = re.compile(r"\n +<")
GROUP = re.compile(r"<g/>\n?|<g( [^>]*)?>\n?|</g>\n?")
METADATA = re.compile(r"<!DOCTYPE[^>]*>\n|<metadata>(?!.*<dc:description>).*?</metadata>\n", re.DOTALL)
"""Parts that no browser reads; a description is a digest that tells whether a picture is up to date."""
ACROSS = 10
"""Points from which on a place is one in the picture, and not within a mark, and a tenth of a point is exact enough."""
LINES = re.compile(r"[-MLz\d\s.]+")
"""A path of straight lines."""


@contextlib.contextmanager
def in_style() -> Iterator[None]:
    """Draw and write figures in the project's style until the block ends: seaborn's theme for papers, with changes."""
    require_modules("matplotlib", "seaborn")
    import matplotlib as mpl
    import seaborn

    theme = {**seaborn.axes_style("ticks"), **seaborn.plotting_context("paper"), **STYLE}
    with mpl.rc_context(theme):
        yield


def colour(model: str, own: Mapping[str, str] | None = None) -> str:
    """Return the colour of a model: the one that a study gives it, or the one that its name's digest picks."""
    return (own or {}).get(model) or PALETTE[zlib.crc32(model.encode()) % len(PALETTE)]


def distinct_colours(models: Iterable[str]) -> dict[str, str]:
    """Return a colour for each model, its usual one where no model before it has that, else the next that is free.

    >>> len(set(distinct_colours(["mse", "xe_ndcg", "ranknet", "lambdarank"]).values()))
    4
    """
    colours: dict[str, str] = {}
    for model in models:
        usual = PALETTE.index(colour(model))
        order = PALETTE[usual:] + PALETTE[:usual]
        colours[model] = next((colour for colour in order if colour not in colours.values()), order[0])
    return colours


def new_figure(
    columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.0, **options: Any
) -> tuple[Any, Any]:
    """Make a figure in the project's style and its axes, one row of them or a grid."""
    require_modules("matplotlib")
    import matplotlib.pyplot as plt

    with in_style():
        figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), **options)
    return figure, axes


def keep_within(axes: Axes, low: float, high: float) -> None:
    """Cut the vertical axis where no value can be; intervals of a few trials may reach farther."""
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(bottom, low), min(top, high))


def legend_below(figure: Figure, columns: int) -> None:
    """Draw one legend for all axes below them, so that it covers nothing."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)


def lay_out(figure: Figure) -> Bbox:
    """Lay a figure out for good, and return the area in inches on which anything is drawn.

    matplotlib would do so before each format that it writes, and go through all of it once more to find that area.
    """
    with in_style():
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure.get_tightbbox().padded(PADDING)


def encode_figure(figure: Figure, file: IO[bytes], suffix: str, area: Bbox | None = None, **metadata: str) -> None:
    """Write a figure as ``pdf`` for print, ``svg``, whose text stays text, or ``png`` with few colours.

    Args:
        figure: what is written.
        file: what it is written into.
        suffix: the format.
        area: of the figure, where :func:`lay_out` has found it.
        metadata: what the file carries beside the figure, by matplotlib's names.
    """
    drawn = io.BytesIO()
    with in_style():
        figure.savefig(
            drawn,
            format=suffix,
            bbox_inches="tight" if area is None else area,
            dpi=STYLE["savefig.dpi"],
            metadata={**UNDATED.get(suffix, {}), **metadata},
        )
    if suffix == "svg":
        file.write(compact_svg(drawn.getvalue().decode()).encode())
    elif suffix == "png":
        from PIL import Image

        with Image.open(drawn) as picture:
            flat = Image.new("RGB", picture.size, "white")
            flat.paste(picture, mask=picture.getchannel("A") if picture.mode == "RGBA" else None)
        few = flat.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(file, "PNG", optimize=True)
    else:
        file.write(drawn.getvalue())


def compact_svg(text: str) -> str:
    """Return a picture whose places have a digit behind the point or two, and which says each style once.

    matplotlib writes places to a millionth of a point, and style and font with every element, which no reader sees.

    >>> compact_svg('<path d="M 57.612345 307.5 \\nL -0.001 2 \\n"/> <g transform="scale(0.001 1)">1.23456</g>')
    '<path d="M 57.6 307.5 0 2"/> <g transform="scale(0.001 1)">1.23456</g>'
    >>> compact_svg('<style>*{}</style>\\n  <g id="line"><path style="fill: none"/><path style="fill: none"/></g>')
    '<style>*{}.s0{fill: none}</style>\\n<path class="s0"/><path class="s0"/>'
    """
    short = PLACES.sub(lambda found: f'{found[1]}="{_rounded(found[2])}"', UPRIGHT.sub("", METADATA.sub("", text)))
    referred = dict.fromkeys(name for _, name in REFERENCE.findall(short))
    named = {name: f"n{number}" for number, name in enumerate(referred)}
    short = NAME.sub(lambda found: f' id="{named[found[1]]}"' if found[1] in named else "", INDENT.sub("\n<", short))
    short = REFERENCE.sub(lambda found: f"{found[1]}#{named[found[2]]}", _without_bare_groups(short))
    return _with_classes(_with_one_font(short)) if STYLES in short else short


def _without_bare_groups(text: str) -> str:
    """Leave out groups that say nothing about what is in them."""
    kept: list[bool] = []

    def told(found: re.Match[str]) -> str:
        if found[0].startswith("<g/"):
            return ""
        if found[0].startswith("<g"):
            kept.append(found[1] is not None)
            return found[0] if kept[-1] else ""
        return found[0] if kept.pop() else ""

    return GROUP.sub(told, text)


def _with_one_font(text: str) -> str:
    """Name the font of most texts once for all of them."""
    fonts = Counter(FONT.findall(text)).most_common(1)
    if not fonts:
        return text
    named = f"font-family: {fonts[0][0]}"
    without = text.replace(f"{named}; ", "").replace(f'; {named}"', '"')
    return without.replace(STYLES, f"text{{{named}}}{STYLES}", 1)


def _with_classes(text: str) -> str:
    """Name each style that several elements have, the most frequent first, and let them refer to it."""
    counts = Counter(STYLED.findall(text)).most_common()
    names = {style: f"s{number}" for number, (style, count) in enumerate(counts) if count > 1}
    referring = STYLED.sub(lambda found: f' class="{names[found[1]]}"' if found[1] in names else found[0], text)
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    return referring.replace(STYLES, f"{rules}{STYLES}", 1)


def _rounded(places: str) -> str:
    rounded = SPACE.sub(" ", NUMBER.sub(_shorter, places)).strip()
    # Points that follow the first one of a path are ends of lines, whether a sign says so or not.
    return rounded.replace(" L ", " ") if LINES.fullmatch(rounded) else rounded


def _shorter(number: re.Match[str]) -> str:
    place = float(number[0])
    shorter = f"{place:.{1 if abs(place) >= ACROSS else 2}f}".rstrip("0").rstrip(".")
    return "0" if shorter == "-0" else shorter


def save_figure(figure: Figure, target: Path) -> Path:
    """Write a figure into a file of any format that its name tells, PNG where it tells none; return the file."""
    import matplotlib as mpl

    from rankplug.errors import RankplugError

    target = target if target.suffix else target.with_suffix(".png")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kind = target.suffix[1:]
        with whole_file(target) as file, mpl.rc_context({"svg.hashsalt": STYLE["svg.hashsalt"]}):
            figure.savefig(file, format=kind, bbox_inches="tight", metadata=UNDATED.get(kind.lower()))
    except (OSError, ValueError) as error:
        raise RankplugError(f"cannot draw into {target}: {error}") from None
    return target


def save(figure: Figure, stem: Path, suffixes: Iterable[str] = (".pdf", ".png", ".svg")) -> list[Path]:
    """Write a figure as PDF, PNG and SVG, or as some of them, and return their paths."""
    paths = [stem.with_suffix(suffix) for suffix in suffixes]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            encode_figure(figure, file, path.suffix[1:])
    return paths
