"""The paper's claims, each with the statistic that judges it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from rankplug.studies import Claim, Results, Verdict, judge_alike, judge_bound, judge_greater
from rankplug_xendcg.study.bound import smallest_slack
from rankplug_xendcg.study.convergence import gap_at, gaps
from rankplug_xendcg.study.gradient_size import slack_of_lambdamart, slack_of_xe_ndcg
from rankplug_xendcg.study.newton_series import largest_radius, least_eigenvalue
from rankplug_xendcg.study.noise_curves import levels, noise_trials
from rankplug_xendcg.study.protocol import COMPARED, METRICS, WEB30K, YAHOO, Noise
from rankplug_xendcg.study.quality_table import LEVEL

MARGIN = 0.01
"""A difference of NDCG that would matter."""


def ranks_better(better: str, worse: str) -> Callable[[Results], Verdict]:
    """Test NDCG at both cut-offs of Table 1, on every collection."""

    def judge(results: Results) -> Verdict:
        places = {
            f"{group.removeprefix('quality, ')} {metric}": results.trials(group, metric)
            for group in results.groups("quality")
            for metric in METRICS
        }
        first, second = ({place: trials[model] for place, trials in places.items()} for model in (better, worse))
        return judge_greater(first, second, level=LEVEL, scale=100)

    return judge


def ahead_in_training(results: Results) -> Verdict:
    """Validation NDCG@5, averaged over the numbers of trees."""
    found = {group.removeprefix("quality, "): gaps(results, group).mean() for group in results.groups("quality")}
    return judge_greater(found, {place: 0 * gap for place, gap in found.items()}, scale=100)


def ahead_most_with_few_trees(results: Results) -> Verdict:
    """The gap in the first tenth of the trees against the last tenth."""
    curves = {group.removeprefix("quality, "): gaps(results, group) for group in results.groups("quality")}
    early, late = ({place: gap_at(curve, share) for place, curve in curves.items()} for share in (0.1, 1.0))
    return judge_greater(early, late, scale=100)


def slopes(results: Results, kind: Noise, place: str) -> pd.Series[float]:
    """Slope of the difference XE-NDCG - lambdaMART over the level of noise, for each trial: points of NDCG per 10 %."""
    trials = noise_trials(results, kind, place)
    difference = trials["XE-NDCG"] - trials["lambdaMART"]
    found = np.polyfit(difference.index.to_numpy(float), difference.to_numpy(float), 1)[0]
    return pd.Series(10 * found, index=difference.columns)


def difference_grows(kind: Noise, places: tuple[str, ...]) -> Callable[[Results], Verdict]:
    """Slope of the difference over the level of noise."""

    def judge(results: Results) -> Verdict:
        found = {place: slopes(results, kind, place) for place in places if len(levels(results, kind, place)) > 1}
        return judge_greater(found, {place: 0 * slope for place, slope in found.items()})

    return judge


def flat_at_the_end(results: Results) -> Verdict:
    """XE-NDCG's test NDCG@5 at the two highest levels of negative documents."""
    if len(levels(results, "negatives", WEB30K)) < 2:
        return judge_alike({}, {}, margin=MARGIN)
    trials = noise_trials(results, "negatives", WEB30K)["XE-NDCG"] / 100
    return judge_alike(trials.iloc[-1], trials.iloc[-2], margin=MARGIN, scale=100)


def ahead_on_clicks(results: Results) -> Verdict:
    """Test NDCG@5 at every click probability, on every collection."""
    places = {
        f"{place} {100 * level:g} %": results.trials(group, "ndcg@5")
        for place in (WEB30K, YAHOO)
        for level, group in levels(results, "clicks", place).items()
    }
    lambdamart, xe_ndcg = ({place: trials[model] for place, trials in places.items()} for model in COMPARED)
    return judge_greater(xe_ndcg, lambdamart, level=LEVEL, scale=100)


def bounds_ndcg(results: Results) -> Verdict:
    """The loss against its bound on random sets of lists."""
    return judge_bound(smallest_slack(), "loss less its bound, 300 random sets of lists, gamma fixed or drawn")


def gradient_is_bounded(results: Results) -> Verdict:
    """The 1-norm of the gradient on random lists."""
    return judge_bound(slack_of_xe_ndcg(), "2 less the 1-norm, random lists of 2 to 256 documents")


def lambdamart_is_bounded_by_length(results: Results) -> Verdict:
    """The 1-norm of lambdaMART's gradient on random lists."""
    return judge_bound(slack_of_lambdamart(), "sigma m² less the 1-norm, random lists of 2 to 256 documents")


def hessian_is_positive(results: Results) -> Verdict:
    """The smallest eigenvalue of the Hessian on random lists."""
    return judge_bound(least_eigenvalue(), "smallest over largest eigenvalue, 200 random lists, eps = 0.001")


def negatives_cost_more_on_yahoo(results: Results) -> Verdict:
    """Slope of the difference over the level of negative documents, on short lists against long ones."""
    if any(len(levels(results, "negatives", place)) < 2 for place in (YAHOO, WEB30K)):
        return judge_greater({}, {})
    return judge_greater(*(slopes(results, "negatives", place) for place in (YAHOO, WEB30K)))


def series_converges(results: Results) -> Verdict:
    """Spectral radius of S on random lists."""
    return judge_bound(1.0 - largest_radius(), "1 less the spectral radius, 200 random lists, eps = 0.001")


CLAIMS = (
    Claim("Theorem 1: XE-NDCG bounds -log(mean NDCG + mean 1/IDCG) from above, for every gamma.", bounds_ndcg),
    Claim("Proposition 1: the 1-norm of XE-NDCG's gradient is at most 2, however long the list.", gradient_is_bounded),
    Claim("Claim 2: the 1-norm of lambdaMART's gradient is at most sigma m².", lambdamart_is_bounded_by_length),
    Claim("Claim 3: with eps > 0 the Hessian is positive definite.", hessian_is_positive),
    Claim("Claim 4: with eps > 0 the series for the inverse Hessian converges.", series_converges),
    Claim("Table 1: XE-NDCG ranks better than lambdaMART.", ranks_better("XE-NDCG", "lambdaMART")),
    Claim("Table 1: XE-NDCG ranks better than ListNet.", ranks_better("XE-NDCG", "ListNet")),
    Claim("Table 1: lambdaMART ranks better than ListNet.", ranks_better("lambdaMART", "ListNet")),
    Claim("Figure 1: XE-NDCG is ahead of lambdaMART in training.", ahead_in_training),
    Claim("Figure 1: its lead is largest with few trees.", ahead_most_with_few_trees),
    Claim(
        "Figure 2a, b: lambdaMART loses more than XE-NDCG as negative documents are added.",
        difference_grows("negatives", (WEB30K, YAHOO)),
    ),
    Claim(
        "Figure 2a, b: the difference grows faster on Yahoo, whose lists are short, than on Web30K.",
        negatives_cost_more_on_yahoo,
    ),
    Claim("Figure 2a: between the two highest levels XE-NDCG does not change.", flat_at_the_end),
    Claim(
        "Figure 2c, d: lambdaMART loses more than XE-NDCG as labels are drawn anew.",
        difference_grows("flips", (WEB30K, YAHOO)),
    ),
    Claim("Figure 3: trained on clicks, XE-NDCG ranks better than lambdaMART at every level.", ahead_on_clicks),
    Claim(
        "Figure 3: XE-NDCG degrades more slowly than lambdaMART as clicks get noisier.",
        difference_grows("clicks", (WEB30K, YAHOO)),
    ),
)
