"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from rankplug.studies import Check, Checks, Claim, Evidence, Margin, Results, alike, greater, not_run, not_to_the_end
from rankplug_stochastic.study.concrete_density import largest_cell_error, largest_first_error
from rankplug_stochastic.study.convergence import METRIC, first_group
from rankplug_stochastic.study.noise_and_network import PLAIN, effect, effects
from rankplug_stochastic.study.protocol import CROSSED, LAWS, METRICS, NOISE
from rankplug_stochastic.study.rank_schema import largest_difference

Statistic = Callable[[Results], Evidence]
POINTS = Margin(
    0.005,
    "Half a point of NDCG. What Table 1 gains on networks is a third of a point at least; the .05 to .19 points that it"
    " prints for trees no user would notice.",
    scale=100,
    unit="points",
)
TRAINING = Margin(0.05, "A twentieth of the training, about the width of a line in Figure 3.", 100, "% of the training")
STANDARD_ERRORS = 5.0
"""Largest error of a share in standard errors; the largest of 1,800 is rarely above 4."""


def of_curves(expected: str, baseline: str, statistic: Callable[[pd.DataFrame], pd.Series[float]]) -> Statistic:
    """Return a statistic of an expected loss's lead in validation NDCG@5 over its baseline, under the same settings."""

    def gather(results: Results) -> Evidence:
        group = first_group(results, "fixed")
        gaps = results.lead_in_training(group, expected, baseline, "valid", METRIC)
        if gaps is None:
            return not_to_the_end()
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
    group = first_group(results, "fixed")
    sample = results.difference(group, METRIC, "E[CrossEntropy]", "CrossEntropy")
    return alike({f"{METRIC}, {results.collection(group)}": sample})


def approx_reaches_higher(results: Results) -> Evidence:
    """Compare the best validation NDCG@5 under the same settings."""
    group, models = first_group(results, "fixed"), ("E[ApproxNDCG]", "ApproxNDCG")
    expected, baseline = (best_validation(results, group, model) for model in models)
    sample = results.sample(group, expected - baseline, models)
    return greater({f"best validation {METRIC}, {results.collection(group)}": sample})


def approx_overfits_earlier(results: Results) -> Evidence:
    """Compare the epochs of the best validation NDCG@5, as shares of all: the baseline's less the expected loss's."""
    group, models = first_group(results, "fixed"), ("ApproxNDCG", "E[ApproxNDCG]")
    if not results.ran_to_the_end(group, *models):
        return not_to_the_end()
    baseline, expected = (results.curve_of_trials(group, model, "valid", METRIC) for model in models)
    earlier = (baseline.idxmax() - expected.idxmax()) / len(baseline)
    return greater({f"best epoch, {results.collection(group)}": results.sample(group, earlier, models)})


def tuning_widens_the_gap(results: Results) -> Evidence:
    """Compare the best validation NDCG@5 of the tuned expected loss with that under the baseline's settings."""
    fixed, tuned = (first_group(results, one) for one in ("fixed", "tuned"))
    gain = best_validation(results, tuned, "E[ApproxNDCG]") - best_validation(results, fixed, "E[ApproxNDCG]")
    sample = results.sample(tuned, gain, ["E[ApproxNDCG]"])
    behind = frozenset((group, "E[ApproxNDCG]") for group in (fixed, tuned))
    return greater({f"best validation {METRIC}, {results.collection(tuned)}": replace(sample, runs=behind)})


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


def cross_entropy_pair_alike(results: Results) -> Evidence:
    """Compare test NDCG at the cut-offs of Table 1."""
    group = first_group(results, "tuned")
    place = results.collection(group)
    return alike(
        {
            f"{place} {metric}": results.difference(group, metric, "E[CrossEntropy]", "CrossEntropy")
            for metric in METRICS
        }
    )


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


def early_lead(baseline: str) -> Statistic:
    """Return the statistic for the mean lead over the first quarter of the validation curve."""
    return of_curves(f"E[{baseline}]", baseline, lambda gaps: stretch(gaps, 0, 0.25))


def gain_of(loss: str, *names: str) -> Statistic:
    """Return the statistic of what some changes give, of those that are crossed."""

    def gather(results: Results) -> Evidence:
        place = results.collection(first_group(results, CROSSED))
        return greater({f"{METRIC}, {place}, {name}": effect(results, effects(loss)[name]) for name in names})

    return gather


def kinds_alike(reference: str, *others: str) -> Statistic:
    """Return the statistic that compares kinds of noise."""

    def gather(results: Results) -> Evidence:
        if not results.groups(kind=NOISE):
            return not_run("not part of this profile")
        group = first_group(results, NOISE)
        return alike(
            {
                f"{METRIC}, {results.collection(group)}, {other} - {reference}": results.difference(
                    group, METRIC, other, reference
                )
                for other in others
            }
        )

    return gather


CLAIMS = (
    Claim(
        "Perturbed scores follow the Concrete density; a document comes first as often as alpha says.",
        samples_follow_the_density,
        "Figure 1",
    ),
    Claim(
        "Section 5.2: ranks of sampled scores equal ranks of raw scores with $Z_{ij}=G_i-G_j$ in the sigmoids.",
        noise_enters_either_way,
        "Figure 2",
    ),
    Claim(
        "With the same settings, E[CrossEntropy] ranks as CrossEntropy does.",
        cross_entropy_unchanged,
        "Figure 3a",
        POINTS,
    ),
    Claim(
        "With the same settings, E[ApproxNDCG]'s best exceeds ApproxNDCG's.", approx_reaches_higher, "Figure 3b", POINTS
    ),
    Claim("E[ApproxNDCG] rises faster than ApproxNDCG.", early_lead("ApproxNDCG"), "Figure 3b", POINTS),
    Claim(
        "The gap between E[ApproxNDCG] and ApproxNDCG grows as training goes on.",
        of_curves("E[ApproxNDCG]", "ApproxNDCG", lambda gaps: stretch(gaps, 2 / 3, 1) - stretch(gaps, 0, 1 / 3)),
        "Figure 3b",
        POINTS,
    ),
    Claim("E[ApproxNDCG] overfits earlier.", approx_overfits_earlier, "Figure 3b", TRAINING),
    Claim("E[lambdaMART] rises faster than lambdaMART.", early_lead("lambdaMART"), "Figure 3c", POINTS),
    Claim(
        "E[lambdaMART] stays above lambdaMART.",
        of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: gaps.mean()),
        "Figure 3c",
        POINTS,
    ),
    Claim(
        "Section 7.2: the gain over lambdaMART is larger with fewer trees.",
        of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: stretch(gaps, 0, 0.25) - stretch(gaps, 0.75, 1)),
        "Figure 3c",
        POINTS,
    ),
    Claim("Settings of its own widen E[ApproxNDCG]'s lead.", tuning_widens_the_gap, "Figure 4", POINTS),
    *(
        Claim(
            f"{better} ranks better than {worse} at every cut-off.",
            better_at_every_cutoff(better, worse),
            "Table 1",
            POINTS,
        )
        for better, worse in (
            ("E[ApproxNDCG]", "ApproxNDCG"),
            ("E[lambdaMART]", "lambdaMART"),
            ("ApproxNDCG", "CrossEntropy"),
            ("lambdaMART", "ApproxNDCG"),
        )
    ),
    Claim("E[CrossEntropy] and CrossEntropy do not differ.", cross_entropy_pair_alike, "Table 1", POINTS),
    *(
        Claim(
            f"Not in the paper: noise alone improves {loss}, with either network, all equally tuned.",
            gain_of(loss, "noise, with A", "noise, with B"),
            "Noise and network",
            POINTS,
        )
        for loss in PLAIN
    ),
    *(
        Claim(
            f"Not in the paper: the network and optimiser of setting B alone improve {loss}, all equally tuned.",
            gain_of(loss, "the network and optimiser B, without noise"),
            "Noise and network",
            POINTS,
        )
        for loss in PLAIN
    ),
    Claim(
        "Not in the paper: under Gaussian or logistic noise of the same scale E[ApproxNDCG] ranks as under Gumbel's.",
        kinds_alike("beta = 1", *LAWS),
        "Kinds of noise",
        POINTS,
    ),
    Claim(
        "Not in the paper: with eight draws E[ApproxNDCG] ranks as with sixteen.",
        kinds_alike("N = 16", "N = 8"),
        "Kinds of noise",
        POINTS,
    ),
)
