"""Theory of the paper: laws of noise, bounds and margins, held against closed forms and counts."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_stochastic.study import losses, noise
from rankplug_stochastic.study.losses import best_expected_gap, best_gap

import rankplug as rp

STUDY = rp.study("stochastic")


def test_the_variance_of_draws_is_told_from_that_of_one_draw_repeated():
    frame, figure = STUDY.exhibit("Variance and draws").draw(None)
    known = frame.set_index(["draws", "estimator", "scores of spread"])["variance"]
    assert (known[1] / known[8]).to_numpy() == pytest.approx(8, rel=0.3) and len(figure.axes) == 3


def test_the_constant_of_equation_14_is_an_expectation():
    draws = np.random.default_rng(2).uniform(1e-3, 1 - 1e-3, 400_000)
    assert np.log(np.mean(1 / -np.log(draws))) == pytest.approx(losses.log_mean_exponential(1e-3), abs=0.02)
    assert np.mean((-np.log(draws)) ** -0.5) == pytest.approx(losses.mean_root(1e-3), rel=0.01)
    assert losses.mean_root(1e-100) == pytest.approx(np.sqrt(np.pi), rel=1e-6)
    for eps, value in ((1e-6, 2.5831), (1e-10, 3.1112), (1e-20, 3.8172)):
        assert losses.log_mean_exponential(eps) == pytest.approx(value, abs=5e-5)


def test_our_loss_under_our_noise_lies_between_equation_8_and_equation_14():
    frame = losses.bound_frame()
    assert (frame["E[H]"] > frame["H"] - 0.02).all() and (frame["bound"] > frame["E[H]"]).all()
    row = frame[(frame["documents"] == 10) & (frame["spread of the scores"] == 0) & (frame["eps"] == 1e-10)].iloc[0]
    labels = np.where(np.arange(10) % 4 == 0, 2.0, np.arange(10) % 2)
    ours = rp.loss("cross_entropy").evaluate(np.zeros(10), labels, [0, 10], sampler="gumbel[beta=1,samples=4000]")
    assert ours.value[0] == pytest.approx(row["E[H]"], abs=0.08)


def test_the_push_on_an_ordered_pair_is_that_of_exact_integrals():
    frame, figure = STUDY.exhibit("Margins").draw(None)
    approx = frame[frame["loss"] == "ApproxNDCG"].set_index("gap")
    for gap, plain, expected in ((0.05, 0.9134, 0.0915), (0.5, 0.0473, 0.0874), (2.0, 0.0, 0.0410)):
        row = approx.iloc[np.abs(approx.index - gap).argmin()]
        assert row["plain"] == pytest.approx(plain, abs=1e-4)
        assert row["expected"] == pytest.approx(expected, abs=0.01)
    assert len(figure.axes) == 2


def test_figure_1_shares_of_draws_are_those_of_the_closed_density():
    frame = noise.density_frame()
    for _, shares in frame.groupby("alpha"):
        assert shares["sampled share"].sum() == pytest.approx(1.0)
        assert shares["density share"].sum() == pytest.approx(1.0, abs=0.01)
        # Chance alone moves 100,000 draws in 900 cells by about 0.4 sqrt(900 / 100,000) = 0.038 of their mass.
        assert abs(shares["sampled share"] - shares["density share"]).sum() / 2 < 0.04


@pytest.mark.parametrize(
    ("share", "plain", "expected"), [(0.6, 0.4055, 0.607), (0.75, 1.0986, 1.632), (0.9, 2.1972, 3.189)]
)
def test_noise_stretches_the_best_gap_of_cross_entropy(share, plain, expected):
    assert best_gap(share) == pytest.approx(plain, abs=1e-4)
    gap = best_expected_gap(share)
    assert gap == pytest.approx(expected, abs=1e-3)
    ratio = np.exp(gap)
    # The mean of sigma(gap + Z) over a standard logistic Z in closed form.
    assert ratio * (ratio - 1 - gap) / (ratio - 1) ** 2 == pytest.approx(share, abs=1e-9)
