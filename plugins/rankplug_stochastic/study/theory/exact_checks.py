"""Evidence on the paper's statements that need no trained model: laws, bounds and what noise does."""

from __future__ import annotations

from rankplug.studies import Check, Checks, Evidence, Results, exact_check
from rankplug_stochastic.study.theory.concrete_density import largest_cell_error, largest_first_error
from rankplug_stochastic.study.theory.cross_entropy_bound import (
    growth_of_the_constant,
    largest_move,
    least_gap,
    least_room,
)
from rankplug_stochastic.study.theory.gradient_variance import farthest_from_one_over_draws
from rankplug_stochastic.study.theory.law_of_differences import SCALES, correlation, distance_from_logistic
from rankplug_stochastic.study.theory.pair_push import IN_ORDER, LOSSES, growth_of_push
from rankplug_stochastic.study.theory.rank_schema import largest_difference

STANDARD_ERRORS = 5.0
"""Largest error of a share in standard errors; the largest of 1,800 is rarely above 4."""


def samples_follow_the_density(results: Results) -> Evidence:
    """Check shares of the cells of Figure 1, and of draws in which each document comes first, in standard errors."""
    control = "draws with beta = .9"
    cells, first = ((largest_cell_error(beta), largest_first_error(beta)) for beta in (1.0, 0.9))
    words = (
        "largest error of 900 cells a triangle in standard errors",
        "largest error of alpha_i over the sum of alpha",
    )
    return Checks(
        {
            name: Check(what, right, at_most=STANDARD_ERRORS, control=wrong, control_of=control)
            for name, what, right, wrong in zip(("cells", "first documents"), words, cells, first, strict=True)
        }
    )


def noise_enters_either_way(results: Results) -> Evidence:
    """Compare ranks from sampled scores with ranks from raw scores with noise in the sigmoids."""
    return Checks(
        {
            "": Check(
                "largest difference of the ranks of three documents in 1000 draws",
                largest_difference(),
                at_most=1e-12,
                control=largest_difference(independent=True),
                control_of="with noise that is independent from pair to pair",
            )
        }
    )


def margins_widen(results: Results) -> Evidence:
    """Check the push on a pair that is in the right order already, with CrossEntropy as the control."""
    return exact_check(
        f"E[ApproxNDCG]'s push at a gap of {IN_ORDER:g} over ApproxNDCG's",
        growth_of_push(LOSSES["ApproxNDCG"]),
        at_least=10.0,
        control=growth_of_push(LOSSES["CrossEntropy"]),
        control_of="of CrossEntropy, which widens margins by itself",
    )


def variance_falls_with_draws(results: Results) -> Evidence:
    """Check the variance of the paper's estimators over numbers of draws, against one draw taken as often."""
    return exact_check(
        "largest deviation of draws times their variance from one draw's, relative to it",
        farthest_from_one_over_draws(),
        at_most=0.15,
        control=farthest_from_one_over_draws(repeated=True),
        control_of="where one draw is repeated",
    )


def bound_holds(results: Results) -> Evidence:
    """Check ``E[H] <= H + log E[e^G]`` on lists of several lengths, spreads of scores and clips."""
    return exact_check(
        "least of the bound less E[H], lists of 2 to 100 documents",
        least_room(),
        at_least=0.0,
        control=least_room(share=0.1),
        control_of="with a tenth of the constant",
    )


def constant_has_no_limit(results: Results) -> Evidence:
    """Check that ``E[e^G]`` goes on growing as the clip falls."""
    exponential, root = growth_of_the_constant()
    return exact_check(
        "E[e^G] with eps = 1e-100 over that with 1e-10",
        exponential,
        at_least=2.0,
        control=root,
        control_of="of E[e^(G/2)], which has a limit",
    )


def best_scores_stay(results: Results) -> Evidence:
    """Check where noise puts the least of CrossEntropy on two documents."""
    return exact_check(
        "largest move of the best score gap of two documents",
        largest_move(),
        at_most=0.01,
        control=largest_move(beta=0.01),
        control_of="with beta = .01",
    )


def best_order_stays(results: Results) -> Evidence:
    """Check the sign of the best gap under noise."""
    return exact_check(
        "least best gap under noise, the first document's target being the larger",
        least_gap(),
        at_least=0.0,
        control=least_gap(share_from=0.4),
        control_of="with targets from .4 on",
    )


def differences_are_logistic(results: Results) -> Evidence:
    """Check the law of ``Z_ij`` by Kolmogorov and Smirnov, and the dependence of pairs by their correlation."""
    words = "distance from the logistic law times sqrt(draws), a thousandth of samples above 1.95"
    laws = {
        f"law, beta = {beta:g}": Check(
            words,
            distance_from_logistic(beta),
            at_most=1.95,
            control=distance_from_logistic(beta, "gaussian"),
            control_of="of Gaussian noise with the same variance",
        )
        for beta in SCALES
    }
    shared = Check(
        "correlation of Z_12 and Z_23 plus 1/2",
        abs(correlation(1.0) + 0.5),
        at_most=0.03,
        control=abs(correlation(1.0, independent=True) + 0.5),
        control_of="of independent draws",
    )
    return Checks({**laws, "pairs that share a document": shared})
