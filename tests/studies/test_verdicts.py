"""Verdicts follow the rules: made numbers that must hold, fail, make no difference or settle nothing."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from rankplug.statistics import mean_of_queries_and_seeds, mean_of_trials, repetitions_needed, smallest_difference
from rankplug.studies import (
    Check,
    Checks,
    IndependentTrials,
    OfficialFolds,
    Resplits,
    Sample,
    Verdict,
    WeightedSum,
    alike,
    greater,
    judge,
    no_greater,
    not_run,
    some_greater,
)

GAIN = np.array([0.02, 0.03, 0.02, 0.03, 0.02])
NOISE = np.array([0.05, -0.05, 0.04, -0.04, 0.001])
SMALL = np.array([0.0010, 0.0012, 0.0011, 0.0013, 0.0009])


def sample(values, design=None) -> Sample:
    return Sample(np.asarray(values, float), design or IndependentTrials())


def verdict(values, question=greater, margin=0.005):
    parts = values if isinstance(values, dict) else {"": values}
    return judge(question({name: sample(part) for name, part in parts.items()}), margin=margin).verdict


def test_a_lead_holds_and_its_opposite_fails():
    assert verdict(GAIN) == "holds" and verdict(-GAIN) == "fails"


def test_what_chance_may_have_made_is_inconclusive():
    assert verdict(NOISE) == "inconclusive"


def test_a_significant_difference_within_the_margin_is_none_that_matters():
    assert stats.ttest_1samp(SMALL, 0).pvalue < 0.001
    assert verdict(SMALL) == verdict(-SMALL) == "no difference"
    assert verdict(SMALL, alike) == "holds" and verdict(SMALL, margin=0.0005) == "holds"


def test_a_significant_difference_beyond_the_margin_is_no_likeness():
    assert verdict(GAIN, alike) == verdict(-GAIN, alike) == "fails"
    assert verdict(NOISE, alike) == "inconclusive"


def test_an_interval_no_longer_than_the_margin_always_decides():
    noise = np.random.default_rng(0)
    for shift in np.linspace(-0.012, 0.012, 49):
        values = shift + 0.002 * noise.standard_normal(8)
        interval = judge(greater({"": sample(values)}), margin=0.005).decisive
        assert interval.high - interval.low > 0.005 or verdict(values) != "inconclusive"


@pytest.mark.parametrize(
    ("question", "parts", "found"),
    [
        (greater, (GAIN, GAIN), "holds"),
        (greater, (GAIN, NOISE), "inconclusive"),
        (greater, (GAIN, -GAIN), "fails"),
        (greater, (GAIN, SMALL), "no difference"),
        (greater, (SMALL, -SMALL), "no difference"),
        (greater, (SMALL, NOISE), "inconclusive"),
        (some_greater, (GAIN, -GAIN), "holds"),
        (some_greater, (-GAIN, -GAIN), "fails"),
        (some_greater, (SMALL, -GAIN), "no difference"),
        (some_greater, (NOISE, -GAIN), "inconclusive"),
        (no_greater, (SMALL, -GAIN), "holds"),
        (no_greater, (-GAIN,), "holds"),
        (no_greater, (GAIN, -GAIN), "fails"),
        (no_greater, (NOISE, -GAIN), "inconclusive"),
    ],
)
def test_a_claim_needs_all_some_or_none_of_its_parts(question, parts, found):
    assert verdict(dict(zip("ab", parts, strict=False)), question) == found


def test_a_part_fails_a_claim_only_after_holm():
    values = -np.array([0.02, 0.05, 0.01, 0.03, 0.012])
    p = stats.ttest_1samp(values, 0, alternative="less").pvalue
    assert 0.025 / 12 < p < 0.025
    assert verdict({"a": values}) == "fails"
    assert verdict({"a": values, **{str(position): GAIN for position in range(11)}}) == "inconclusive"


def test_one_trial_settles_nothing_and_says_so():
    verdict = judge(greater({"": sample([0.5])}), margin=0.005)
    assert verdict.verdict == "inconclusive" and "no interval" in verdict.sentence


def test_equal_values_need_no_spread():
    assert verdict([0.1, 0.1, 0.1]) == "holds"
    assert verdict([0.0, 0.0, 0.0]) == "no difference" and verdict([0.0, 0.0], alike) == "holds"


def test_the_decisive_part_comes_first_and_keeps_its_margin():
    verdict = judge(greater({"sure": sample(GAIN), "unsure": sample(NOISE)}), margin=0.005)
    assert verdict.decisive.name == "unsure" and verdict.decisive.answer == "open"
    assert verdict.decisive.in_margins[0] == pytest.approx(NOISE.mean() / 0.005)


def test_what_would_decide_is_told_and_true():
    noise = np.random.default_rng(5)
    few = 0.01 * noise.standard_normal(6)
    verdict = judge(greater({"": sample(few)}), margin=0.005, cost=lambda runs: 2.0)
    assert verdict.needs.repetitions > 6 and verdict.needs.core_minutes == 2.0 * (verdict.needs.repetitions - 6)
    enough, short = verdict.needs.repetitions, verdict.needs.repetitions // 2
    spread = few.std(ddof=1)

    def share(trials: int) -> float:
        values = 0.005 + spread * noise.standard_normal((4_000, trials))
        t, p = stats.ttest_1samp(values, 0, axis=1)
        return float(((p < 0.05) & (t > 0)).mean())

    assert share(enough) == pytest.approx(0.8, abs=0.04) and share(short) < 0.7


def test_the_smallest_difference_is_found_with_power_eight_tenths():
    noise = np.random.default_rng(6)
    values = noise.standard_normal((4_000, 20))
    smallest = (stats.t.isf(0.025, 19) + stats.t.ppf(0.8, 19)) / np.sqrt(20)
    _, p = stats.ttest_1samp(values + smallest, 0, axis=1)
    assert (p < 0.05).mean() == pytest.approx(0.8, abs=0.03)
    one = values[0] / values[0].std(ddof=1)
    assert smallest_difference(mean_of_trials(one)) == pytest.approx(smallest)


def test_splits_of_a_small_pool_never_decide_a_small_margin():
    verdict = judge(greater({"": sample(NOISE, Resplits(1 / 3))}), margin=0.005)
    assert verdict.needs.repetitions is None and "it takes more queries" in verdict.sentence
    assert repetitions_needed(sample(NOISE).estimate, 0.005) > 100


def test_folds_with_one_seed_are_repeated_by_fold_and_one_fold_settles_nothing():
    noise = np.random.default_rng(1)
    tables = tuple(0.02 + 0.01 * noise.standard_normal((20, 1)) for _ in range(5))
    estimate = Sample(tables, OfficialFolds()).estimate
    means = np.array([table.mean() for table in tables])
    assert estimate.point == pytest.approx(means.mean()) and estimate.error == pytest.approx(stats.sem(means))
    assert judge(greater({"": Sample(tables[:1], OfficialFolds())}), margin=0.005).verdict == "inconclusive"


def test_mean_squares_are_those_of_a_two_way_analysis():
    noise = np.random.default_rng(2)
    table = noise.standard_normal((30, 1)) + noise.standard_normal((1, 6)) + noise.standard_normal((30, 6))
    of_query = 6 * table.mean(1).var(ddof=1)
    of_seed = 30 * table.mean(0).var(ddof=1)
    rest = table - table.mean(1, keepdims=True) - table.mean(0, keepdims=True) + table.mean()
    variance = (of_query + of_seed - (rest**2).sum() / (29 * 5)) / (30 * 6)
    assert mean_of_queries_and_seeds([table]).error == pytest.approx(np.sqrt(variance))


def test_collections_are_summed_by_weight():
    noise = np.random.default_rng(3)
    first, second = (Sample(noise.standard_normal(10), IndependentTrials()) for _ in range(2))
    estimate = WeightedSum((first, second), (0.75, 0.25)).estimate
    assert estimate.point == pytest.approx(0.75 * first.values.mean() + 0.25 * second.values.mean())
    expected = math.hypot(0.75 * stats.sem(first.values), 0.25 * stats.sem(second.values))
    assert estimate.error == pytest.approx(expected) and 9 <= estimate.degrees <= 18


def test_an_exact_check_decides_by_its_number_and_needs_a_control_that_differs():
    right = Check("largest error", 1e-13, at_most=1e-9, control=0.3, control_of="another formula")
    wrong = Check("largest error", 0.3, at_most=1e-9, control=1e-13)
    blind = Check("slack", 1e-13, at_least=-1e-9, control=0.0, control_of="a false bound")
    assert judge(Checks({"": right})).verdict == "holds" and judge(Checks({"": wrong})).verdict == "fails"
    assert judge(Checks({"": blind})).verdict == "inconclusive"
    assert judge(Checks({"": right, "b": wrong})).verdict == "fails"
    assert "another formula: 0.3" in judge(Checks({"": right})).sentence
    assert judge(Checks({"": Check("error", math.nan, at_most=1.0, control=0.5)})).verdict == "fails"


def test_what_was_not_run_has_no_verdict():
    for question in (greater, alike, some_greater, no_greater):
        assert judge(question({}), margin=1.0).verdict == "not run"
    assert judge(not_run("no collection of this shape"), margin=1.0).sentence == "no collection of this shape"


def test_a_verdict_is_read_back_as_it_was_written():
    for values in (GAIN, NOISE, [0.5]):
        verdict = judge(greater({"a": sample(values)}), margin=0.005, scale=100, measured_in="points", data="made data")
        again = Verdict.read(json.loads(json.dumps(verdict.describe())))
        assert again.sentence == verdict.sentence and again.verdict == verdict.verdict and again.data == "made data"
