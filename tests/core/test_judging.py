"""Verdicts are computed: made numbers that must hold, fail or settle nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankplug.studies import Verdict, judge_alike, judge_all, judge_greater, judge_identity

LOW = np.array([0.40, 0.42, 0.41, 0.43, 0.40])
HIGH = LOW + np.array([0.02, 0.03, 0.02, 0.03, 0.02])


def test_a_larger_mean_beyond_chance_holds_and_its_opposite_fails():
    assert judge_greater(HIGH, LOW).verdict == "holds"
    assert judge_greater(LOW, HIGH).verdict == "fails"


def test_a_difference_within_chance_is_inconclusive():
    noise = np.array([0.05, -0.05, 0.04, -0.04, 0.001])
    assert judge_greater(LOW + noise, LOW).verdict == "inconclusive"


def test_the_evidence_tells_the_one_sided_p_value():
    p = stats.ttest_rel(HIGH, LOW, alternative="greater").pvalue
    assert f"p = {p:.2g}" in judge_greater(HIGH, LOW).evidence
    assert "difference +2.4 " in judge_greater(HIGH, LOW, scale=100).evidence


def test_the_level_decides():
    shift = LOW + np.array([0.02, -0.01, 0.02, 0.01, 0.0])
    p = stats.ttest_rel(shift, LOW, alternative="greater").pvalue
    assert judge_greater(shift, LOW, level=p * 1.01).verdict == "holds"
    assert judge_greater(shift, LOW, level=p * 0.99).verdict == "inconclusive"


def test_one_trial_settles_nothing():
    assert judge_greater([0.5], [0.4]).verdict == "inconclusive"
    assert judge_alike([0.5], [0.5], margin=0.1).verdict == "inconclusive"


def test_constant_differences_need_no_variance():
    assert judge_greater([0.5, 0.6], [0.4, 0.5]).verdict == "holds"
    assert judge_greater([0.5, 0.6], [0.5, 0.6]).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([0.001, -0.001, 0.002, -0.002], "holds"),
        ([0.1, -0.1, 0.2, -0.2], "inconclusive"),
        ([0.010, 0.011, 0.012, 0.011], "fails"),
    ],
)
def test_things_are_alike_only_where_the_interval_is_short_and_holds_zero(differences, verdict):
    assert judge_alike(LOW[:4] + differences, LOW[:4], margin=0.01).verdict == verdict


def test_a_claim_of_several_parts_needs_all_of_them():
    parts = judge_greater({"a": HIGH, "b": LOW}, {"a": LOW, "b": LOW})
    assert parts.verdict == "inconclusive"
    assert parts.evidence.startswith("a: difference") and "; b: difference" in parts.evidence
    assert judge_greater({"a": HIGH, "b": LOW}, {"a": LOW, "b": HIGH}).verdict == "fails"
    assert judge_greater({"a": HIGH, "b": HIGH}, {"a": LOW, "b": LOW}).verdict == "holds"


def test_a_claim_about_nothing_that_was_run_is_inconclusive():
    assert judge_all({}).verdict == "inconclusive"


def test_identities_hold_up_to_the_tolerance():
    assert judge_identity(1e-15, 1e-12, "ranks").verdict == "holds"
    assert judge_identity(1e-9, 1e-12, "ranks").verdict == "fails"
    assert judge_identity(math.nan, 1e-12, "ranks").verdict == "fails"


def test_there_are_three_verdicts():
    with pytest.raises(ValueError, match="perhaps"):
        Verdict("perhaps", "")
