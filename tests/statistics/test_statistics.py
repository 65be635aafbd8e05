"""Statistics agree with SciPy, statsmodels, closed forms and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from rankplug.errors import DataError
from rankplug.statistics import (
    critical_difference,
    effect_size,
    hierarchical_bootstrap,
    holm,
    paired_permutation_test,
    paired_t_test,
    t_interval,
)

NORMAL = np.random.default_rng(20260101)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_t_interval_is_that_of_statsmodels(level):
    values = NORMAL.normal(0.4, 0.05, size=17)
    interval = t_interval(values, unit="trials", level=level)
    assert (interval.low, interval.high) == pytest.approx(DescrStatsW(values).tconfint_mean(alpha=1 - level), rel=1e-12)
    assert interval.point == pytest.approx(values.mean())
    assert (interval.count, interval.unit, interval.level) == (17, "trials", level)


def test_one_trial_gives_no_interval():
    interval = t_interval([0.5], unit="trials")
    assert interval.point == 0.5 and math.isnan(interval.low) and math.isnan(interval.high)
    assert str(interval) == "0.5000 (one value, so no interval; unit: trials)"


def test_paired_t_test_is_that_of_its_formula():
    first = NORMAL.normal(0.42, 0.02, size=20)
    second = first - NORMAL.normal(0.004, 0.01, size=20)
    result = paired_t_test(first, second, unit="trials")
    t = (first - second).mean() / ((first - second).std(ddof=1) / math.sqrt(20))
    assert (result.statistic, result.difference) == pytest.approx((t, (first - second).mean()), rel=1e-12)
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(t), 19), rel=1e-9)
    assert result.degrees_of_freedom == 19 and result.pairs == 20 and not result.constant


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20))
def test_equal_models_have_p_1(values):
    result = paired_t_test(values, values, unit="queries")
    assert (result.p_value, result.difference, result.constant) == (1.0, 0.0, True)


def test_a_constant_difference_has_p_0_and_is_flagged():
    first = np.array([0.1, 0.2, 0.3, 0.7])
    result = paired_t_test(first + 0.1, first, unit="trials")
    assert (result.p_value, result.constant, result.statistic) == (0.0, True, math.inf)
    assert "all differences equal" in str(result)
    assert paired_t_test(first, first + 0.1, unit="trials").statistic == -math.inf


def test_small_permutation_tests_try_every_pattern_of_signs():
    first, second = np.random.default_rng(5).normal([[0.8], [0.0]], 1.0, size=(2, 8))
    differences = first - second
    means = [np.mean(differences * signs) for signs in itertools.product((-1, 1), repeat=8)]
    right = np.mean(np.array(means) >= differences.mean() - 1e-12)
    left = np.mean(np.array(means) <= differences.mean() + 1e-12)
    found = paired_permutation_test(first, second, unit="trials")
    assert found.p_value == pytest.approx(min(1.0, 2 * min(left, right)), rel=1e-12)


@pytest.mark.parametrize("size", [4, 8, 12, 40])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_intervals_hold_the_shifts_that_the_test_accepts(size, level):
    first, second = np.random.default_rng(size).normal([[0.5], [0.0]], 1.0, size=(2, size))
    for test in (paired_t_test, paired_permutation_test):
        result = test(first, second, unit="trials", level=level)
        assert result.low < result.difference < result.high
        for end, outward in ((result.low, -1), (result.high, 1)):
            if math.isinf(end):
                assert 2 / 2**size > 1 - level, "so few pairs that no shift is rejected"
                continue
            inside, outside = (test(first - end - way * 1e-6, second, unit="trials") for way in (-outward, outward))
            assert outside.p_value <= 1 - level + 1e-9 < inside.p_value + 1e-5


def test_permutation_test_rejects_5_percent_under_the_null():
    generator = np.random.default_rng(7)
    p_values = [
        paired_permutation_test(*generator.normal(size=(2, 7)), unit="trials", resamples=200).p_value
        for _ in range(400)
    ]
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 400))


def test_bootstrap_has_the_variance_of_both_levels():
    generator = np.random.default_rng(9)
    values = generator.normal(0, 1, size=(12, 1)) + generator.normal(0, 2, size=(12, 60))
    interval = hierarchical_bootstrap(list(values), resamples=6_000, seed=3)
    variance = values.mean(axis=1).var() / 12 + values.var(axis=1).mean() / (12 * 60)
    assert interval.half_width == pytest.approx(stats.norm.ppf(0.975) * math.sqrt(variance), rel=0.12)


def test_bootstrap_skips_missing_queries_and_repeats_itself():
    values = np.random.default_rng(10).random((3, 20))
    holed = [np.concatenate([row, [np.nan]]) for row in values]
    assert hierarchical_bootstrap(list(values), seed=4) == hierarchical_bootstrap(holed, seed=4)


@settings(max_examples=6)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_its_definition(p_values):
    correction = holm(p_values, level=0.05)
    order = np.argsort(p_values, kind="stable")
    expected, largest = np.empty(len(p_values)), 0.0
    for position, test in enumerate(order):
        largest = max(largest, min(1.0, p_values[test] * (len(p_values) - position)))
        expected[test] = largest
    assert correction.p_values == pytest.approx(expected.tolist())
    assert list(correction.rejected) == [p_value <= 0.05 for p_value in correction.p_values]


def test_effect_size_is_the_difference_in_deviations():
    first, second = np.array([3.0, 5.0, 7.0, 9.0]), np.array([2.0, 2.0, 6.0, 6.0])
    assert effect_size(first, second) == pytest.approx(2.0 / math.sqrt(4 / 3) * (1 - 3 / 11))
    assert effect_size(first, first) == 0.0 and effect_size(first + 1, first) == math.inf


@pytest.mark.parametrize(("models", "q"), [(3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)])
def test_critical_difference_matches_demsar_2006_table_5a(models, q):
    difference = critical_difference(np.random.default_rng(13).random((14, models)), unit="data sets")
    assert difference.critical_difference == pytest.approx(q * math.sqrt(models * (models + 1) / (6 * 14)), rel=3e-4)


def test_friedman_is_that_of_scipy_and_ranks_the_best_first():
    table = np.random.default_rng(14).normal([0.0, 0.9, 0.1, 0.0], 0.5, size=(9, 4))
    difference = critical_difference(table, unit="data sets")
    expected = stats.friedmanchisquare(*table.T)
    assert (difference.friedman_statistic, difference.p_value) == pytest.approx(tuple(expected))
    assert int(np.argmin(difference.average_ranks)) == 1
    assert sum(difference.average_ranks) == pytest.approx(4 * 5 / 2)


def test_models_that_always_tie_are_one_group():
    difference = critical_difference(np.ones((5, 3)), unit="queries")
    assert difference.p_value == 1.0 and difference.groups == ((0, 1, 2),)


def test_impossible_input_is_refused():
    for first, second in (([1.0], [2.0]), ([1, np.nan], [2, 3]), ([1, 2], [1, 2, 3])):
        with pytest.raises(DataError):
            paired_t_test(first, second, unit="trials")
    with pytest.raises(DataError):
        holm([0.5, 1.5])
