"""The paper's claims with the statistics that give evidence on them, and its known errors and gaps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankplug.studies import (
    Claim,
    Evidence,
    Margin,
    Observation,
    Results,
    exact_check,
    greater,
    no_greater,
    not_comparable,
)
from rankplug_uniquerating.study import exhibits, theory
from rankplug_uniquerating.study.protocol import (
    AVERAGED,
    BENCHMARKS,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    MQ2007,
    NDCG,
    OHSUMED,
    ONE_BY_ONE,
    OTHER_CELLS,
    OTHER_SELECTIONS,
    OVER_ALL,
    PLACES,
    TABLES,
    TEST_SELECTED,
    URRANK,
    WEB10K,
    WEB30K,
    WINDOWS,
    group_of,
)

FINDINGS = (
    "A1. The printed ERR are not of one definition. In six rows of Tables 4 and 5 ERR falls as the cut-off grows, which"
    " it cannot. ERR@1 over NDCG@1 on MQ2007 is .61 for all of the paper's models and .41 to .50 for every benchmark."
    " The gains in ERR of Figure 1 are partly an artefact. NDCG is what is compared here; ERR is computed by both"
    " definitions for all models.",
    "A2. Eq. 5 divides by a score difference that is 0 at the start. Here .01 is added, as in LightGBM, and nothing is"
    " divided while all scores are equal.",
    "A3. The discounts' difference in Eq. 5 needs an absolute value, as the authors' code has it.",
    "A4. The printed factor 2 sigma^2 of the curvature and sigma^3 in the authors' code agree at sigma = 2 only, which"
    " is what is used; umart[hessian=true] is the curvature itself, half as large.",
    "Eq. 5 prints minus the gradient. Eq. 6 lacks a factor 1 - p in its first sum and has a minus before the second;"
    " used so, curvatures come out negative. The derivative is used instead.",
    'A5. Residuals "based on P_i(Y)" in Section 3.2 are a leftover of ListNet; Eq. 4 is used, which is right.',
    "A6. The set in Eq. 4 is to be read by ratings: all documents rated higher.",
    "A7. The product of likelihoods is called an approximation of the joint one; it is taken as the definition.",
    "A8. The residual networks learn residuals that carry the factor 1/(R-1), as Eq. 4 has it.",
    "A9, A10. Windows are cut from the lower-rated documents in the order of their present scores; a last window"
    " may be shorter.",
    "A11. The authors' README speaks of averages over several batches; as in the paper, a step here is one query.",
    "A12. Validation data choose the epoch in Tables 2 to 5 here, as the paper says. Table 6 validates on the test"
    " part, as the paper says of LightGBM's evaluation. Beside the published OHSUMED rows stand runs of ours with"
    " either selection and equally many trials; with some twenty queries a fold one run may lie several points off, so"
    " that nothing follows from which is nearer.",
    "Table 1: OHSUMED's LR is 70.03 %, printed 68.12 %. MQ2007's is 74.16 % by its label counts, printed 87.22 %."
    " Web30K has 3,771,125 documents, printed 3,711,000. The other numbers of OHSUMED are as printed.",
    "Algorithm 1 exponentiates raw scores: a gap of 800 gives nan. Line 4 speaks of differences of scores; the formula"
    " needs labels. A list of one rating divides 0 by 0; its loss is 0 here.",
    "p-ListMLE's weights 2^(n-i) - 1 are infinite in float32 from 128 documents on, in lists padded to 320 and more."
    " That may explain its poor printed rows. Here they are divided by 2^n, which changes the gradient's scale only.",
    "MDPRank has no number of epochs or rate in the paper. Here a linear policy takes one episode a query and step;"
    " validation chooses Adam's rate among .001 and .0001.",
    "LambdaMart-L is LightGBM's lambdarank of that time (up to 2.2.3), which umart repeats with windows of one"
    " document; today's lambdarank has another norm. LambdaMart-R has RankLib's default settings on LightGBM's trees,"
    " with the number of trees at most the profile's. LambdaLoss is NDCG-Loss2++ with mu = 10, scored document by"
    " document.",
    "The printed LambdaLoss row has TF-Ranking's group-wise scoring function, whose group size is not given. With"
    " groups of one document it scores document by document, as here; of larger groups the paper says neither size"
    " nor how they are drawn, so that there is no row with them.",
    "Section 3.4 tried GRU, LSTM, average pooling and prediction one by one, Section 4.2 other rules of selection and"
    " scaling over all documents, without numbers; they are trained at the profiles full, real and paper. Scaling over"
    " all documents is by their minimum and maximum here, too.",
    "That features of MSLR are sparse is the paper's intuition why trees lead there. Collections differ in more than"
    " that; here the same data are trained on as they are and with each feature lowered by its .8 quantile and cut off"
    " at 0.",
    "Activation: the paper has ELU, also around the output, which would bound scores below by -1; the authors' code has"
    " ReLU and a linear output. Here ELU in the hidden layers and a linear output.",
    "Trees: the paper gives ranges only (200 to 1000 trees, 31 to 255 leaves). The least sum of curvatures, 5 in the"
    " authors' template for Microsoft's data, is not used on OHSUMED and MQ2007. The profile real has 300 trees of 31"
    " leaves; validation NDCG@10 chooses their number.",
    "The paper trains once, without intervals. Here several trials, which differ in first weights and bagging, over the"
    " same folds. Its t tests do not name the pairs: here test queries.",
    "Time: the printed factors compare implementations, and ours compare others: here every network takes the same"
    " step, and the losses of uRank, p-ListMLE and MDPRank are all sorted sums, a small part of it.",
    "MQ2007 and Microsoft's sets are not on the profile real: MQ2008 stands in the place of MQ2007, Tables 4 and 5 show"
    " published numbers only.",
)


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
    on_test, on_validation = results.groups_run(TEST_SELECTED)[0], group_of(results, OHSUMED, TABLES)
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
    times = {form: np.median(theory.seconds(form, TIMED_LENGTH)) for form in ("sorted", "tensor", "loop")}
    words = ", ".join(f"{form} {1e3 * value:.3g} ms" for form, value in times.items())
    return f"a list of {TIMED_LENGTH} documents with its gradient takes: {words}"


NETWORKS = ("uRank", "uBoost", "urBoost")
CLAIMS = (
    Claim(
        "tensors-equal-loop",
        "Algorithm 1 on tensors equals the loop over documents (Equations 1 and 2), and the sorted sums used here.",
        exact_check(
            "largest deviation of value and gradient, 4 lists",
            theory.largest_deviation,
            at_most=theory.ROUNDING,
            control=lambda: theory.largest_deviation("urank[window=2]"),
            control_of="windows of 2",
        ),
        section="Section 3.1",
    ),
    Claim(
        "residuals-are-the-gradient",
        "The residuals of Algorithm 2 (Equation 4) are minus the gradient of Equation 2.",
        exact_check(
            "largest deviation, 4 lists",
            theory.largest_residual_deviation,
            at_most=theory.ROUNDING,
            control=lambda: theory.largest_residual_deviation(sign=-1.0),
            control_of="with the other sign",
        ),
        section="Section 3.2",
    ),
    Claim(
        "listnet-prefers-wrong-order",
        "ListNet's loss is higher for the right order of two documents, scored (20, 1), than for the wrong one.",
        exact_check(
            "ListNet's loss of scores (20, 1) less that of (1, 2), for ratings (2, 1)",
            lambda: exhibits.excess_of_the_right_order("listnet"),
            at_least=theory.ROUNDING,
            control=lambda: exhibits.excess_of_the_right_order("urank"),
            control_of="uRank's",
        ),
        "Section 2, example",
        section="Section 2",
    ),
    Claim(
        "windows-make-pairs",
        "Windows of one document make Equation 3 a weighted pairwise loss, and wider ones a smaller loss.",
        theory.windows,
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
        exhibits.chosen_well(URRANK, AVERAGED),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "simple-cell-is-better",
        "The simple RNN cell works better than LSTM and GRU.",
        exhibits.chosen_well(URRANK, *OTHER_CELLS),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "first-step-is-better",
        "Scores of the first step during inference work better than predicting documents one by one.",
        exhibits.chosen_well(URRANK, ONE_BY_ONE),
        TRIED,
        POINTS,
        section="Section 3.4",
    ),
    Claim(
        "lexicographic-selection-is-better",
        "Selection by NDCG@1, then @3, @5 and @10 works better than by a single metric such as NDCG@1 or the loss.",
        exhibits.chosen_well("uRank", *OTHER_SELECTIONS),
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "scaling-within-queries-is-better",
        "Feature normalization by the minimum and maximum within each query enhances the models compared to"
        " normalizing among all the documents (here: uRank).",
        exhibits.chosen_well("uRank", OVER_ALL),
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "wider-windows-do-not-help",
        "Further enlarging uMart's window sizes (5, 10 and all) does not significantly improve NDCG.",
        lambda results: no_greater(exhibits.leads_of_choices(results, "uMart", tuple(WINDOWS), turned=True)),
        TRIED,
        POINTS,
        section="Section 4.2",
    ),
    Claim(
        "trees-lead-where-sparse",
        "Mart-based models have better performance compared to neural networks especially when features are sparse"
        " (uMart less uRank, NDCG@10).",
        exhibits.trees_gain_where_sparse,
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
