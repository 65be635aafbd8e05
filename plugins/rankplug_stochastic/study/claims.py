"""The paper's claims, each with the statistic that judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from rankplug.studies import Claim, Results, Verdict, judge_alike, judge_all, judge_greater, judge_identity
from rankplug_stochastic.study.concrete_density import largest_cell_error, largest_first_error
from rankplug_stochastic.study.convergence import METRIC, first_group
from rankplug_stochastic.study.protocol import METRICS
from rankplug_stochastic.study.rank_schema import largest_difference

MARGIN = 0.01
"""A difference of NDCG that would matter."""
STANDARD_ERRORS = 5.0
"""By how many a share may be off; the largest of 1,800 is rarely above 4."""


def best_validation(results: Results, group: str, model: str) -> pd.Series[float]:
    """The highest validation NDCG@5 of each trial."""
    return results.curve_of_trials(group, model, "valid", METRIC).max()


def gap_curve(results: Results, group: str, baseline: str) -> pd.DataFrame:
    """Validation NDCG@5 of the expected loss minus the baseline's: a row an iteration, a column a trial."""
    expected = results.curve_of_trials(group, f"E[{baseline}]", "valid", METRIC)
    return (expected - results.curve_of_trials(group, baseline, "valid", METRIC)).dropna()


def stretch(curve: pd.DataFrame, begin: float, end: float) -> pd.Series[float]:
    """Mean over a part of the iterations, from and to a share of them, for each trial."""
    first = int(begin * len(curve))
    return curve.iloc[first : max(int(np.ceil(end * len(curve))), first + 1)].mean()


def cross_entropy_unchanged(results: Results) -> Verdict:
    """Test NDCG@5 under the same settings."""
    trials = results.trials(first_group(results, "fixed"), METRIC)
    return judge_alike(trials["E[CrossEntropy]"], trials["CrossEntropy"], margin=MARGIN, scale=100)


def approx_reaches_higher(results: Results) -> Verdict:
    """Best validation NDCG@5 under the same settings."""
    group = first_group(results, "fixed")
    expected, baseline = (best_validation(results, group, model) for model in ("E[ApproxNDCG]", "ApproxNDCG"))
    return judge_greater(expected, baseline, level=0.1, scale=100)


def approx_gap_grows(results: Results) -> Verdict:
    """The gap in the last third of training against the first third."""
    gaps = gap_curve(results, first_group(results, "fixed"), "ApproxNDCG")
    return judge_greater(stretch(gaps, 2 / 3, 1), stretch(gaps, 0, 1 / 3), scale=100)


def approx_overfits_earlier(results: Results) -> Verdict:
    """The epoch of the best validation NDCG@5, the baseline's against the expected loss's."""
    group = first_group(results, "fixed")
    best = {
        model: results.curve_of_trials(group, model, "valid", METRIC).idxmax()
        for model in ("ApproxNDCG", "E[ApproxNDCG]")
    }
    return judge_greater(best["ApproxNDCG"], best["E[ApproxNDCG]"])


def rises_faster(baseline: str) -> Callable[[Results], Verdict]:
    """Area under the first quarter of the validation curve, the expected loss's less the baseline's."""

    def judge(results: Results) -> Verdict:
        early = stretch(gap_curve(results, first_group(results, "fixed"), baseline), 0, 0.25)
        return judge_greater(early, 0 * early, scale=100)

    return judge


def trees_stay_above(results: Results) -> Verdict:
    """Area under the whole validation curve."""
    gaps = gap_curve(results, first_group(results, "fixed"), "lambdaMART")
    whole = gaps.mean()
    return judge_greater(whole, 0 * whole, scale=100)


def tree_gap_largest_early(results: Results) -> Verdict:
    """The gap in the first quarter of the trees against the last quarter."""
    gaps = gap_curve(results, first_group(results, "fixed"), "lambdaMART")
    return judge_greater(stretch(gaps, 0, 0.25), stretch(gaps, 0.75, 1), scale=100)


def tuning_widens_the_gap(results: Results) -> Verdict:
    """Best validation NDCG@5 of the tuned expected loss against the one with the baseline's settings."""
    fixed, tuned = (best_validation(results, first_group(results, one), "E[ApproxNDCG]") for one in ("fixed", "tuned"))
    return judge_greater(tuned, fixed, scale=100)


def better_at_every_cutoff(better: str, worse: str) -> Callable[[Results], Verdict]:
    """Test NDCG at the cut-offs of Table 1, on every collection."""

    def judge(results: Results) -> Verdict:
        places = {
            f"{group.removeprefix('tuned ')} {metric}": results.trials(group, metric)
            for group in results.groups("tuned")
            for metric in METRICS
            if {better, worse} <= set(results.models(group))
        }
        return judge_greater(_column(places, better), _column(places, worse), scale=100)

    return judge


def cross_entropy_pair_alike(results: Results) -> Verdict:
    """Test NDCG at the cut-offs of Table 1."""
    group = first_group(results, "tuned")
    trials = {metric: results.trials(group, metric) for metric in METRICS}
    return judge_alike(_column(trials, "E[CrossEntropy]"), _column(trials, "CrossEntropy"), margin=MARGIN, scale=100)


def _column(frames: Mapping[str, pd.DataFrame], model: str) -> dict[str, pd.Series[float]]:
    return {name: frame[model] for name, frame in frames.items()}


def samples_follow_the_density(results: Results) -> Verdict:
    """Shares of the cells of Figure 1, and of the draws in which each document comes first, in standard errors."""
    return judge_all(
        {
            "cells": judge_identity(largest_cell_error(), STANDARD_ERRORS, "900 cells a triangle, standard errors"),
            "first documents": judge_identity(
                largest_first_error(), STANDARD_ERRORS, "alpha_i over the sum of alpha, standard errors"
            ),
        }
    )


def noise_enters_either_way(results: Results) -> Verdict:
    """Ranks from sampled scores against ranks from raw scores with noise in the sigmoids."""
    return judge_identity(largest_difference(), 1e-12, "ranks of three documents, 1000 draws")


CLAIMS = (
    Claim(
        "Figure 1: perturbed scores follow the Concrete density; a document comes first as often as alpha says.",
        samples_follow_the_density,
    ),
    Claim(
        "Section 5.2: ranks of sampled scores equal ranks of raw scores with $Z_{ij}=G_i-G_j$ in the sigmoids.",
        noise_enters_either_way,
    ),
    Claim("Figure 3a: with the same settings, E[CrossEntropy] ranks as CrossEntropy does.", cross_entropy_unchanged),
    Claim("Figure 3b: with the same settings, E[ApproxNDCG]'s best exceeds ApproxNDCG's.", approx_reaches_higher),
    Claim("Figure 3b: E[ApproxNDCG] rises faster than ApproxNDCG.", rises_faster("ApproxNDCG")),
    Claim("Figure 3b: the gap between the two grows as training goes on.", approx_gap_grows),
    Claim("Figure 3b: E[ApproxNDCG] overfits earlier.", approx_overfits_earlier),
    Claim("Figure 3c: E[lambdaMART] rises faster than lambdaMART.", rises_faster("lambdaMART")),
    Claim("Figure 3c: E[lambdaMART] stays above lambdaMART.", trees_stay_above),
    Claim("Section 7.2: the gain over lambdaMART is larger with fewer trees.", tree_gap_largest_early),
    Claim("Figure 4: settings of its own widen E[ApproxNDCG]'s lead.", tuning_widens_the_gap),
    Claim(
        "Table 1: E[ApproxNDCG] improves on ApproxNDCG at every cut-off.",
        better_at_every_cutoff("E[ApproxNDCG]", "ApproxNDCG"),
    ),
    Claim(
        "Table 1: E[lambdaMART] performs better than lambdaMART at every cut-off.",
        better_at_every_cutoff("E[lambdaMART]", "lambdaMART"),
    ),
    Claim("Table 1: E[CrossEntropy] and CrossEntropy do not differ.", cross_entropy_pair_alike),
    Claim(
        "Table 1: ApproxNDCG ranks better than CrossEntropy at every cut-off.",
        better_at_every_cutoff("ApproxNDCG", "CrossEntropy"),
    ),
    Claim(
        "Table 1: lambdaMART ranks better than ApproxNDCG at every cut-off.",
        better_at_every_cutoff("lambdaMART", "ApproxNDCG"),
    ),
)
