"""Style, markers and files of figures: a palette for the colour-blind, the same colour for the same model everywhere.

The colours are those of Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rankplug.system import require_modules, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox


PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#663300", "#555555", "#000000")
PADDING = 0.1
"""Inches left free around what is drawn."""
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
COLOURS = 64
"""Colours of a PNG."""
UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""Metadata of formats that tell a time: the same figure gives the same file, whenever it is drawn."""


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


def encode_figure(figure: Figure, suffixes: Iterable[str]) -> tuple[dict[str, bytes], list[Point]]:
    """Return the files of a figure by their suffixes, and the points in its picture; the figure is closed.

    Lines that differ by their colour alone get markers.

    Args:
        figure: the figure.
        suffixes: formats, of ``pdf`` for print, ``svg``, whose text stays text, and ``png``.
    """
    import matplotlib.pyplot as plt

    mark_lines(figure)
    files = {}
    with in_style():
        # matplotlib would do so before each format, and go through all of it again to find the area of the drawing.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        area = figure.get_tightbbox().padded(PADDING)
        for suffix in suffixes:
            file = io.BytesIO()
            figure.savefig(file, format=suffix, bbox_inches=area, metadata=UNDATED.get(suffix))
            files[suffix] = _with_few_colours(file) if suffix == "png" else file.getvalue()
        points = list(_points(figure, area))
    plt.close(figure)
    return files, points


def _with_few_colours(file: IO[bytes]) -> bytes:
    """Return a PNG with a palette, which takes a third of the space."""
    from PIL import Image

    written = io.BytesIO()
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(written, "png", optimize=True, dpi=picture.info["dpi"])
    return written.getvalue()


def save_figure(figure: Figure, target: Path) -> Path:
    """Write a figure into a file in the format of its suffix, PNG by default; return the file."""
    from rankplug.errors import RankplugError

    target = target if target.suffix else target.with_suffix(".png")
    kind = target.suffix[1:]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as file, in_style():
            figure.savefig(file, format=kind, bbox_inches="tight", metadata=UNDATED.get(kind.lower()))
    except (OSError, ValueError) as error:
        raise RankplugError(f"cannot draw into {target}: {error}") from None
    return target


def save(figure: Figure, stem: Path, suffixes: Iterable[str] = (".pdf", ".png", ".svg")) -> list[Path]:
    """Write a figure as PDF, PNG and SVG, or as some of them, and return their paths."""
    return [save_figure(figure, stem.with_suffix(suffix)) for suffix in suffixes]


MARKERS = dict(zip(PALETTE, ("o", "s", "^", "D", "v", "P", "X", "p", "*"), strict=True))
"""Colour -> marker."""
SIZE = 4.0
SPACING = 0.16
"""Space between markers on a line that has none at its points, as a share of its axes' diagonal."""


def mark_lines(figure: Figure) -> None:
    """Give the lines of a legend that differ by their colour alone markers too, the same for the same colour."""
    from matplotlib.lines import Line2D

    lines = [line for axes in figure.axes for line in axes.lines]
    named = [line for line in lines if line.get_visible() and not str(line.get_label()).startswith("_")]
    colours: dict[tuple[str, str], set[str]] = {}
    for line in named:
        colours.setdefault(_style(line), set()).add(_colour(line))
    alike = [line for line in named if len(colours[_style(line)]) > 1 and _colour(line) in MARKERS]
    labels = {line.get_label(): line for line in alike}
    looks = {(_colour(line), _style(line)) for line in alike}
    for line in lines:
        # Points of a further panel may have no name of their own.
        if line.get_label() in labels or (_has_points(line) and (_colour(line), _style(line)) in looks):
            _mark(line)
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    for legend in legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(handle, Line2D) and text.get_text() in labels:
                handle.set(marker=labels[text.get_text()].get_marker(), markersize=SIZE)


def _mark(line: Line2D) -> None:
    """Mark a line at its points where these are marked, else now and then, beside the markers of other lines."""
    colour = _colour(line)
    if not _has_points(line):
        line.set(markersize=SIZE, markevery=(SPACING * PALETTE.index(colour) / len(PALETTE), SPACING))
    line.set_marker(MARKERS[colour])


def _style(line: Line2D) -> tuple[str, str]:
    return str(line.get_linestyle()), str(line.get_marker())


def _has_points(line: Line2D) -> bool:
    return line.get_marker() not in ("None", "none", "", " ", None)


def _colour(line: Line2D) -> str:
    from matplotlib.colors import to_hex

    return to_hex(line.get_color()).upper()


MOST_CELLS = 600
"""Most cells of a heat map; of a larger one none is listed."""
MOST_POINTS = 150
"""Most points of a line; of a longer one only every second, third ... is listed."""
Point = list[Any]
"""Place from the left and from the top, as shares of the picture, and words."""


def _points(figure: Figure, area: Bbox) -> Iterator[Point]:
    """Yield the points of a figure's named lines, and the cells of its heat maps.

    Args:
        figure: a figure that is laid out.
        area: the part of it that the picture has, in inches.
    """
    from matplotlib.collections import QuadMesh

    for axes in figure.axes:
        points = [point for line in axes.lines for point in _of_line(axes, line)]
        for mesh in axes.collections:
            points += _of_mesh(axes, mesh) if isinstance(mesh, QuadMesh) and axes.get_label() != "<colorbar>" else []
        for x, y, words in points:
            across = (x / figure.dpi - area.x0) / area.width
            down = 1 - (y / figure.dpi - area.y0) / area.height
            yield [round(float(across), 4), round(float(down), 4), words]


def _of_line(axes: Axes, line: Line2D) -> list[tuple[float, float, str]]:
    label = str(line.get_label())
    if label.startswith("_") or not line.get_visible() or line.get_transform() != axes.transData:
        return []
    values = np.asarray(line.get_xydata(), float)
    values = values[np.isfinite(values).all(axis=1)]
    values = values[:: max(1, -(-len(values) // MOST_POINTS))]
    pixels = axes.transData.transform(values) if len(values) else values
    inside = axes.bbox.padded(1.0)
    return [
        (x, y, f"{label}: {horizontal:.4g}, {vertical:.4g}")
        for (x, y), (horizontal, vertical) in zip(pixels, values, strict=True)
        if inside.contains(x, y)
    ]


def _of_mesh(axes: Axes, mesh: QuadMesh) -> list[tuple[float, float, str]]:
    values: Any = np.ma.filled(np.ma.atleast_2d(np.ma.asarray(mesh.get_array(), np.float64)), np.nan)
    corners = np.asarray(mesh.get_coordinates(), float)
    if values.shape != (len(corners) - 1, len(corners[0]) - 1) or values.size > MOST_CELLS:
        return []
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    rows, columns = _names_of(axes.yaxis), _names_of(axes.xaxis)
    points = []
    for cell in np.ndindex(*values.shape):
        if np.isfinite(values[cell]):
            x, y = middles[cell]
            words = ", ".join(filter(None, [rows.get(round(y, 3)), columns.get(round(x, 3))]))
            points.append((*axes.transData.transform((x, y)), f"{words}: {values[cell]:.4g}"))
    return points


def _names_of(axis: Axis) -> dict[float, str]:
    """Return the words at the ticks of an axis by their places."""
    named = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    return {round(float(tick), 3): label.get_text().replace("\n", ", ") for tick, label in named}
