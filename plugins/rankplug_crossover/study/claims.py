"""What one would ask of the combinations nobody published, each with the statistic that answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from rankplug.statistics import t_interval
from rankplug.studies import Claim, Results, Runs, Verdict, judge_alike, judge_all, judge_bound, judge_greater
from rankplug_crossover.study.better import LEVEL, better_than_papers
from rankplug_crossover.study.chosen import ANY, EACH_FOLD, NEW, choice, of_choice
from rankplug_crossover.study.protocol import METRIC, NOISY, name_of, paper_of
from rankplug_crossover.study.quality import query_values, validation_folds

MARGIN = 0.01
"""A difference of NDCG that would matter."""
MARK = {"ndcg@1": 0.55, "ndcg@3": 0.50, "ndcg@5": 0.48, "ndcg@10": 0.455}
"""What the best model that validation data choose should reach on OHSUMED."""


def some_is_better(results: Results) -> Verdict:
    """Whether a test, corrected for the number of combinations, finds one better than the best of the papers."""
    parts = {}
    for group in results.groups():
        frame = better_than_papers(results, group)
        first, found = frame.sort_values("p", kind="stable").iloc[0], int(frame["better"].sum())
        words = (
            f"{found} of {len(frame)} lead {first['reference']}; the surest is {first['model']}, difference"
            f" {first['difference']:+.3g} [{first['low']:+.3g}, {first['high']:+.3g}],"
            f" p = {first['p']:.2g}, {first['p (Holm)']:.2g} by Holm"
        )
        parts[group] = Verdict("holds" if found else "fails" if (frame["high"] < 0).all() else "inconclusive", words)
    return judge_all(parts, f"one-sided paired t tests over queries, level {LEVEL:g} after Holm")


def chosen_beats_papers(results: Results) -> Verdict:
    """The new combination that validation data choose against the paper's own that they choose."""
    first, second = {}, {}
    for group in results.groups():
        folds, values = validation_folds(results, group), query_values(results, group)
        (new,) = set(choice(folds, NEW).values())
        (own,) = set(choice(folds[[bool(paper_of(str(model))) for model in folds.index]], ANY).values())
        name = f"{group}, {new} against {own}"
        first[name], second[name] = values[new], values[own]
    return judge_greater(first, second, scale=100, unit="queries")


def passes_the_mark(who: str) -> Callable[[Results], Verdict]:
    """Mean test NDCG on OHSUMED of what validation data choose, less the mark at each cut-off."""

    def judge(results: Results) -> Verdict:
        groups = [group for group in results.groups() if group in results.runs and is_ohsumed(results.runs[group])]
        parts = {}
        for group, (metric, mark) in itertools.product(groups, MARK.items()):
            chosen = choice(validation_folds(results, group), who)
            interval = t_interval(of_choice(query_values(results, group, metric), chosen, results), unit="queries")
            words = f"{interval.point:.3f} ± {interval.half_width:.3f} less {mark:g}"
            parts[metric.upper()] = judge_bound(interval.point - mark, words)
        return judge_all(parts)

    return judge


def is_ohsumed(runs: Runs) -> bool:
    """Whether a group of runs is on the real collection."""
    return str(runs.shared["dataset"]).partition("[")[0] == "ohsumed"


def better(one: str, other: str) -> Callable[[Results], Verdict]:
    """Test NDCG@5 of one model against another, query by query."""

    def judge(results: Results) -> Verdict:
        values = {group: query_values(results, group) for group in results.groups()}
        first, second = ({group: frame[model] for group, frame in values.items()} for model in (one, other))
        return judge_greater(first, second, scale=100, unit="queries")

    return judge


def alike(one: str, other: str) -> Callable[[Results], Verdict]:
    """Test NDCG@5 of two models, query by query."""

    def judge(results: Results) -> Verdict:
        values = {group: query_values(results, group) for group in results.groups()}
        first, second = ({group: frame[model] for group, frame in values.items()} for model in (one, other))
        return judge_alike(first, second, margin=MARGIN, scale=100, unit="queries")

    return judge


WORDS = "NDCG of " + ", ".join(f"{mark:g} @{metric.partition('@')[2]}" for metric, mark in MARK.items())
CLAIMS = (
    Claim(
        f"Some combination nobody published ranks better, by {METRIC.upper()}, than all in the papers.", some_is_better
    ),
    Claim(
        "The new combination that validation data choose ranks better than the paper's own that they choose.",
        chosen_beats_papers,
    ),
    Claim(f"On OHSUMED the combination that validation data choose passes {WORDS}.", passes_the_mark(ANY)),
    Claim(
        f"On OHSUMED what each fold's validation part chooses for it passes {WORDS}.",
        passes_the_mark(EACH_FOLD),
    ),
    Claim(
        "LogRank's ConvexLoss ranks better on LightGBM's trees than on the paper's linear scorer.",
        better(name_of("convex_loss", "lightgbm"), name_of("convex_loss", "lbfgs")),
    ),
    Claim(
        "LogRank's ConvexLoss on trees ranks better than lambdaMART.",
        better(name_of("convex_loss", "lightgbm"), name_of("lambdarank", "lightgbm")),
    ),
    Claim(
        "Gumbel noise improves XE-NDCG on trees.",
        better(name_of("xe_ndcg", "lightgbm", NOISY), name_of("xe_ndcg", "lightgbm")),
    ),
    Claim(
        "Gumbel noise improves uRank's network.",
        better(name_of("urank", "torch", NOISY), name_of("urank", "torch")),
    ),
    Claim(
        "uMart ranks alike on XGBoost and on LightGBM.",
        alike(name_of("umart", "xgboost"), name_of("umart", "lightgbm")),
    ),
)
