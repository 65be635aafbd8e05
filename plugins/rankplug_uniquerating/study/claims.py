"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankplug.studies import (
    Claim,
    Evidence,
    Margin,
    Observation,
    Results,
    greater,
    not_comparable,
    not_run,
)
from rankplug_uniquerating.study import choices, equations, sparsity, three_forms
from rankplug_uniquerating.study.protocol import (
    AVERAGED,
    BENCHMARKS,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    NDCG,
    ONE_BY_ONE,
    OTHER_CELLS,
    OTHER_SELECTIONS,
    OVER_ALL,
    PLACES,
    TABLES,
    TEST_SELECTED,
    URRANK,
    group_of,
)
from rankplug_uniquerating.study.sizes import MQ2007, OHSUMED, WEB10K, WEB30K

Statistic = Callable[[Results], Evidence]
POINTS = Margin(0.005, "Half a point of NDCG; the tables print a tenth of a point.", scale=100, unit="points")
TIMED_LENGTH = 150
TRIED = "Choices"
"""The exhibit of what the text says it tried."""
TIMES = not_comparable(
    "the paper's factors compare its own implementations; here all networks take the same step, and the losses of"
    " uRank, p-ListMLE and MDPRank are sorted sums, a small part of it"
)


def above(
    better: str,
    worse: tuple[str, ...],
    places: tuple[str, ...] = tuple(PLACES),
    metrics: tuple[str, ...] = NDCG,
    kind: str = TABLES,
) -> Statistic:
    """Return the statistic that compares one model with others on test data, in every place and by every metric."""

    def gather(results: Results) -> Evidence:
        there = {name: group for name in places if (group := group_of(results, name, kind))}
        parts = {
            f"{results.collection(group, dataset)} {metric}, {better} - {model}": results.difference(
                group, metric, better, model
            )
            for dataset, group in there.items()
            for metric in metrics
            for model in worse
            if model in results.models(group)
        }
        absent = ", ".join(name for name in places if name not in there)
        return greater(parts, *([f"not run: {absent}"] if absent else []))

    return gather


def testing_on_the_selection_set_flatters(results: Results) -> Evidence:
    """Compare test NDCG with the epoch chosen on the test part and on validation data."""
    on_test, on_validation = (group_of(results, OHSUMED, kind) for kind in (TEST_SELECTED, TABLES))
    if not on_test:
        return not_run("not part of this profile")
    return greater(
        {
            f"{results.collection(on_validation)} {metric}": results.contrast(
                metric, {(on_test, "uRank"): 1.0, (on_validation, "uRank"): -1.0}
            )
            for metric in NDCG
        }
    )


def sorted_sums_are_faster(results: Results) -> str:
    """Measure the running times of the loss as sorted sums and on tensors."""
    times = {form: np.median(three_forms.seconds(form, TIMED_LENGTH)) for form in ("sorted", "tensor", "loop")}
    words = ", ".join(f"{form} {1e3 * value:.3g} ms" for form, value in times.items())
    return f"a list of {TIMED_LENGTH} documents with its gradient takes: {words}"


def trees_gain_where_sparse(results: Results) -> Evidence:
    """Compare the trees' lead over the network on features made sparse with that on the same data as they are."""
    change = sparsity.change_of_the_lead(results)
    return greater(change) if change else not_run("not part of this profile")


NETWORKS = ("uRank", "uBoost", "urBoost")
CLAIMS = (
    Claim(
        "tensors-equal-loop",
        "Algorithm 1 on tensors equals the loop over documents (Equations 1 and 2), and the sorted sums used here.",
        equations.forms_agree,
        section="Section 3.1",
    ),
    Claim(
        "residuals-are-the-gradient",
        "The residuals of Algorithm 2 (Equation 4) are minus the gradient of Equation 2.",
        equations.residuals_are_the_gradient,
        section="Section 3.2",
    ),
    Claim(
        "listnet-prefers-wrong-order",
        "ListNet's loss is higher for the right order of two documents, scored (20, 1), than for the wrong one.",
        choices.listnet_prefers_the_wrong_order,
        "Section 2, example",
        section="Section 2",
    ),
    Claim(
        "windows-make-pairs",
        "Windows of one document make Equation 3 a weighted pairwise loss, and wider ones a smaller loss.",
        equations.windows,
        section="Section 3.1",
    ),
    Claim(
        "urank-beats-p-listmle",
        "uRank outperforms p-ListMLE (NDCG@10).",
        above("uRank", ("p-ListMLE",), (OHSUMED,), ("ndcg@10",)),
        "Table 2",
        POINTS,
        section="Section 5",
    ),
    Claim(
        "uboost-beats-urank",
        "uBoost has a better performance than uRank on OHSUMED.",
        above("uBoost", ("uRank",), (OHSUMED,)),
        "Table 2",
        POINTS,
        section="Section 5",
    ),
    Claim(
        "urboost-beats-urank",
        "urBoost has a better performance than uRank on OHSUMED: dependencies from ranked documents enhance it.",
        above("urBoost", ("uRank",), (OHSUMED,)),
        "Table 2",
        POINTS,
        section="Section 6",
        role="main",
    ),
    Claim(
        "uboost-beats-benchmarks",
        "uBoost outperforms every benchmark on OHSUMED and MQ2007 (NDCG@10).",
        above("uBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
        "Table 2",
        POINTS,
        section="Section 5",
        role="main",
    ),
    Claim(
        "urboost-beats-benchmarks",
        "urBoost outperforms every benchmark on OHSUMED and MQ2007 (NDCG@10).",
        above("urBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
        "Table 3",
        POINTS,
        section="Section 5",
        role="main",
    ),
    Claim(
        "umart-beats-lambdamart-l",
        "uMart outperforms LambdaMart-L on all four datasets (NDCG@10, Tables 2 to 5).",
        above("uMart", ("LambdaMart-L",), metrics=("ndcg@10",)),
        "Table 4",
        POINTS,
        section="Section 5",
        role="main",
    ),
    Claim(
        "umart-beats-benchmarks",
        "uMart outperforms every benchmark on MSLR-WEB10K and MSLR-WEB30K (NDCG@10).",
        above("uMart", tuple(model for model in BENCHMARKS if model != "MDPRank"), (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 4",
        POINTS,
        section="Section 5",
        role="main",
    ),
    Claim(
        "umart-beats-networks",
        "Mart-based models have better performance compared to neural networks on the MSLR datasets: uMart (NDCG@10).",
        above("uMart", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 5",
        POINTS,
        section="Section 6",
        role="main",
    ),
    Claim(
        "lambdamart-l-beats-networks",
        "Mart-based models have better performance compared to neural networks on the MSLR datasets: LambdaMart-L"
        " (NDCG@10).",
        above("LambdaMart-L", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 5",
        POINTS,
        section="Section 6",
    ),
    Claim(
        "umart-beats-lambdamart-l-by-lightgbm",
        "uMart also outperforms LambdaMart-L with LightGBM's evaluation, which validates on the test data.",
        above("uMart", ("LambdaMart-L",), metrics=LIGHTGBM_NDCG, kind=LIGHTGBM_EVALUATION),
        "Table 6",
        POINTS,
        section="Section 5",
    ),
    Claim(
        "selecting-on-test-raises-ndcg",
        "Selecting uRank's epoch on the test part raises our test NDCG.",
        testing_on_the_selection_set_flatters,
        "Table 2, test-selected",
        POINTS,
        source="ours",
    ),
    Claim(
        "max-pooling-is-better",
        "Max-pooling performs slightly better than average-pooling.",
        choices.chosen_well(URRANK, AVERAGED),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "simple-cell-is-better",
        "The simple RNN cell works better than LSTM and GRU.",
        choices.chosen_well(URRANK, *OTHER_CELLS),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "first-step-is-better",
        "Scores of the first step during inference work better than predicting documents one by one.",
        choices.chosen_well(URRANK, ONE_BY_ONE),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "lexicographic-selection-is-better",
        "Selection by NDCG@1, then @3, @5 and @10 works better than by a single metric such as NDCG@1 or the loss.",
        choices.chosen_well("uRank", *OTHER_SELECTIONS),
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "scaling-within-queries-is-better",
        "Feature normalization by the minimum and maximum within each query enhances the models compared to"
        " normalizing among all the documents (here: uRank).",
        choices.chosen_well("uRank", OVER_ALL),
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "wider-windows-do-not-help",
        "Further enlarging uMart's window sizes (5, 10 and all) does not significantly improve NDCG.",
        choices.wider_windows_do_not_help,
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "trees-lead-where-sparse",
        "Mart-based models have better performance compared to neural networks especially when features are sparse"
        " (uMart less uRank, NDCG@10).",
        trees_gain_where_sparse,
        "Section 6, sparsity",
        POINTS,
        section="Section 6",
        role="main",
    ),
    Claim(
        "trees-take-more-memory",
        "The Mart-based models consume more memory.",
        lambda results: not_comparable("the paper's networks ran on a graphics card and its trees on 16 processors"),
        TRIED,
        section="Section 6",
    ),
    Claim(
        "faster-than-p-listmle",
        "uRank is 7-14 times faster than p-ListMLE.",
        lambda results: TIMES,
        "Section 5, training time",
        section="Section 5",
    ),
    Claim(
        "faster-than-mdprank",
        "uRank is 15-32 times faster than MDP Rank.",
        lambda results: TIMES,
        "Section 5, training time",
        section="Section 5",
    ),
    Claim(
        "tensors-faster-than-loop",
        "The tensor-based algorithms speed up training by 2-3 times compared to for-loops.",
        lambda results: not_comparable("the paper's factor is of TensorFlow on its machine, our forms are PyTorch's"),
        "Section 5, tensors and loops",
        section="Section 5",
    ),
)
OBSERVATIONS = (
    Observation(
        "three-forms-of-the-loss",
        "How long uRank's loss takes in three forms, on this machine.",
        sorted_sums_are_faster,
        "Section 5, tensors and loops",
    ),
)
