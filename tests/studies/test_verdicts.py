"""Verdicts follow the rules, and the rules keep their errors in thousands of simulated studies."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

from rankplug.statistics import (
    all_alike,
    all_greater,
    any_greater,
    mean_of_queries_and_seeds,
    mean_of_resplits,
    mean_of_trials,
    none_greater,
    p_values,
    repetitions_needed,
    smallest_difference,
)
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


def verdict(values, question=greater):
    parts = values if isinstance(values, dict) else {"": values}
    return judge(question({name: sample(part) for name, part in parts.items()}), margin=0.005).verdict


def test_an_interval_no_longer_than_the_margin_always_decides():
    noise = np.random.default_rng(0)
    for shift in np.linspace(-0.012, 0.012, 49):
        values = shift + 0.002 * noise.standard_normal(8)
        interval = judge(greater({"": sample(values)}), margin=0.005).decisive
        assert interval.high - interval.low > 0.005 or verdict(values) != "inconclusive"


@pytest.mark.parametrize(
    ("question", "parts", "found"),
    [
        (greater, (GAIN,), "holds"),
        (greater, (-GAIN,), "fails"),
        (greater, (NOISE,), "inconclusive"),
        (greater, (SMALL,), "no difference"),
        (greater, (-SMALL,), "no difference"),
        (greater, ([0.1, 0.1, 0.1],), "holds"),
        (greater, ([0.0, 0.0, 0.0],), "no difference"),
        (greater, ([0.5],), "inconclusive"),
        (alike, (SMALL,), "holds"),
        (alike, (GAIN,), "fails"),
        (alike, (-GAIN,), "fails"),
        (alike, (NOISE,), "inconclusive"),
        (alike, ([0.0, 0.0],), "holds"),
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
def test_verdicts_of_one_and_of_several_parts(question, parts, found):
    assert verdict(dict(zip("ab", parts, strict=False)), question) == found


def test_a_part_fails_a_claim_only_after_holm():
    values = -np.array([0.02, 0.05, 0.01, 0.03, 0.012])
    p = stats.ttest_1samp(values, 0, alternative="less").pvalue
    assert 0.025 / 12 < p < 0.025
    assert verdict({"a": values}) == "fails"
    assert verdict({"a": values, **{str(position): GAIN for position in range(11)}}) == "inconclusive"


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


STUDIES = 8_000
ALLOWED = 0.05 + 3 * np.sqrt(0.05 * 0.95 / STUDIES)
"""Five per cent, and what chance adds to the share of false decisions among so many studies."""
SHAPES = list(itertools.product((1, 4, 12), (0.0, 0.7)))


def correlated(parts: int, correlation: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Return normal values whose parts, the second axis, are correlated."""
    noise = np.random.default_rng(seed)
    common = noise.standard_normal((shape[0], 1, *shape[1:]))
    own = noise.standard_normal((shape[0], parts, *shape[1:]))
    return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own


def of_trials(parts: int, correlation: float, truth, spread: float = 1.0, trials: int = 10):
    """Return p values of many studies whose parts have a true difference, in units of the margin."""
    values = spread * correlated(parts, correlation, STUDIES, trials)
    estimate = mean_of_trials(values + np.broadcast_to(truth, parts)[:, None])
    return p_values(estimate.point, estimate.error, estimate.degrees, 1.0)


def share(words: np.ndarray, *which: str) -> float:
    return float(np.isin(words, which).mean())


@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("parts", "correlation"), SHAPES)
def test_no_true_difference_is_taken_for_one_in_five_per_cent_at_most(parts, correlation, spread):
    p = of_trials(parts, correlation, 0.0, spread)
    assert share(all_greater(p), "holds", "fails") <= ALLOWED
    assert share(all_alike(p), "fails") <= ALLOWED
    assert share(any_greater(p), "holds", "fails") <= ALLOWED
    assert share(none_greater(p), "fails") <= ALLOWED


@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("parts", "correlation"), SHAPES)
def test_a_difference_of_the_margin_is_missed_or_turned_round_in_five_per_cent_at_most(parts, correlation, spread):
    above, below = (of_trials(parts, correlation, sign, spread) for sign in (1.0, -1.0))
    assert share(all_greater(above), "fails", "no difference") <= ALLOWED
    assert share(all_greater(below), "holds", "no difference") <= ALLOWED
    assert share(all_alike(above), "holds") <= ALLOWED and share(all_alike(below), "holds") <= ALLOWED
    assert share(any_greater(above), "fails", "no difference") <= ALLOWED
    assert share(any_greater(below), "holds") <= ALLOWED
    assert share(none_greater(above), "holds") <= ALLOWED
    assert share(none_greater(below), "fails") <= ALLOWED


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_one_part_that_does_not_differ_keeps_the_others_from_carrying_the_claim(correlation):
    truth = np.array([0.0, *[3.0] * 11])
    assert share(all_greater(of_trials(12, correlation, truth)), "holds", "fails") <= ALLOWED
    assert share(all_greater(of_trials(12, correlation, -truth)), "holds") == 0.0
    assert share(all_alike(of_trials(12, correlation, truth)), "holds") == 0.0


def test_failing_where_any_part_fails_without_correction_would_err_often():
    """Holm's correction is needed: 4 parts at the plain level fail falsely in about 10 of 100 studies, 12 in 26."""
    for parts, least in ((4, 0.08), (12, 0.2)):
        p = of_trials(parts, 0.0, 0.0)
        plain = (p.less < 0.025).any(axis=-1).mean()
        assert plain > least and share(all_greater(p), "fails") <= ALLOWED


def planted_pool(truth: float, studies: int, splits: int, seed: int = 0) -> np.ndarray:
    """Make differences over random splits of a pool of 200 queries, whose queries favour one model more or less.

    What a query is worth as a test query is its own, and the models of a split gain from its training queries.
    """
    noise = np.random.default_rng(seed)
    queries, test = 200, 50
    as_test, as_training = noise.normal(0, 3, (2, studies, queries))
    means = np.empty((studies, splits))
    for split in range(splits):
        order = noise.permuted(np.tile(np.arange(queries), (studies, 1)), axis=1)
        of_test = np.take_along_axis(as_test, order[:, :test], axis=1).mean(axis=1)
        of_training = np.take_along_axis(as_training, order[:, test:], axis=1).mean(axis=1)
        means[:, split] = truth + of_test + of_training + noise.normal(0, 0.3, studies)
    return means


@pytest.mark.parametrize("splits", [10, 30])
def test_splits_of_one_pool_err_in_five_per_cent_where_a_plain_test_errs_in_thirty(splits):
    studies = 2_000
    allowed = 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)
    values = planted_pool(0.0, studies, splits)

    def shares(estimates) -> float:
        p = p_values(estimates.point[:, None], estimates.error[:, None], estimates.degrees[:, None], 0.05)
        return share(all_greater(p), "holds", "fails")

    assert shares(mean_of_resplits(values, test_to_train=1 / 3)) <= allowed
    assert shares(mean_of_trials(values)) > 0.3


def crossed(truth: float, folds: int, seeds: int, of_models: float, parts: int = 1, correlation: float = 0.0, seed=0):
    """Make tables of queries by seeds for each fold, of 1,500 studies: queries, models and both together deviate."""
    studies, queries = 1_500, 21
    query = 0.2 * correlated(parts, correlation, studies, folds, queries, 1, seed=seed)
    model = of_models * correlated(parts, correlation, studies, folds, 1, seeds, seed=seed + 1)
    rest = 0.1 * correlated(parts, correlation, studies, folds, queries, seeds, seed=seed + 2)
    values = truth + query + model + rest
    estimate = mean_of_queries_and_seeds([values[:, :, fold] for fold in range(folds)])
    return p_values(estimate.point, estimate.error, estimate.degrees, 0.05)


@pytest.mark.parametrize("of_models", [0.0, 0.02, 0.08])
@pytest.mark.parametrize(("folds", "seeds"), [(5, 1), (5, 2), (5, 3), (5, 10), (1, 3), (1, 10)])
def test_folds_and_seeds_err_in_five_per_cent_however_much_models_deviate(folds, seeds, of_models):
    # Satterthwaite's degrees of freedom are themselves estimated, so a share of .05 is met to about a hundredth.
    allowed = 0.06 + 3 * np.sqrt(0.06 * 0.94 / 1_500)
    assert share(all_greater(crossed(0.0, folds, seeds, of_models)), "holds", "fails") <= allowed
    for sign in (-0.05, 0.05):
        assert share(all_alike(crossed(sign, folds, seeds, of_models)), "holds") <= allowed


@pytest.mark.parametrize(("parts", "correlation"), [(4, 0.0), (4, 0.7), (12, 0.0), (12, 0.7)])
def test_folds_and_seeds_of_several_parts_err_in_five_per_cent(parts, correlation):
    allowed = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_500)
    words = all_greater(crossed(0.0, 5, 3, 0.04, parts, correlation))
    assert share(words, "holds", "fails") <= allowed


@pytest.mark.parametrize(("planted", "verdict"), [(0.01, "holds"), (-0.01, "fails"), (0.0005, "no difference")])
def test_a_planted_difference_is_found_in_19_of_20_studies(planted, verdict):
    """Thirty trials whose differences deviate by half a point, as they do on 2,000 made test queries a trial."""
    verdicts = []
    for study in range(20):
        noise = np.random.default_rng([7, study])
        parts = {
            f"ndcg@{k}": Sample(planted + 0.005 * noise.standard_normal(30), IndependentTrials()) for k in (1, 5, 10)
        }
        verdicts.append(judge(greater(parts), margin=0.005, scale=100, measured_in="points").verdict)
    assert verdicts.count(verdict) >= 19
