"""A failing input is made as small and as plain as it can be while it still fails."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies

from rankplug.testing._checks import CheckInput, smallest


def lists(*lengths: int, seed: int = 0) -> CheckInput:
    generator = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return CheckInput(generator.normal(size=starts[-1]), generator.integers(0, 5, starts[-1]).astype(float), starts)


def test_what_has_no_part_in_a_failure_is_left_out():
    shrunk = smallest(lists(7, 30, 11), lambda one: bool((one.labels >= 3).any()))
    assert (shrunk.scores.size, shrunk.starts.tolist()) == (1, [0, 1])


def test_a_failure_that_needs_two_lists_keeps_two():
    shrunk = smallest(lists(7, 30, 11), lambda one: len(one.starts) == 3)
    assert shrunk.starts.tolist() == [0, 1, 2]


def test_numbers_become_round_and_labels_small():
    shrunk = smallest(lists(9), lambda case: bool((case.labels[:, None] > case.labels).any()))
    assert shrunk.labels.tolist() in ([0.0, 1.0], [1.0, 0.0])
    assert all(round(score, 1) == score for score in shrunk.scores)


def test_scores_that_differ_stay_different():
    shrunk = smallest(CheckInput.of([0.301, 0.302, 0.304], [0, 1, 2]), lambda one: one.scores.size == 3)
    assert np.unique(shrunk.scores).size == 3


@given(strategies.lists(strategies.integers(1, 6), min_size=1, max_size=5), strategies.data())
def test_leaving_documents_out_keeps_the_others_in_their_lists(lengths, data):
    whole = lists(*lengths)
    first = data.draw(strategies.integers(0, whole.scores.size - 1))
    last = data.draw(strategies.integers(first + 1, whole.scores.size))
    left = whole.without(first, last)
    of_list = np.repeat(np.arange(len(lengths)), lengths)
    kept = [position for position in range(whole.scores.size) if not first <= position < last]
    assert left.scores.tolist() == whole.scores[kept].tolist()
    members = [of_list[kept][begin:end].tolist() for begin, end in zip(left.starts, left.starts[1:], strict=False)]
    assert members == [
        [fromkey] * of_list[kept].tolist().count(fromkey) for fromkey in dict.fromkeys(of_list[kept].tolist())
    ]


@given(strategies.integers(0, 1000))
def test_every_smaller_input_is_a_sound_one(seed):
    for smaller in lists(3, 1, 4, seed=seed).smaller():
        assert smaller.starts[-1] == smaller.scores.size == smaller.labels.size
        assert (np.diff(smaller.starts) > 0).all()
