"""Claims about the combinations outside these papers, and points to keep in mind when reading them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from rankplug.studies import (
    Claim,
    Evidence,
    Margin,
    Observation,
    Results,
    Values,
    alike,
    greater,
    not_run,
    some_greater,
)
from rankplug_crossover.study.comparisons import (
    ANY,
    NEW,
    OWN,
    best_of_papers,
    candidates,
    choice,
    mean_of_choice,
    ranks_of_tuned,
    validation_folds,
    values_of_choice,
)
from rankplug_crossover.study.protocol import METRIC, NOISY, TUNED, Cell, most_repeated, whole_grids

FINDINGS = (
    "All combinations of a backend share its settings: the same network, trees, learning rate and stopping rule. Only"
    " L-BFGS's $C$ is chosen, on validation data. A paper's own settings for its own loss may do better; those are in"
    " the notebooks of the papers.",
    "Features are scaled within each query for all backends, as the networks and linear scorers need it.",
    "The best of the papers' own is taken on the test data, which favours the papers; the candidates are corrected for"
    " their number.",
    "LogRank's losses and SVM-MAP are for good and bad documents: labels of 1 and more count as good in training,"
    " and graded NDCG measures all models alike.",
    "BoltzRank, SoftRank, PL-Rank and StochasticRank are expectations over noisy rankings already, so Gumbel noise is"
    " not laid over them. L-BFGS needs one function to minimise: there the noise is drawn once.",
    "Losses with a gradient that is no function's, such as lambdaMART's and uMart's, may find no step under L-BFGS's"
    " line search and stay near where they began.",
)


Statistic = Callable[[Results], Evidence]
POINTS = Margin(0.005, "Half a point of NDCG.", scale=100, unit="points")
MARK = {"ndcg@1": 0.55, "ndcg@3": 0.50, "ndcg@5": 0.48, "ndcg@10": 0.455}
"""Test quality on OHSUMED to be reached by the best model that validation data choose."""


def some_is_better(results: Results) -> Evidence:
    """Compare every combination outside the papers with the best one in them, which is the best on the test data."""
    parts = {}
    for group in whole_grids(results):
        reference = best_of_papers(results, group)
        for model in candidates(results, group):
            name = f"{results.collection(group, group)}, {model} - {reference}"
            parts[name] = results.difference(group, METRIC, model, reference)
    return some_greater(parts)


def chosen_beats_papers(results: Results) -> Evidence:
    """Compare what each fold's validation part chooses outside the papers with what it chooses in them."""
    parts = {}
    for group in whole_grids(results):
        folds = validation_folds(results, group)
        new, own = choice(folds, NEW), choice(folds, OWN)
        lead = values_of_choice(results, group, METRIC, new) - values_of_choice(results, group, METRIC, own)
        runs = {(group, model) for model in (*new.values(), *own.values())}
        name = "; ".join(dict.fromkeys(f"{new[fold]} - {own[fold]}" for fold in new))
        parts[f"{results.collection(group, group)}, {name}"] = results.sample_of_queries(group, lead, runs)
    return greater(parts)


def against_the_mark(results: Results) -> str:
    """Compare the test NDCG of the models that validation data choose on OHSUMED with the mark at each cut-off."""
    words = []
    for group in whole_grids(results):
        if group in results.runs and results.runs[group].dataset_name == "ohsumed":
            selected = choice(validation_folds(results, group), ANY)
            for metric, mark in MARK.items():
                mean = mean_of_choice(results, group, metric, selected)
                words.append(f"{metric.upper()} {mean.point:.3f} ± {mean.half_width:.3f}, mark {mark:g}")
    return "; ".join(words)


def better(method: str, other: str) -> Statistic:
    """Return the statistic that compares the test NDCG@5 of two models on every collection."""
    return lambda results: greater(_everywhere(results, most_repeated(results), method, other))


def same(method: str, other: str) -> Statistic:
    """Return the statistic that asks whether two models have the same test NDCG@5 on every collection."""
    return lambda results: alike(_everywhere(results, most_repeated(results), method, other))


def _everywhere(results: Results, groups: list[str], method: str, other: str) -> dict[str, Values]:
    return {
        results.collection(group, results.place(group)): results.difference(group, METRIC, method, other)
        for group in groups
    }


def tuned_better(method: str, other: str) -> Statistic:
    """Return the statistic that compares two models of the papers, equally tuned, on every collection."""

    def gather(results: Results) -> Evidence:
        parts = _everywhere(results, results.groups(kind=TUNED), method, other)
        return greater(parts) if parts else not_run("not part of this profile")

    return gather


def some_are_told_apart(results: Results) -> str:
    """Tell how many pairs of the tuned models lie farther apart in rank than the critical difference."""
    ranks = ranks_of_tuned(results)
    if ranks is None:
        return ""
    models, difference = ranks
    pairs = list(itertools.combinations(difference.average_ranks, 2))
    apart = sum(abs(first - second) > difference.critical_difference for first, second in pairs)
    return (
        f"{apart} of {len(pairs)} pairs of {len(models)} models over {difference.blocks} collections; critical"
        f" difference {difference.critical_difference:.2f} ranks, Friedman's p = {difference.p_value:.2g}"
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "some-combination-is-better",
        f"Some combination that these papers lack ranks better, by {METRIC.upper()}, than all in them.",
        some_is_better,
        "Better than the papers",
        POINTS,
        role="main",
        source="ours",
        sequential=False,
    ),
    Claim(
        "choice-is-better",
        "What validation data choose outside the papers ranks better than what they choose in them.",
        chosen_beats_papers,
        "Chosen on validation",
        POINTS,
        role="main",
        source="ours",
        sequential=False,
    ),
    *(
        Claim(claim_id, text, statistic, exhibit, POINTS, source="ours")
        for claim_id, text, statistic, exhibit in (
            (
                "convex-loss-better-on-trees",
                "LogRank's ConvexLoss ranks better on LightGBM's trees than on the paper's linear scorer.",
                better(Cell("convex_loss", "lightgbm").model, Cell("convex_loss", "lbfgs").model),
                "Heat map",
            ),
            (
                "convex-loss-beats-lambdamart",
                "LogRank's ConvexLoss on trees ranks better than lambdaMART.",
                better(Cell("convex_loss", "lightgbm").model, Cell("lambdarank", "lightgbm").model),
                "Heat map",
            ),
            (
                "noise-improves-xe-ndcg",
                "Gumbel noise improves XE-NDCG on trees.",
                better(Cell("xe_ndcg", "lightgbm", NOISY).model, Cell("xe_ndcg", "lightgbm").model),
                "Noise",
            ),
            (
                "noise-improves-urank",
                "Gumbel noise improves uRank's network.",
                better(Cell("urank", "torch", NOISY).model, Cell("urank", "torch").model),
                "Noise",
            ),
            (
                "umart-alike-on-both-engines",
                "uMart ranks alike on XGBoost and on LightGBM.",
                same(Cell("umart", "xgboost").model, Cell("umart", "lightgbm").model),
                "Heat map",
            ),
        )
    ),
    *(
        Claim(
            f"tuned-{claim_id}",
            f"Tuned by one protocol, {method} ranks better than {other}.",
            tuned_better(method, other),
            "Tuned",
            POINTS,
            source="ours",
        )
        for claim_id, method, other in (
            ("xe-ndcg", "XE-NDCG", "lambdaMART"),
            ("umart", "uMart", "lambdaMART"),
            ("expected-lambdamart", "E[lambdaMART]", "lambdaMART"),
            ("expected-approxndcg", "E[ApproxNDCG]", "CrossEntropy"),
            ("urank", "uRank", "CrossEntropy"),
        )
    ),
)
WORDS = "NDCG of " + ", ".join(f"{mark:g} @{metric.partition('@')[2]}" for metric, mark in MARK.items())
OBSERVATIONS = (
    Observation(
        "tuned-models-told-apart",
        "Which of the papers' models, tuned by one protocol, are told apart by their ranks over collections.",
        some_are_told_apart,
        "Tuned, ranks",
    ),
    Observation(
        "choice-on-ohsumed",
        f"On OHSUMED what each fold's validation part chooses for it, beside {WORDS}.",
        against_the_mark,
        "Chosen on validation",
    ),
)
