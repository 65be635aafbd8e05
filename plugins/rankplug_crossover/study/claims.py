"""What one would ask of the combinations nobody published, each with the statistic that answers."""

from __future__ import annotations

from collections.abc import Callable

from rankplug.judging import judge_alike, judge_all, judge_greater
from rankplug.studies import Claim, Results, Verdict
from rankplug_crossover.study.better import LEVEL, better_than_papers
from rankplug_crossover.study.chosen import WHO, table
from rankplug_crossover.study.protocol import METRIC, NOISY, name_of
from rankplug_crossover.study.quality import query_values

MARGIN = 0.01
"""A difference of NDCG that would matter."""


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
    chosen, _ = table(results)
    first, second = {}, {}
    for group, rows in chosen.groupby("collection", sort=False):
        new, own = rows[rows["chosen among"] == WHO[0]], rows[rows["chosen among"] != WHO[0]]
        values = query_values(results, str(group))
        best = own.sort_values("validation", ascending=False, kind="stable")["model"].iloc[0]
        name = f"{group}, {new['model'].iloc[0]} against {best}"
        first[name], second[name] = values[new["model"].iloc[0]], values[best]
    return judge_greater(first, second, scale=100, unit="queries")


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


CLAIMS = (
    Claim(
        f"Some combination nobody published ranks better, by {METRIC.upper()}, than all in the papers.", some_is_better
    ),
    Claim(
        "The new combination that validation data choose ranks better than the paper's own that they choose.",
        chosen_beats_papers,
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
