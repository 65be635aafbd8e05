"""The rule that keeps an iteration: lexicographic, with a tolerance, and patience."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankplug.training._training_loop import TOLERANCE, Selection

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


@given(rows)
def test_the_kept_iteration_is_the_first_lexicographic_maximum(values):
    selection = Selection(("ndcg@1", "ndcg@3"))
    for iteration, row in enumerate(values):
        selection.improves(iteration, row)
    assert selection.best_iteration == values.index(max(values))


def test_a_difference_within_the_tolerance_leaves_the_decision_to_the_next_metric():
    selection = Selection(("ndcg@1", "ndcg@3"))
    assert selection.improves(0, (0.5, 0.3))
    assert not selection.improves(1, (0.5 + TOLERANCE / 2, 0.2))
    assert selection.improves(2, (0.5 - TOLERANCE / 2, 0.4))
    assert not selection.improves(3, (0.4, 0.9))


def test_of_losses_the_lowest_is_kept():
    selection = Selection(("loss",))
    assert [selection.improves(i, (value,)) for i, value in enumerate((3.0, 2.0, 2.5))] == [True, True, False]


def test_a_metric_that_is_undefined_gives_way_to_one_that_is_not():
    selection = Selection(("ndcg@5",))
    assert selection.improves(0, (float("nan"),))
    assert selection.improves(1, (0.1,))
    assert not selection.improves(2, (float("nan"),))
