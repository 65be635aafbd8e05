"""The paper's claims, each with the statistic that judges it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankplug.studies import Claim, Results, Verdict, judge_all, judge_bound, judge_greater, judge_identity
from rankplug_uniquerating.study import collections_table, equations, three_forms
from rankplug_uniquerating.study.protocol import (
    BENCHMARKS,
    ERR,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    MQ2007,
    NDCG,
    OHSUMED,
    PLACES,
    TEST_SELECTED,
    WEB10K,
    WEB30K,
)
from rankplug_uniquerating.study.training_time import slowness

MARGIN = 0.01
"""A difference of NDCG that would matter."""
TIMED_LENGTH = 150
Judge = Callable[[Results], Verdict]


def above(
    better: str,
    worse: tuple[str, ...],
    places: tuple[str, ...] = tuple(PLACES),
    metrics: tuple[str, ...] = NDCG,
    prefix: str = "",
) -> Judge:
    """One model above others on test data, in every place that was run and by every metric."""

    def judge(results: Results) -> Verdict:
        larger, smaller = {}, {}
        for place in places:
            if prefix + place not in results.frames:
                continue
            for metric in metrics:
                trials = results.trials(prefix + place, metric)
                for model in worse:
                    if model in trials.columns:
                        name = f"{place} {metric}, {better} - {model}"
                        larger[name], smaller[name] = trials[better], trials[model]
        return judge_greater(larger, smaller, scale=100)

    return judge


def testing_on_the_selection_set_flatters(results: Results) -> Verdict:
    """Test NDCG with the epoch chosen on the test part against the epoch chosen on validation data."""
    larger, smaller = {}, {}
    for metric in NDCG:
        on_test, on_validation = (results.trials(group, metric) for group in (TEST_SELECTED + OHSUMED, OHSUMED))
        larger[metric], smaller[metric] = on_test["uRank"], on_validation["uRank"]
    return judge_greater(larger, smaller, scale=100)


def published_row_reached(group: str) -> Judge:
    """Whether uRank's row on OHSUMED is above the published one less a margin, which needs runs on OHSUMED itself."""

    def judge(results: Results) -> Verdict:
        dataset = str(results.runs[group].shared["dataset"]) if group in results.runs else "nothing"
        if not dataset.startswith("ohsumed"):
            return Verdict("inconclusive", f"run on {dataset}, which says nothing about OHSUMED's numbers")
        printed = results.published[
            (results.published["exhibit"] == PLACES[OHSUMED]) & (results.published["model"] == "uRank")
        ].set_index("metric")["value"]
        ours, least = {}, {}
        for metric in NDCG:
            values, mark = results.trials(group, metric)["uRank"], float(printed[metric]) - MARGIN
            name = f"{metric} {values.mean():.3f} to {printed[metric]:.3f} less {MARGIN:g}"
            ours[name], least[name] = values, np.full(len(values), mark)
        return judge_greater(ours, least, scale=100)

    return judge


def lowest_ratings_share(results: Results) -> Verdict:
    """LR of Table 1 against the share in the data."""
    dataset = str(results.runs[OHSUMED].shared["dataset"]) if OHSUMED in results.runs else "nothing"
    if not dataset.startswith("ohsumed"):
        return Verdict("inconclusive", f"run on {dataset}, which says nothing about OHSUMED's numbers")
    table = collections_table.draw(results)[0]
    row = table[(table["paper's data"] == OHSUMED) & (table["fact"] == "documents of the lowest rating (%)")].iloc[0]
    return judge_identity(abs(row["difference"]), 0.005, f"{row['ours']:.2f} % of {dataset}'s documents")


def err_steps(published: pd.DataFrame) -> pd.DataFrame:
    """By how much the published ERR grows from cut-off to cut-off: a row a table and model."""
    rows = published[published["metric"].isin(ERR)]
    wide = rows.pivot_table(index=["exhibit", "model"], columns="metric", values="value")[list(ERR)]
    return wide.diff(axis=1).iloc[:, 1:]


def published_err_grows(results: Results) -> Verdict:
    """ERR@k is a sum of non-negative terms up to k."""
    steps = err_steps(results.published)
    falling = steps[(steps < 0).any(axis=1)]
    rows = ", ".join(f"{exhibit} {model}" for exhibit, model in falling.index)
    return judge_bound(float(steps.min().min()), f"growth of ERR between printed cut-offs (falls in: {rows or 'none'})")


def slower(model: str, factor: float) -> Judge:
    """An epoch's training time over uRank's, in each trial and fold, against the least printed factor."""

    def judge(results: Results) -> Verdict:
        there = [place for place in (OHSUMED, MQ2007) if place in results.frames]
        return judge_all({place: times_as_long(slowness(results, place, model), factor) for place in there})

    return judge


def form_slower(slow: str, fast: str, factor: float) -> Judge:
    """Time of one form over another's on one list, measured now."""

    def judge(results: Results) -> Verdict:
        times = {form: np.array(three_forms.seconds(form, TIMED_LENGTH)) for form in (slow, fast)}
        return times_as_long(times[slow] / times[fast], factor)

    return judge


def times_as_long(ratios: ArrayLike, factor: float) -> Verdict:
    """Whether ratios of times exceed a factor, by the t test on their logarithms, which a few slow runs do not rule."""
    logarithms = np.log(np.asarray(ratios, np.float64))
    verdict = judge_greater(logarithms, np.full(logarithms.size, np.log(factor)))
    between = f"{np.exp(logarithms.min()):.3g} to {np.exp(logarithms.max()):.3g}"
    return Verdict(
        verdict.verdict,
        f"{np.exp(logarithms.mean()):.3g} times as long ({between}); logarithm less that of {factor:g}:"
        f" {verdict.evidence}",
    )


def raw_exponentials_break(results: Results) -> Verdict:
    """Algorithm 1 as printed on two documents whose scores lie far apart."""
    value, _ = three_forms.FORMS["tensor"](np.array([-400.0, 400.0]), np.array([1.0, 0.0]))
    sorted_value, _ = three_forms.FORMS["sorted"](np.array([-400.0, 400.0]), np.array([1.0, 0.0]))
    return judge_identity(
        abs(value - sorted_value) / sorted_value, 1e-9, f"a gap of 800 costs {sorted_value:g}, as printed {value:g}"
    )


def windows(results: Results) -> Verdict:
    """Both ends of Section 3.3."""
    return judge_all(
        {
            "u = 1": judge_identity(equations.largest_pairwise_deviation(), 1e-9, "against weighted pairwise logistic"),
            "u doubled": judge_bound(equations.least_doubling_gain(), "fall of the loss"),
        }
    )


NETWORKS = ("uRank", "uBoost", "urBoost")
CLAIMS = (
    Claim(
        "Eq. 1-2: Algorithm 1 on tensors equals the loop over documents, and the sorted sums used here.",
        lambda results: judge_identity(three_forms.largest_deviation(), 1e-9, "value and gradient, 4 lists"),
    ),
    Claim("Algorithm 1 can be computed as it is printed, from exponentials of raw scores.", raw_exponentials_break),
    Claim(
        "Eq. 4: the residuals of Algorithm 2 are minus the gradient of Eq. 2.",
        lambda results: judge_identity(equations.largest_residual_deviation(), 1e-9, "4 lists"),
    ),
    Claim(
        "Eq. 6: the second derivatives, as printed, are not negative.",
        lambda results: judge_bound(equations.least_printed_curvature(), "second derivatives of 6 lists"),
    ),
    Claim(
        "Not in the paper: with the factor 1 - p and a plus, Eq. 6 is uMart's curvature here.",
        lambda results: judge_identity(equations.largest_curvature_deviation(), 1e-9, "6 lists"),
    ),
    Claim("Eq. 3: windows of one document make a weighted pairwise loss, and wider ones a smaller loss.", windows),
    Claim("Table 1: 68.12 % of OHSUMED's documents have the lowest rating (LR).", lowest_ratings_share),
    Claim("Table 2: uRank beats p-ListMLE on OHSUMED.", above("uRank", ("p-ListMLE",), (OHSUMED,), ("ndcg@10",))),
    Claim("Table 2: uBoost beats uRank on OHSUMED.", above("uBoost", ("uRank",), (OHSUMED,))),
    Claim("Table 2: urBoost beats uRank on OHSUMED.", above("urBoost", ("uRank",), (OHSUMED,))),
    Claim(
        "Tables 2 and 3: uBoost beats every benchmark (NDCG@10).",
        above("uBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
    ),
    Claim(
        "Tables 2 and 3: urBoost beats every benchmark (NDCG@10).",
        above("urBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
    ),
    Claim(
        "Tables 2 to 5: uMart beats LambdaMart-L everywhere (NDCG@10).",
        above("uMart", ("LambdaMart-L",), metrics=("ndcg@10",)),
    ),
    Claim(
        "Tables 4 and 5: uMart beats every benchmark on Web10K and Web30K (NDCG@10).",
        above("uMart", tuple(model for model in BENCHMARKS if model != "MDPRank"), (WEB10K, WEB30K), ("ndcg@10",)),
    ),
    Claim(
        "Tables 4 and 5: uMart beats the networks on Web10K and Web30K (NDCG@10).",
        above("uMart", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
    ),
    Claim(
        "Tables 4 and 5: LambdaMart-L beats the networks on Web10K and Web30K (NDCG@10).",
        above("LambdaMart-L", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
    ),
    Claim(
        "Table 6: uMart beats LambdaMart-L as LightGBM evaluates, chosen on the test part.",
        above("uMart", ("LambdaMart-L",), metrics=LIGHTGBM_NDCG, prefix=LIGHTGBM_EVALUATION),
    ),
    Claim(
        "Tables 2 to 5: the printed ERR are of one definition, so that none falls with the cut-off.",
        published_err_grows,
    ),
    Claim(
        "Table 2: uRank's row on OHSUMED is reached with the epoch chosen on validation data.",
        published_row_reached(OHSUMED),
    ),
    Claim(
        "Not in the paper: it is reached with the epoch chosen on the test part.",
        published_row_reached(TEST_SELECTED + OHSUMED),
    ),
    Claim(
        "Not in the paper: choosing the epoch on the test part raises uRank's test NDCG.",
        testing_on_the_selection_set_flatters,
    ),
    Claim("Section 5: an epoch of p-ListMLE takes at least 7 times as long as one of uRank.", slower("p-ListMLE", 7.0)),
    Claim("Section 5: an epoch of MDPRank takes at least 15 times as long as one of uRank.", slower("MDPRank", 15.0)),
    Claim("Section 5: a loop takes at least 2 times as long as tensors.", form_slower("loop", "tensor", 2.0)),
    Claim("Not in the paper: sorted sums are faster than tensors.", form_slower("tensor", "sorted", 1.0)),
)
