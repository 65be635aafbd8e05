"""The page of losses is what the plugins say, and shows every loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rankplug_documentation.losses import DRAWN, draw_two_documents, loss_page

from rankplug.registry import registry

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_in_the_tree_is_up_to_date():
    assert (DOCS / "losses.md").read_text() == loss_page(), "run make docs"


def test_every_loss_has_formula_reference_section_and_picture():
    page = loss_page()
    for plugin in registry().plugins("loss"):
        specification = plugin.specification
        assert f"\n## {specification.name}\n" in page
        assert specification.formula, specification.name
        assert specification.paper, specification.name
        assert (DOCS / "images" / "losses" / f"{specification.name}.png").is_file(), "run make docs"


@pytest.mark.parametrize("name", ["softrank", "ranknet"])
def test_the_picture_shows_loss_and_derivative_over_the_gap(name):
    left, right = draw_two_documents(name).axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("loss", "derivative")
    assert left.get_xlabel() == right.get_xlabel() == "score gap"
    gaps, values = left.lines[0].get_data()
    slopes = right.lines[0].get_ydata()
    if name == "ranknet":
        middle = (values[2:] - values[:-2]) / (gaps[2:] - gaps[:-2])
        assert abs(middle - slopes[1:-1]).max() < 1e-3
    assert slopes[:60].mean() < 0


def test_no_picture_is_flat():
    for plugin in registry().plugins("loss"):
        name = plugin.specification.name
        for axes in draw_two_documents(DRAWN.get(name, name)).axes:
            assert np.ptp(axes.lines[0].get_ydata()) > 0.05, name
