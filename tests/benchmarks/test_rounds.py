"""Contestants run by turns, noisy rounds do not count, and what is reported is computed round by round."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_benchmarks.harness.rounds import (
    MOST_CALLS,
    TOLERANCE,
    Rounds,
    SelfTimedContestant,
    Spread,
    by_turns,
    calls_a_turn,
)

TIMES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


def told(seconds: list[float]) -> SelfTimedContestant:
    """Return a contestant that says it took these seconds, one after another and again from the first."""
    each = itertools.cycle(seconds)
    return SelfTimedContestant(lambda: next(each))


def test_a_round_goes_when_its_yardstick_strays_by_more_than_a_quarter():
    rounds = Rounds({"ours": (1, 2, 3, 4, 5), "peer": (10.0, 12.4, 12.6, 7.4, 10.0)}, "peer").calm()
    assert rounds.seconds["peer"] == (10.0, 12.4, 10.0)
    assert rounds.seconds["ours"] == (1, 2, 5)
    assert (len(rounds), rounds.discarded, rounds.unquiet) == (3, 2, False)


def test_what_another_contestant_does_discards_nothing():
    rounds = Rounds({"ours": (1.0, 50.0, 1.0), "peer": (2.0, 2.0, 2.0)}, "peer").calm()
    assert (len(rounds), rounds.discarded) == (3, 0)


def test_where_few_rounds_would_be_left_all_stay_and_are_called_unquiet():
    rounds = Rounds({"peer": (1.0, 2.0, 4.0, 8.0, 16.0)}, "peer").calm()
    assert (len(rounds), rounds.discarded, rounds.unquiet) == (5, 0, True)


@given(TIMES)
def test_kept_and_discarded_rounds_are_all_rounds_and_kept_ones_are_near_the_median(seconds):
    rounds = Rounds({"peer": tuple(seconds)}, "peer").calm()
    assert len(rounds) + rounds.discarded == len(seconds)
    middle = statistics.median(seconds)
    if not rounds.unquiet:
        assert 2 * len(rounds) >= len(seconds)
        assert all(abs(one - middle) <= TOLERANCE * middle for one in rounds.seconds["peer"])


@given(TIMES)
def test_a_spread_is_numpys_median_and_quartiles(seconds):
    spread = Spread.of(seconds)
    assert [spread.low, spread.median, spread.high] == pytest.approx(list(np.percentile(seconds, [25, 50, 75])))


def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians():
    rounds = Rounds({"ours": (1.0, 4.0, 9.0), "peer": (10.0, 10.0, 10.9)}, "peer")
    ratio = rounds.quantity(lambda seconds: seconds["ours"] / seconds["peer"])
    assert ratio.median == pytest.approx(0.4)
    assert ratio.high == pytest.approx((0.4 + 9 / 10.9) / 2)


def test_contestants_take_turns_in_alternating_order_after_the_warm_up():
    seen = []
    by_turns({"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 2, warm_up=1)
    assert "".join(seen)[:6] in ("baabba", "abbaab")


def test_the_warm_up_is_not_counted():
    assert by_turns({"peer": told([100.0, 1.0, 1.0, 1.0])}, 3).seconds["peer"] == (1.0, 1.0, 1.0)


def test_a_discarded_round_is_run_again():
    rounds = by_turns({"ours": told([1.0] * 9), "peer": told([1.0, 1.0, 9.0, 1.0, 1.0, 1.0])}, 4)
    assert (len(rounds), rounds.discarded) == (4, 1)


def test_rounds_end_when_twice_as_many_as_wanted_were_run():
    calls = []
    by_turns({"peer": SelfTimedContestant(lambda: calls.append(1) or 2.0 ** len(calls))}, 5, warm_up=0)
    assert len(calls) == 10


def test_several_calls_of_a_round_are_averaged():
    assert by_turns({"peer": told([1.0, 3.0])}, 2, calls=2).seconds["peer"] == (2.0, 2.0)


def test_the_clock_times_what_does_not_time_itself():
    import time

    rounds = by_turns({"sleep": lambda: time.sleep(0.02)}, 2)
    assert all(0.02 <= one < 2 for one in rounds.seconds["sleep"])


def test_what_is_short_is_called_so_often_that_a_turn_takes_some_hundredths_of_a_second():
    assert calls_a_turn(SelfTimedContestant(lambda: 0.004)) == 5
    assert calls_a_turn(SelfTimedContestant(lambda: 3.0)) == 1
    assert calls_a_turn(SelfTimedContestant(lambda: 1e-6)) == MOST_CALLS
