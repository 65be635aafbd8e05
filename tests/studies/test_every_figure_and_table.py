"""Every figure and table of the papers is there, runs at the smallest size, and can be read."""

from __future__ import annotations

import functools
import re

import numpy as np
import pandas as pd
import pytest

from rankplug.plotting import colour
from rankplug.report.notebook_page import captions
from rankplug.studies import studies, study

TEST_QUALITY = ("model", "metric", "ours", "half width", "published", "difference")
OF_THE_PAPERS = {
    "stochastic": {
        "Figure 1": ("alpha", "y1", "y2", "y3", "sampled share", "density share"),
        "Figure 2": ("document", "rank (a), first draw", "rank (b), first draw"),
        "Figure 3a": ("model", "part", "trial", "iteration", "ndcg@5 (%)"),
        "Figure 3b": ("model", "part", "trial", "iteration", "ndcg@5 (%)"),
        "Figure 3c": ("model", "part", "trial", "iteration", "ndcg@5 (%)"),
        "Figure 4": ("model", "part", "trial", "iteration", "ndcg@5 (%)"),
        "Table 1": TEST_QUALITY,
    },
    "xendcg": {
        "Table 1": TEST_QUALITY,
        "Table 1, tests": ("models", "metric", "difference", "t", "p", "p, Holm"),
        "Figure 1": ("model", "trial", "iteration"),
        **{f"Figure 2{panel}": ("level (%)", "curve", "ndcg@5 (%)") for panel in "abcd"},
        "Figure 3": ("level (%)", "curve", "ndcg@5 (%)"),
    },
    "uniquerating": {
        "Table 1": ("paper's data", "fact", "published", "ours"),
        **{f"Table {number}": TEST_QUALITY for number in (2, 3, 4, 5, 6)},
        "Figure 1": ("collection", "metric", "ours (%)", "half width", "published (%)"),
        "Section 5, training time": ("model", "ms an epoch", "over uRank's", "published"),
        "Section 5, tensors and loops": (),
    },
    "logrank": {
        "Figure 1": (),
        "Figure 2": (),
        **{
            f"Figure 3 {measure}": ("column", "model", "mean", "half width")
            for measure in ("MAP", "NDCG@1", "NDCG@5", "NDCG@10")
        },
        "Figure 3 wins": ("model", "statement", "published", "ours", "difference"),
        **{f"Figure {number}": () for number in (4, 5, 6, 7, 8)},
        "Section 5.3.4": (),
    },
}
"""Figures and tables that sections 2 and 3 of the specification list, with columns that each must have."""


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a study's cases: one process for all, and slow for the crossing, whose notebook CI runs."""
    group = pytest.mark.xdist_group(f"draw {name}")
    return [group, pytest.mark.slow] if name == "crossover" else [group]


STUDIES = [pytest.param(paper.name, marks=marks(paper.name)) for paper in studies()]
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


@pytest.mark.parametrize("study_name", [paper.name for paper in studies()])
def test_each_says_what_to_see_in_it(study_name):
    paper = study(study_name)
    told = captions(paper.notebook_path)
    assert [each.name for each in paper.exhibits if not (told.get(each.name) or each.caption)] == []


@pytest.mark.parametrize(("study_name", "exhibit_name"), EXHIBITS)
def test_an_exhibit_has_rows_and_columns_of_the_paper(drawn, study_name, exhibit_name):
    table, _ = drawn
    assert isinstance(table, pd.DataFrame) and len(table)
    assert set(OF_THE_PAPERS.get(study_name, {}).get(exhibit_name, ())) <= set(table.columns)
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


@pytest.mark.parametrize("study_name", STUDIES)
def test_lines_have_the_colour_of_their_model(draw, results_of_study, study_name):
    results = results_of_study(study_name)
    models = {model for group in results.groups() for model in results.models(group)}
    colours = study(study_name).colours
    for exhibit in study(study_name).exhibits:
        _, figure = draw(study_name, exhibit.name)
        for line in [line for axes in figure.axes for line in axes.lines] if figure else ():
            name = re.split(r", (?:training|validation)$", str(line.get_label()))[0]
            assert name not in models or line.get_color() == colour(name, colours), (exhibit.name, name)


def test_a_model_of_several_papers_has_one_colour():
    given = [(model, colour) for paper in studies() for model, colour in paper.colours.items()]
    assert len(set(given)) == len(dict(given)) < len(given)
