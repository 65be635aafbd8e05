"""Every figure and table of the papers is there, runs at the smallest size, and can be read."""

from __future__ import annotations

import functools
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from rankplug.plotting import encode_figure, new_figure
from rankplug.studies import studies, study


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a study's cases: one process for all, and slow where trials have to be trained."""
    group = pytest.mark.xdist_group(f"draw {name}")
    return [group] if name == "letor2" else [group, pytest.mark.slow]


EXHIBITS = [
    pytest.param(paper.name, exhibit.name, marks=marks(paper.name)) for paper in studies() for exhibit in paper.exhibits
]
SCHEMAS = {("stochastic", "Figure 1"), ("stochastic", "Figure 2"), ("logrank", "Figure 2")}
"""Pictures of a construction, which have no axes to name."""


@pytest.fixture(scope="module")
def draw(results_of_study):
    """Draw an exhibit, once for all tests, and lay it out while it is open."""

    @functools.cache
    def drawn(name: str, exhibit: str):
        table, figure = study(name).exhibit(exhibit).draw(results_of_study(name))
        if figure is not None:
            figure.canvas.draw()
        return table, figure

    return drawn


@pytest.fixture
def drawn(draw, study_name, exhibit_name):
    return draw(study_name, exhibit_name)


@pytest.mark.parametrize(("study_name", "exhibit_name"), EXHIBITS)
def test_an_exhibit_has_rows_and_finite_numbers(drawn, study_name, exhibit_name):
    table, _ = drawn
    assert isinstance(table, pd.DataFrame) and len(table)
    numbers = table.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy(np.float64)).any() or numbers.empty


@pytest.mark.parametrize(("study_name", "exhibit_name"), EXHIBITS)
def test_axes_are_named_and_legends_cover_nothing(drawn, study_name, exhibit_name):
    _, figure = drawn
    if figure is None:
        return
    for axes in figure.axes:
        if axes.axison and (study_name, exhibit_name) not in SCHEMAS and axes.get_label() != "<colorbar>":
            assert any(one.get_xlabel() for one in beside(axes, "colspan")), f"an x axis of {exhibit_name} has no name"
            assert any(one.get_ylabel() for one in beside(axes, "rowspan")), f"a y axis of {exhibit_name} has no name"
        if legend := axes.get_legend():
            covered = points_in(axes, legend.get_window_extent())
            assert not covered, f"the legend covers {covered} points"
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)


def beside(axes, span: str) -> list:
    """Return the axes in the same row or column of a figure, of which one names the axis for all."""
    place = getattr(axes.get_subplotspec(), span)
    return [
        neighbour
        for neighbour in axes.figure.axes
        if (there := neighbour.get_subplotspec()) is not None and getattr(there, span) == place
    ]


def points_in(axes, box) -> int:
    """Count the points of an axes' lines and dots that lie in a box."""
    points = [line.get_transform().transform(line.get_xydata()) for line in axes.lines if line.get_xydata().size]
    points += [axes.transData.transform(np.ma.getdata(dots.get_offsets())) for dots in axes.collections]
    return sum(
        int(sum(box.contains(x, y) for x, y in point if np.isfinite([x, y]).all())) for point in points if len(point)
    )


def middles_of(picture, colour):
    """Return the middles of the marks of a colour, from the left, as shares of the picture."""
    pixels = np.asarray(picture.convert("RGB"), int)
    found = np.abs(pixels - colour).sum(axis=2) < 60
    columns = np.flatnonzero(found.any(axis=0))
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > 5) + 1)
    return [(group.mean() / picture.width, found[:, group].any(axis=1).nonzero()[0].mean() / picture.height)
            for group in groups]  # fmt: skip


def test_points_of_a_line_are_told_at_its_marks_and_nothing_of_unnamed_ones():
    figure, axes = new_figure(2)
    axes[1].plot([1.0, 2.0, 4.0], [0.5, np.nan, 0.25], "o", color="red", label="a model")
    axes[1].plot([1.0, 4.0], [0.5, 0.25], color="blue")
    axes[1].set(xlabel="trees", title="a title that makes the picture taller")
    files, points = encode_figure(figure, ["png"])
    assert [words for *_, words in points] == ["a model: 1, 0.5", "a model: 4, 0.25"]
    middles = middles_of(Image.open(io.BytesIO(files["png"])), (255, 0, 0))
    for (across, down, _), middle in zip(points, middles, strict=True):
        assert (across, down) == pytest.approx(middle, abs=0.004)
