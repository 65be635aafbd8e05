"""Lines, points and bars of figures are told apart in grey and by readers who are colour-blind.

Colours are seen through the matrices of Machado, Oliveira and Fernandes (2009), "A physiologically-based model for
simulation of color vision deficiency", at full severity, and are compared by their distance in CIELAB.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D

from rankplug.errors import NotRunError
from rankplug.plotting import PALETTE, in_style, mark_lines, new_figure
from rankplug.plotting._figures import MARKERS
from rankplug.studies import studies

VISIONS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "grey": 3 * [[0.212639, 0.715169, 0.072192]],
}
"""Vision -> what it makes of linear red, green and blue."""
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
LEAST = 10.0
"""Distance in CIELAB of two colours that are told apart at a glance; of two greys it is that of their lightness."""


def lab(colour, vision: str) -> np.ndarray:
    """Return lightness, a and b of a colour as it is seen."""
    shares = np.array(to_rgb(colour))
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(VISIONS[vision]) @ linear, 0, 1)
    relative = XYZ @ seen / XYZ.sum(axis=1)
    cubes = np.where(relative > (6 / 29) ** 3, np.cbrt(relative), relative / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * cubes[1] - 16, 500 * (cubes[0] - cubes[1]), 200 * (cubes[1] - cubes[2])])


def distance(one, other, vision: str) -> float:
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


def nearest(one, other) -> float:
    """Return the distance of two colours in the vision that sees them as most alike."""
    return min(distance(one, other, vision) for vision in VISIONS)


def looks(handle) -> tuple[str, object]:
    """Return the colour of an entry of a legend, and how it looks beside that."""
    if isinstance(handle, Line2D):
        return to_hex(handle.get_color()), ("line", str(handle.get_marker()), str(handle.get_linestyle()))
    if isinstance(handle, PathCollection):
        return to_hex(handle.get_facecolor()[0]), ("points", handle.get_paths()[0].vertices.tobytes())
    if isinstance(handle, mpl.patches.Patch):
        return to_hex(handle.get_facecolor()), ("area", handle.get_hatch())
    return to_hex(handle.get_color()[0]), ("lines", None)


def confused(figure) -> Iterator[tuple[str, str, float]]:
    """Yield entries of a legend that differ by a colour alone which is nearly the same in some vision."""
    for legend in [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]:
        named = [
            (text.get_text(), *looks(handle))
            for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        ]
        for (one, colour, look), (other, colour_of_other, look_of_other) in itertools.combinations(named, 2):
            apart = nearest(colour, colour_of_other)
            if look == look_of_other and apart < LEAST:
                yield one, other, apart


def test_colour_blind_readers_can_distinguish_the_palette():
    for vision in set(VISIONS) - {"grey"}:
        nearest_two = min(itertools.combinations(PALETTE, 2), key=lambda two: distance(*two, vision))
        assert distance(*nearest_two, vision) > 15, (vision, nearest_two)


def test_every_colour_has_a_marker_and_contrast_to_white():
    assert set(MARKERS) == set(PALETTE) and len(set(MARKERS.values())) == len(PALETTE)
    assert all(distance(colour, "white", vision) > 2 * LEAST for colour in PALETTE for vision in VISIONS)


def test_lines_that_differ_by_colour_alone_get_markers():
    with in_style():
        figure, (left, right) = new_figure(2)
        for position, colour in enumerate(PALETTE):
            left.plot([0, 1, 2], [position, 0, position], color=colour, label=f"model {position}")
            right.plot([0, 1], [position, 0], "o", color=colour, label=f"model {position}", markersize=2.5)
        right.plot([0, 1], [1, 1], "--", color="black", label="published")
        left.plot([0, 1], [3, 4], color=PALETTE[0])
        left.legend()
        legend = figure.legend(*right.get_legend_handles_labels())
    assert len(list(confused(figure))) > 3
    mark_lines(figure)
    assert list(confused(figure)) == []
    marks = [line.get_marker() for line in left.lines]
    assert marks == [*MARKERS.values(), "None"] and [line.get_marker() for line in right.lines[:-1]] == marks[:-1]
    assert right.lines[-1].get_marker() == "None" and right.lines[0].get_markersize() == 2.5
    assert [handle.get_marker() for handle in legend.legend_handles][:-1] == marks[:-1]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("paper", studies(), ids=lambda paper: paper.name)
def test_entries_of_exhibits_legends_are_distinguishable(paper, results_of_study):
    results = results_of_study(paper.name)
    for exhibit in paper.exhibits:
        with in_style(), contextlib.suppress(NotRunError):
            _, figure = exhibit.draw(results)
            if figure is not None:
                mark_lines(figure)
                assert list(confused(figure)) == [], exhibit.name
