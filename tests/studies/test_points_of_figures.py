"""The points that a page tells of a figure lie where its picture shows them."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from PIL import Image

from rankplug.plotting import encode_figure, encode_points, new_figure


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
    points = json.loads(encode_points(figure))
    file = io.BytesIO()
    encode_figure(figure, file, "png")
    assert [words for *_, words in points] == ["a model: 1, 0.5", "a model: 4, 0.25"]
    for (across, down, _), middle in zip(points, middles_of(Image.open(file), (255, 0, 0)), strict=True):
        assert (across, down) == pytest.approx(middle, abs=0.004)
