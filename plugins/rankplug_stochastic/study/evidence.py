"""Statistics that give evidence on the paper's claims: of trained models, and exact checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from rankplug.studies import (
    Check,
    Checks,
    Evidence,
    Results,
    alike,
    greater,
    no_greater,
    not_run,
)
from rankplug_stochastic.study.exhibits import METRIC, effect, effects
from rankplug_stochastic.study.noise import (
    SCALES,
    correlation,
    distance_from_logistic,
    largest_cell_error,
    largest_first_error,
)
from rankplug_stochastic.study.protocol import BY_NAME, CROSSED, ELSEWHERE, LONGER, MENTIONED, METRICS, NOISE, WEAK

Statistic = Callable[[Results], Evidence]
LEAST_SIGNS = 6
"""Number of trials from which on equal signs in all of them are rarer by chance than 2.5 %."""


def of_curves(expected: str, baseline: str, statistic: Callable[[pd.DataFrame], pd.Series[float]]) -> Statistic:
    """Return a statistic of an expected loss's lead in validation NDCG@5 over its baseline, under the same settings."""

    def gather(results: Results) -> Evidence:
        group = results.groups_run("fixed")[0]
        gaps = results.lead_in_training(group, expected, baseline, "valid", METRIC)
        sample = results.sample(group, statistic(gaps), (expected, baseline))
        return greater({f"validation {METRIC}, {results.collection(group)}": sample})

    return gather


def stretch(curve: pd.DataFrame, begin: float, end: float) -> pd.Series[float]:
    """Return the mean over a part of the iterations, from and to a share of them, for each trial and fold."""
    first = int(begin * len(curve))
    return curve.iloc[first : max(int(np.ceil(end * len(curve))), first + 1)].mean()


def best_validation(results: Results, group: str, model: str) -> pd.Series[float]:
    """Return the highest validation NDCG@5 of each trial and fold."""
    return results.curve_of_trials(group, model, "valid", METRIC).max()


def cross_entropy_unchanged(results: Results) -> Evidence:
    """Compare test NDCG@5 under the same settings."""
    group = results.groups_run("fixed")[0]
    sample = results.difference(group, METRIC, "E[CrossEntropy]", "CrossEntropy")
    return alike({f"{METRIC}, {results.collection(group)}": sample})


def approx_reaches_higher(results: Results) -> Evidence:
    """Compare the best validation NDCG@5 under the same settings."""
    group, models = results.groups_run("fixed")[0], ("E[ApproxNDCG]", "ApproxNDCG")
    expected, baseline = (best_validation(results, group, model) for model in models)
    sample = results.sample(group, expected - baseline, models)
    return greater({f"best validation {METRIC}, {results.collection(group)}": sample})


def approx_overfits_earlier(results: Results) -> Evidence:
    """Compare the epochs of the best validation NDCG@5, as shares of all: the baseline's less the expected loss's."""
    group, models = results.groups_run("fixed")[0], ("ApproxNDCG", "E[ApproxNDCG]")
    results.require_whole_trainings(group, *models)
    baseline, expected = (results.curve_of_trials(group, model, "valid", METRIC) for model in models)
    earlier = (baseline.idxmax() - expected.idxmax()) / len(baseline)
    return greater({f"best epoch, {results.collection(group)}": results.sample(group, earlier, models)})


def tuning_widens_the_gap(results: Results) -> Evidence:
    """Compare the best validation NDCG@5 of the tuned expected loss with that under the baseline's settings."""
    fixed, tuned = (results.groups_run(kind)[0] for kind in ("fixed", "tuned"))
    gain = best_validation(results, tuned, "E[ApproxNDCG]") - best_validation(results, fixed, "E[ApproxNDCG]")
    sample = results.sample(tuned, gain, ["E[ApproxNDCG]"])
    behind = frozenset((group, "E[ApproxNDCG]") for group in (fixed, tuned))
    return greater({f"best validation {METRIC}, {results.collection(tuned)}": replace(sample, runs=behind)})


def cross_entropy_pair_alike(results: Results) -> Evidence:
    """Compare test NDCG at the cut-offs of Table 1."""
    group, pair = results.groups_run("tuned")[0], ("E[CrossEntropy]", "CrossEntropy")
    return alike({f"{results.collection(group)} {k}": results.difference(group, k, *pair) for k in METRICS})


def better_at_every_cutoff(better: str, worse: str) -> Statistic:
    """Return the statistic that compares test NDCG at the cut-offs of Table 1, on every collection."""

    def gather(results: Results) -> Evidence:
        return greater(
            {
                f"{results.collection(group, results.place(group))} {metric}": results.difference(
                    group, metric, better, worse
                )
                for group in results.groups(kind="tuned")
                for metric in METRICS
                if {better, worse} <= set(results.models(group))
            }
        )

    return gather


def early_lead(baseline: str) -> Statistic:
    """Return the statistic for the mean lead over the first quarter of the validation curve."""
    return of_curves(f"E[{baseline}]", baseline, lambda gaps: stretch(gaps, 0, 0.25))


def gain_of(loss: str, *names: str) -> Statistic:
    """Return the statistic of what some changes give, of those that are crossed."""

    def gather(results: Results) -> Evidence:
        data = results.collection(results.groups_run(CROSSED)[0])
        return greater({f"{METRIC}, {data}, {name}": effect(results, effects(loss)[name]) for name in names})

    return gather


def kinds_alike(reference: str, *others: str) -> Statistic:
    """Return the statistic that compares kinds of noise."""

    def gather(results: Results) -> Evidence:
        group = results.groups_run(NOISE)[0]
        return alike(
            {
                f"{METRIC}, {results.collection(group)}, {other} - {reference}": results.difference(
                    group, METRIC, other, reference
                )
                for other in others
            }
        )

    return gather


def similar_on_yahoo(results: Results) -> Evidence:
    """Compare the pairs of Figure 3b and c in validation NDCG@5 on the second collection."""
    groups = results.groups(kind="fixed")
    if len(groups) < 2:
        return not_run("the second collection is not part of these runs")
    group, parts = groups[1], {}
    pair = ("E[ApproxNDCG]", "ApproxNDCG")
    best = best_validation(results, group, pair[0]) - best_validation(results, group, pair[1])
    parts[f"{pair[0]}, best validation {METRIC}"] = results.sample(group, best, pair)
    gaps = results.lead_in_training(group, "E[lambdaMART]", "lambdaMART", "valid", METRIC)
    lead = results.sample(group, gaps.mean(), ("E[lambdaMART]", "lambdaMART"))
    parts[f"E[lambdaMART], validation {METRIC}"] = lead
    return greater({f"{results.collection(group, results.place(group))}, {name}": part for name, part in parts.items()})


def whichever_trial(results: Results) -> Evidence:
    """Compare the share of trials in which the expected loss's curve lies above its baseline's with one half."""
    group, parts, counts = results.groups_run("fixed")[0], {}, []
    for loss in ("ApproxNDCG", "lambdaMART"):
        gaps = results.lead_in_training(group, f"E[{loss}]", loss, "valid", METRIC)
        above = (gaps.mean() > 0).astype(float)
        if above.size < LEAST_SIGNS:
            return not_run(f"{above.size} trials; fewer than {LEAST_SIGNS} equal signs may be chance")
        counts.append(f"E[{loss}] lies above {loss} in {int(above.sum())} of {above.size} trainings")
        parts[f"E[{loss}], {results.collection(group)}"] = results.sample(group, above - 0.5, (f"E[{loss}]", loss))
    return greater(parts, *counts)


def weak_losses(results: Results) -> Evidence:
    """Compare the paper's three baselines with ListMLE and RankNet on the network of setting A."""
    group, fixed = results.groups_run(MENTIONED)[0], results.groups_run("fixed")[0]
    baselines = [model.name for model in BY_NAME.values() if not model.expected]
    return greater(
        {
            f"{METRIC}, {results.collection(group)}, {strong} - {weak}": results.contrast(
                METRIC, {(fixed, strong): 1.0, (group, weak): -1.0}
            )
            for strong in baselines
            for weak in WEAK
        }
    )


def longer_training_falls_short(results: Results) -> Evidence:
    """Compare the best validation NDCG@5 of ApproxNDCG trained three times as long with that of E[ApproxNDCG]."""
    group, fixed = results.groups_run(MENTIONED)[0], results.groups_run("fixed")[0]
    lead = best_validation(results, group, LONGER) - best_validation(results, fixed, "E[ApproxNDCG]")
    sample = replace(
        results.sample(fixed, lead.dropna(), ["E[ApproxNDCG]"]),
        runs=frozenset({(fixed, "E[ApproxNDCG]"), (group, LONGER)}),
    )
    return no_greater({f"best validation {METRIC}, {results.collection(group)}": sample})


def dropout_places_alike(results: Results) -> Evidence:
    """Compare setting B with dropout between all layers and after the last only."""
    group, tuned = results.groups_run(MENTIONED)[0], results.groups_run("tuned")[0]
    cells = {(group, ELSEWHERE): 1.0, (tuned, "E[ApproxNDCG]"): -1.0}
    return alike({f"{METRIC}, {results.collection(group)}": results.contrast(METRIC, cells)})


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
