"""Theory of the paper, held against its own printed examples and against formulas."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_uniquerating.study import protocol, theory

import rankplug as rp

STUDY = rp.study("uniquerating")


def test_listnet_prefers_the_wrong_order_of_section_2s_example_and_urank_does_not():
    frame, _ = STUDY.exhibit("Section 2, example").draw(None)
    right, wrong = frame.set_index("loss").T.to_numpy()
    ratings, scores = np.exp([2, 1]) / np.exp([2, 1]).sum(), np.array([20.0, 1.0])
    assert right[0] == pytest.approx(np.log(np.exp(scores).sum()) - ratings @ scores)
    assert right[0] > wrong[0] and right[1] < wrong[1]


def test_the_example_of_section_3_has_its_loss_and_residuals():
    value, gradient = theory.FORMS["tensor"](theory.EXAMPLE_SCORES, theory.EXAMPLE_LABELS)
    assert value == pytest.approx(-0.5 * (3 * (np.log(0.3) + np.log(4 / 11)) + np.log(2 / 7)))
    assert theory.residuals(theory.EXAMPLE_SCORES, theory.EXAMPLE_LABELS) == pytest.approx(-gradient)


def test_residuals_stay_finite_where_algorithm_1_does_not():
    scores, labels = np.array([-400.0, 400.0]), np.array([1.0, 0.0])
    assert theory.residuals(scores, labels) == pytest.approx([1.0, -1.0])
    assert not np.isfinite(theory.FORMS["tensor"](scores, labels)[0])


@pytest.mark.parametrize("window", [1, 2, 3, 9])
def test_the_picture_of_windows_multiplies_to_the_loss(window):
    expected, _ = theory.evaluate_sorted(theory.SCORES, theory.LABELS, f"urank[window={window}]")
    assert theory.loss_of_list(window) == pytest.approx(expected, abs=1e-9)


def test_the_printed_err_falls_with_the_cutoff_in_six_rows():
    """The erratum A1: ERR is a sum of non-negative terms, so that those rows are not of one definition."""
    published = STUDY.published()
    rows = published[published["metric"].isin(protocol.ERR)]
    wide = rows.pivot_table(index=["exhibit", "model"], columns="metric", values="value")[list(protocol.ERR)]
    falling = wide[(wide.diff(axis=1) < 0).any(axis=1)]
    assert falling.index.tolist() == [
        (table, model) for table in ("Table 4", "Table 5") for model in ("LambdaLoss", "LambdaMart-R", "p-ListMLE")
    ]
