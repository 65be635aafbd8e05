"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankplug.studies import (
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
OF_A_ROW = Margin(
    0.06,
    "Six points, the lead of the printed row over its best benchmark at NDCG@3; a row farther off tells another story.",
    scale=100,
    unit="points",
)
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


def trees_gain_where_sparse(results: Results) -> Evidence:
    """Compare the trees' lead over the network on features made sparse with that on the same data as they are."""
    change = sparsity.change_of_the_lead(results)
    return greater(change) if change else not_run("not part of this profile")


NETWORKS = ("uRank", "uBoost", "urBoost")
CLAIMS = (
    Claim(
        "Eq. 1-2: Algorithm 1 on tensors equals the loop over documents, and the sorted sums used here.",
        equations.forms_agree,
    ),
    Claim("Eq. 4: the residuals of Algorithm 2 are minus the gradient of Eq. 2.", equations.residuals_are_the_gradient),
    Claim(
        "Section 2: ListNet's loss is higher for the right order of two documents, scored (20, 1), than for the wrong.",
        choices.listnet_prefers_the_wrong_order,
        "Section 2, example",
    ),
    Claim(
        "Eq. 3: windows of one document make a weighted pairwise loss, and wider ones a smaller loss.",
        equations.windows,
    ),
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
        "Section 3.4: max-pooling ranks better than average pooling.",
        choices.chosen_well(URRANK, AVERAGED),
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 3.4: the simple cell ranks better than GRU and LSTM.",
        choices.chosen_well(URRANK, *OTHER_CELLS),
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 3.4: prediction by the first step ranks better than one document after the other.",
        choices.chosen_well(URRANK, ONE_BY_ONE),
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 4.2: selection by NDCG@1, then @3, @5, @10 ranks better than by NDCG@1 alone or by the loss.",
        choices.chosen_well("uRank", *OTHER_SELECTIONS),
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 4.2: features scaled within each query rank better than scaled over all documents.",
        choices.chosen_well("uRank", OVER_ALL),
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 4.2: windows wider than two documents (5, 10 and all) do not improve uMart's NDCG.",
        choices.wider_windows_do_not_help,
        TRIED,
        POINTS,
    ),
    Claim(
        "Section 6: where features are sparse, trees lead networks by more (uMart less uRank, NDCG@10).",
        trees_gain_where_sparse,
        "Section 6, sparsity",
        POINTS,
    ),
    Claim(
        "Section 6: Mart-based models take more memory than networks.",
        lambda results: not_comparable("the paper's networks ran on a graphics card and its trees on 16 processors"),
        TRIED,
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
