"""Points of a figure with their places in its picture, so that a page can tell them where the pointer is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.plotting.figures import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox

MOST_CELLS = 600
"""Cells of a heat map that are told; of more none is."""
MOST_POINTS = 150
"""Points that are told of a line; of more every second, third ... is left out."""
Point = tuple[float, float, str]
"""Place from the left and from the top, as shares of the picture, and words."""


def encode_points(figure: Figure, area: Bbox | None = None) -> bytes:
    """Return the points of a figure's named lines and the cells of its heat maps as JSON, see :data:`Point`.

    The places are those in a picture that :func:`rankplug.plotting.encode_figure` writes of the same area.
    """
    return json.dumps(list(points_of(figure, area)), ensure_ascii=False, separators=(",", ":")).encode()


def points_of(figure: Figure, area: Bbox | None = None) -> Iterator[Point]:
    """Yield the points of a figure's named lines, and the cells of its heat maps."""
    from matplotlib.collections import QuadMesh

    inches = area or lay_out(figure)
    left, bottom, width, height = inches.x0, inches.y0, inches.width, inches.height
    for axes in figure.axes:
        told = [point for line in axes.lines for point in _of_line(axes, line)]
        for mesh in axes.collections:
            told += _of_mesh(axes, mesh) if isinstance(mesh, QuadMesh) and axes.get_label() != "<colorbar>" else []
        for x, y, words in told:
            across = (x / figure.dpi - left) / width
            down = 1 - (y / figure.dpi - bottom) / height
            yield round(across, 4), round(down, 4), words


def _of_line(axes: Axes, line: Line2D) -> list[Point]:
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


def _of_mesh(axes: Axes, mesh: QuadMesh) -> list[Point]:
    values: Any = np.ma.atleast_2d(np.ma.asarray(mesh.get_array()))
    corners = np.asarray(mesh.get_coordinates(), float)
    if values.shape != (len(corners) - 1, len(corners[0]) - 1) or values.size > MOST_CELLS:
        return []
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    rows, columns = _names_of(axes.yaxis), _names_of(axes.xaxis)
    points = []
    for cell in np.ndindex(*values.shape):
        if np.ma.is_masked(values[cell]) or not np.isfinite(values[cell]):
            continue
        x, y = middles[cell]
        words = ", ".join(name for name in (rows.get(round(y, 3), ""), columns.get(round(x, 3), "")) if name)
        across, down = axes.transData.transform((x, y))
        points.append((float(across), float(down), f"{words}: {values[cell]:.4g}"))
    return points


def _names_of(axis: Axis) -> dict[float, str]:
    """Return the words at the ticks of an axis by their places."""
    named = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    return {round(float(tick), 3): label.get_text().replace("\n", ", ") for tick, label in named}
