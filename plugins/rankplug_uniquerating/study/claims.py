"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankplug.studies import (
    Check,
    Checks,
    Claim,
    Evidence,
    Margin,
    Observation,
    PublishedNumber,
    Results,
    greater,
    not_comparable,
    not_run,
    reached,
)
from rankplug_uniquerating.study import equations, three_forms
from rankplug_uniquerating.study.protocol import (
    BENCHMARKS,
    LIGHTGBM_EVALUATION,
    LIGHTGBM_NDCG,
    MQ2007,
    NDCG,
    OHSUMED,
    PLACES,
    TABLES,
    TEST_SELECTED,
    WEB10K,
    WEB30K,
    group_of,
)

Statistic = Callable[[Results], Evidence]
POINTS = Margin(0.005, "Half a point of NDCG; the tables print a tenth of a point.", scale=100, unit="points")
OF_A_ROW = Margin(
    0.06,
    "Six points, the lead of the printed row over its best benchmark at NDCG@3; a row farther off tells another story.",
    scale=100,
    unit="points",
)
ROUNDING = 1e-9
TIMED_LENGTH = 150
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
        there = {place: group for place in places if (group := group_of(results, place, kind))}
        parts = {
            f"{results.collection(group, place)} {metric}, {better} - {model}": results.difference(
                group, metric, better, model
            )
            for place, group in there.items()
            for metric in metrics
            for model in worse
            if model in results.models(group)
        }
        absent = ", ".join(place for place in places if place not in there)
        return greater(parts, *([f"not run: {absent}"] if absent else []))

    return gather


def testing_on_the_selection_set_flatters(results: Results) -> Evidence:
    """Compare test NDCG with the epoch chosen on the test part and on validation data."""
    on_test, on_validation = (group_of(results, OHSUMED, kind) for kind in (TEST_SELECTED, TABLES))
    return greater(
        {
            f"{results.collection(on_validation)} {metric}": results.contrast(
                metric, {(on_test, "uRank"): 1.0, (on_validation, "uRank"): -1.0}
            )
            for metric in NDCG
        }
    )


def published_row_reached(kind: str) -> Statistic:
    """Return the statistic that compares the published row of uRank with one run of ours, which must be on OHSUMED
    itself.
    """

    def gather(results: Results) -> Evidence:
        group = group_of(results, OHSUMED, kind)
        if not group or results.runs[group].dataset_name != "ohsumed":
            return not_run("not on OHSUMED, whose numbers the row has")
        printed = results.published[
            (results.published["exhibit"] == PLACES[OHSUMED]) & (results.published["model"] == "uRank")
        ].set_index("metric")["value"]
        runs = frozenset([(group, "uRank")])
        ours = {metric: results.trials(group, metric)["uRank"].to_numpy() for metric in NDCG}
        return reached(
            {
                f"{metric} {values.mean():.3f}, published {printed[metric]:.3f}": PublishedNumber(
                    values, float(printed[metric]), runs
                )
                for metric, values in ours.items()
            }
        )

    return gather


def sorted_sums_are_faster(results: Results) -> str:
    """Measure the running times of the loss as sorted sums and on tensors."""
    times = {form: np.median(three_forms.seconds(form, TIMED_LENGTH)) for form in ("sorted", "tensor", "loop")}
    words = ", ".join(f"{form} {1e3 * value:.3g} ms" for form, value in times.items())
    return f"a list of {TIMED_LENGTH} documents with its gradient takes: {words}"


def forms_agree(results: Results) -> Evidence:
    """Check values and gradients of the three forms on four lists."""
    words = "largest deviation of value and gradient, 4 lists"
    return _check(
        words, three_forms.largest_deviation(), three_forms.largest_deviation("urank[window=2]"), "windows of 2"
    )


def residuals_are_the_gradient(results: Results) -> Evidence:
    """Check Eq. 4 against the gradient of Eq. 2."""
    right, wrong = (equations.largest_residual_deviation(sign=sign) for sign in (1.0, -1.0))
    return _check("largest deviation, 4 lists", right, wrong, "with the other sign")


def _check(what: str, value: float, control: float, control_of: str) -> Checks:
    return Checks({"": Check(what, value, at_most=ROUNDING, control=control, control_of=control_of)})


def windows(results: Results) -> Evidence:
    """Check both ends of Section 3.3."""
    least, most = equations.doubling_gains()
    return Checks(
        {
            "u = 1": Check(
                "largest deviation from the weighted pairwise logistic loss",
                equations.largest_pairwise_deviation(),
                at_most=ROUNDING,
                control=equations.largest_pairwise_deviation(window=2),
                control_of="windows of 2",
            ),
            "u doubled": Check(
                "least fall of the loss",
                least,
                at_least=-ROUNDING,
                control=-most,
                control_of="with windows halved",
            ),
        }
    )


NETWORKS = ("uRank", "uBoost", "urBoost")
CLAIMS = (
    Claim(
        "Eq. 1-2: Algorithm 1 on tensors equals the loop over documents, and the sorted sums used here.", forms_agree
    ),
    Claim("Eq. 4: the residuals of Algorithm 2 are minus the gradient of Eq. 2.", residuals_are_the_gradient),
    Claim("Eq. 3: windows of one document make a weighted pairwise loss, and wider ones a smaller loss.", windows),
    Claim(
        "uRank beats p-ListMLE (NDCG@10).", above("uRank", ("p-ListMLE",), (OHSUMED,), ("ndcg@10",)), "Table 2", POINTS
    ),
    Claim("uBoost beats uRank.", above("uBoost", ("uRank",), (OHSUMED,)), "Table 2", POINTS),
    Claim("urBoost beats uRank.", above("urBoost", ("uRank",), (OHSUMED,)), "Table 2", POINTS),
    Claim(
        "uBoost beats every benchmark (NDCG@10, Tables 2 and 3).",
        above("uBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
        "Table 2",
        POINTS,
    ),
    Claim(
        "urBoost beats every benchmark (NDCG@10, Tables 2 and 3).",
        above("urBoost", BENCHMARKS, (OHSUMED, MQ2007), ("ndcg@10",)),
        "Table 3",
        POINTS,
    ),
    Claim(
        "uMart beats LambdaMart-L everywhere (NDCG@10, Tables 2 to 5).",
        above("uMart", ("LambdaMart-L",), metrics=("ndcg@10",)),
        "Table 4",
        POINTS,
    ),
    Claim(
        "uMart beats every benchmark (NDCG@10, Tables 4 and 5).",
        above("uMart", tuple(model for model in BENCHMARKS if model != "MDPRank"), (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 4",
        POINTS,
    ),
    Claim(
        "uMart beats the networks (NDCG@10, Tables 4 and 5).",
        above("uMart", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 5",
        POINTS,
    ),
    Claim(
        "LambdaMart-L beats the networks (NDCG@10, Tables 4 and 5).",
        above("LambdaMart-L", NETWORKS, (WEB10K, WEB30K), ("ndcg@10",)),
        "Table 5",
        POINTS,
    ),
    Claim(
        "uMart beats LambdaMart-L as LightGBM evaluates, chosen on the test part.",
        above("uMart", ("LambdaMart-L",), metrics=LIGHTGBM_NDCG, kind=LIGHTGBM_EVALUATION),
        "Table 6",
        POINTS,
    ),
    Claim(
        "uRank's published row is what a run gives whose epoch is chosen on validation data.",
        published_row_reached(TABLES),
        "Table 2",
        OF_A_ROW,
    ),
    Claim(
        "Not in the paper: it is what a run gives whose epoch is chosen on the test part.",
        published_row_reached(TEST_SELECTED),
        "Table 2, test-selected",
        OF_A_ROW,
    ),
    Claim(
        "Not in the paper: choosing the epoch on the test part raises uRank's test NDCG.",
        testing_on_the_selection_set_flatters,
        "Table 2, test-selected",
        POINTS,
    ),
    Claim(
        "An epoch of p-ListMLE takes at least 7 times as long as one of uRank.",
        lambda results: TIMES,
        "Section 5, training time",
    ),
    Claim(
        "An epoch of MDPRank takes at least 15 times as long as one of uRank.",
        lambda results: TIMES,
        "Section 5, training time",
    ),
    Claim(
        "A loop takes at least 2 times as long as tensors.",
        lambda results: not_comparable("the paper's factor is of TensorFlow on its machine, our forms are PyTorch's"),
        "Section 5, tensors and loops",
    ),
)
OBSERVATIONS = (
    Observation(
        "How long uRank's loss takes in three forms, on this machine.",
        sorted_sums_are_faster,
        "Section 5, tensors and loops",
    ),
)
