"""The rules keep their errors: thousands of made studies whose truth is known, of every design and number of parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankplug.statistics import (
    all_alike,
    all_greater,
    any_greater,
    mean_of_queries_and_seeds,
    mean_of_resplits,
    mean_of_trials,
    none_greater,
    p_values,
)
from rankplug.studies import IndependentTrials, Sample, greater, judge

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
def test_a_planted_difference_is_verdictsin_19_of_20_studies(planted, verdict):
    """Thirty trials whose differences deviate by half a point, as they do on 2,000 made test queries a trial."""
    verdicts = []
    for study in range(20):
        noise = np.random.default_rng([7, study])
        parts = {
            f"ndcg@{k}": Sample(planted + 0.005 * noise.standard_normal(30), IndependentTrials()) for k in (1, 5, 10)
        }
        verdicts.append(judge(greater(parts), margin=0.005, scale=100, measured_in="points").verdict)
    assert verdicts.count(verdict) >= 19
