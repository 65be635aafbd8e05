"""Style and files of figures: a palette for the colour-blind, the same colour for the same model everywhere.

The colours are those of Okabe and Ito (2008), Color universal design.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankplug.system import require_modules, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#663300", "#555555", "#000000")
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
    """Write a figure as ``pdf`` for print, ``svg``, whose text stays text, or ``png``.

    Args:
        figure: the figure.
        file: a file open for writing.
        suffix: the format.
        area: the area of the figure to write, as :func:`lay_out` returns it.
        metadata: what the file carries beside the figure, by matplotlib's names.
    """
    with in_style():
        figure.savefig(
            file,
            format=suffix,
            bbox_inches="tight" if area is None else area,
            dpi=STYLE["savefig.dpi"],
            metadata={**UNDATED.get(suffix, {}), **metadata},
        )


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
