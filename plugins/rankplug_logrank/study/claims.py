"""The paper's claims, each with the statistic that judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rankplug.studies import Claim, Results, Verdict, judge_alike, judge_all, judge_bound, judge_greater, judge_identity
from rankplug_logrank.study.accuracy_table import accuracy_frame, all_queries
from rankplug_logrank.study.bounds import bound_frame, largest_bend
from rankplug_logrank.study.first_steps import domination_frame, trace_frame
from rankplug_logrank.study.identities import largest_error
from rankplug_logrank.study.protocol import BASELINES, FAMILIES, GAINS, MEASURES, MODELS, QUOTED, RESTART_MIXES
from rankplug_logrank.study.sampler_effects import of_settings, points
from rankplug_logrank.study.spread import deviations
from rankplug_logrank.study.walk_picture import correlation, flip_frame, walk

TOP_HEAVY = ("MAP", "NDCG")
"""Gains of which the claim on the spread speaks; a flip changes Delta_AUC by the same everywhere."""
MARGIN = 0.01
"""A difference of accuracy that would matter."""
TOLERANCE = 1e-9


def identities_hold(results: Results) -> Verdict:
    """Sums over all sign matrices against the closed forms."""
    return judge_all(
        {
            "five identities": judge_identity(largest_error("e^"), TOLERANCE, "lists of 4 to 6 documents"),
            "four losses": judge_identity(largest_error("over all y"), TOLERANCE, "the same lists"),
        }
    )


def closed_form_is_over_rankings(results: Results) -> Verdict:
    """The same closed forms against sums over rankings only."""
    return judge_identity(largest_error("over rankings"), TOLERANCE, "relative, lists of 4 to 6 documents")


def walk_stays_among_rankings(results: Results) -> Verdict:
    """Every state of eight walks, rebuilt from the counts the sampler keeps."""
    walks = [walk(best, seed=seed) for best in (True, False) for seed in range(4)]
    off = sum(not one.matches for one in walks)
    jumps = sum(int(((one.signs[1:] != one.signs[:-1]).sum((1, 2)) != 1).sum()) for one in walks)
    states = sum(len(one.signs) for one in walks)
    evidence = f"{off} of {len(walks)} walks leave the rankings; {jumps} of {states} steps change not exactly one pair"
    return Verdict("holds" if off + jumps == 0 else "fails", evidence)


def small_changes_are_likelier(results: Results) -> Verdict:
    """Spearman's correlation of alpha and the size of the change of Delta_MAP, for downward and upward flips."""
    parts = {}
    for sign, name in ((1, "good document above"), (-1, "good document below")):
        found = correlation(sign, "symmetric")
        local = correlation(sign, "local")
        count = int((flip_frame()["sign"] == sign).sum())
        words = f"correlation {found:+.2f} over {count} flips ({local:+.2f} if alpha were the same for both signs)"
        parts[name] = Verdict("holds" if found < -0.5 else "fails" if found > 0 else "inconclusive", words)
    return judge_all(parts)


def convex_bounds_l3(results: Results) -> Verdict:
    """ConvexLoss less L3 on random lists."""
    return judge_bound(float(bound_frame()["gap"].min()), f"ConvexLoss less L3, {len(bound_frame())} random lists")


def gap_is_an_eighth(results: Results) -> Verdict:
    """1/8 less the gap between the two."""
    gap = float(bound_frame()["gap"].max())
    return judge_bound(0.125 - gap, f"1/8 less the gap, which is {gap:.4f} at most")


def l3_is_not_convex(results: Results) -> Verdict:
    """How far L3 rises above chords; that ExpGain does shows that the test can tell."""
    bend, of_gain = largest_bend("logrank_l3"), largest_bend("exp_gain")
    evidence = f"above chords between random scores, L3 rises by {bend:.2g} at most, ExpGain by {of_gain:.2g}"
    return Verdict("holds" if bend > TOLERANCE else "fails", evidence)


def convex_is_convex(results: Results) -> Verdict:
    """How far ConvexLoss rises above chords."""
    return judge_bound(-largest_bend("convex_loss"), "chords less ConvexLoss, random scores")


def convex_softens_the_hinge(results: Results) -> Verdict:
    """ConvexLoss between the structured hinge and the hinge with the logarithm of the number of rankings."""
    frame = bound_frame()
    above = frame["convex_loss"] - frame["hinge"]
    return judge_all(
        {
            "above the hinge": judge_bound(float(above.min()), "ConvexLoss less the hinge"),
            "below": judge_bound(float((np.log(frame["rankings"]) - above).min()), "hinge + log|Y| less ConvexLoss"),
        }
    )


def ranks_better(pairs: Mapping[str, str], measures: tuple[str, ...] = tuple(MEASURES)) -> Callable[[Results], Verdict]:
    """Test queries of all data sets, one part for each pair of models and measure."""

    def judge(results: Results) -> Verdict:
        better: dict[str, Any] = {}
        worse: dict[str, Any] = {}
        for measure in measures:
            values = all_queries(results, MEASURES[measure])
            for winner, loser in pairs.items():
                name = measure if len(pairs) == 1 else f"{winner} {measure}"
                better[name], worse[name] = values[winner], values[loser]
        return judge_greater(better, worse, scale=100, unit="queries")

    return judge


def best_beats_all(winner: str, others: tuple[str, ...]) -> Callable[[Results], Verdict]:
    """Against the best of the others in each measure, over the test queries of all data sets."""

    def judge(results: Results) -> Verdict:
        better: dict[str, pd.Series[float]] = {}
        worse: dict[str, pd.Series[float]] = {}
        for measure, metric in MEASURES.items():
            values = all_queries(results, metric)
            rival = str(values[[*others]].mean().idxmax())
            better[f"{measure} against {rival}"] = values[winner]
            worse[f"{measure} against {rival}"] = values[rival]
        return judge_greater(better, worse, scale=100, unit="queries")

    return judge


def families_best(results: Results) -> pd.Series[int]:
    """In how many cells of Figure 3 each family has the best model."""
    cells = accuracy_frame(results).pivot(index=["column", "measure"], columns="model", values="mean")
    families = {model: "baselines" if model in (*QUOTED, *BASELINES) else model.split("_")[0] for model in MODELS}
    best = cells[[*MODELS]].idxmax(axis=1).map(families)
    return best.value_counts().reindex(["baselines", "MLE", *FAMILIES], fill_value=0)


def baselines_are_rarely_best(results: Results) -> Verdict:
    """Cells in which a baseline is the best; in as many as their share of the rows by chance alone."""
    counts = families_best(results)
    share, by_chance = counts["baselines"] / counts.sum(), len((*QUOTED, *BASELINES)) / len(MODELS)
    evidence = f"a baseline is best in {counts['baselines']} of {counts.sum()} cells; {by_chance:.0%} by chance alone"
    return Verdict("holds" if share < by_chance else "fails", evidence)


def l3_is_best_less_often(results: Results) -> Verdict:
    """Cells in which L3 is the best, and those in which ConvexLoss is."""
    counts = families_best(results)
    found = 0 < counts["L3"] < counts["Convex"]
    words = ", ".join(f"{name} {count}" for name, count in counts.items())
    return Verdict("holds" if found else "fails", f"cells of {counts.sum()} in which each is the best: {words}")


def more_rankings_help(results: Results) -> Verdict:
    """Slope of accuracy over the logarithm of the number of rankings, for each trial."""
    slopes = {}
    for measure in MEASURES:
        values = of_settings(results, measure, points(results, "samples "))
        slopes[measure] = np.polyfit(np.log2(values.index.to_numpy(float)), values.to_numpy(float), 1)[0]
    return judge_greater(slopes, {measure: 0 * slope for measure, slope in slopes.items()}, scale=100)


def samples_saturate(results: Results) -> Verdict:
    """Accuracy at the two largest numbers of rankings."""
    values = {measure: of_settings(results, measure, points(results, "samples ")) for measure in MEASURES}
    last, before = ({measure: one.iloc[place] for measure, one in values.items()} for place in (-1, -2))
    return judge_alike(last, before, margin=MARGIN, scale=100)


def best_restarts_help(results: Results) -> Verdict:
    """Accuracy with nine tenths of restarts at the best ranking against nine tenths at the worst."""
    values = {measure: of_settings(results, measure, dict(enumerate(RESTART_MIXES))) for measure in MEASURES}
    best, worst = ({measure: one.iloc[place] for measure, one in values.items()} for place in (0, -1))
    return judge_greater(best, worst, scale=100)


def negative_skew_helps(results: Results) -> Verdict:
    """Mean accuracy at negative k against positive k, for each trial."""
    low, high = {}, {}
    for measure in MEASURES:
        values = of_settings(results, measure, points(results, "skew "))
        low[measure], high[measure] = values[values.index < 0].mean(), values[values.index > 0].mean()
    return judge_greater(low, high, scale=100)


def spread_is_smaller_at_the_worst(results: Results) -> Verdict:
    """Standard deviation of Delta around the best restart against the worst, for ten seeds."""
    found = deviations()
    parts = {gain: found.loc[gain] for gain in TOP_HEAVY}
    return judge_greater(
        {gain: rows["best"] for gain, rows in parts.items()}, {gain: rows["worst"] for gain, rows in parts.items()}
    )


def scores_dominate(results: Results) -> Verdict:
    """``|w.phi|`` against Delta, averaged over the rankings of each query."""
    means = domination_frame(results).assign(size=lambda frame: frame["w.phi"].abs()).groupby("query")
    return judge_greater(means["size"].mean(), means["Delta"].mean(), unit="queries")


def both_objectives_improve(results: Results) -> Verdict:
    """Losses of the training queries at ``w = 0`` against the last traced iteration."""
    frame = trace_frame(results)
    first, last = (frame[frame["iteration"] == frame["iteration"].agg(end)] for end in ("min", "max"))
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for name in frame["objective"].unique():
        for kind in ("exact", "sampled"):
            before[f"{name} {kind}"] = first.loc[first["objective"] == name, kind]
            after[f"{name} {kind}"] = last.loc[last["objective"] == name, kind]
    return judge_greater(before, after, unit="queries")


CLAIMS = (
    Claim("Figure 1: the sums over sign matrices have closed forms.", identities_hold),
    Claim("Section 2: with them, the losses for AUC are expectations over rankings.", closed_form_is_over_rankings),
    Claim("Figure 2: the walk changes one pair at a time and stays among rankings.", walk_stays_among_rankings),
    Claim("Section 4: flips that change Delta less are the likelier ones.", small_changes_are_likelier),
    Claim("Section 3: ConvexLoss is convex.", convex_is_convex),
    Claim("Section 3: L3 is in general not convex.", l3_is_not_convex),
    Claim("Section 3: ConvexLoss bounds L3 from above.", convex_bounds_l3),
    Claim("Not in the paper: the bound is within 1/8 for every query.", gap_is_an_eighth),
    Claim("Section 3: ConvexLoss is the soft maximum of the structured hinge.", convex_softens_the_hinge),
    Claim("Section 5.2: ExpGain_NDCG ranks better than MLE.", ranks_better({"ExpGain_NDCG": "MLE"})),
    Claim("Section 5.2: ExpGain_MAP ranks better than SVM-MAP.", ranks_better({"ExpGain_MAP": "SVM-MAP"})),
    Claim("Section 5.2: ExpGain_AUC ranks better than RankSVM.", ranks_better({"ExpGain_AUC": "RankSVM"})),
    Claim("Section 5.2: Convex_MAP ranks better than SVM-MAP.", ranks_better({"Convex_MAP": "SVM-MAP"})),
    Claim("Section 5.2: Convex_AUC ranks better than RankSVM.", ranks_better({"Convex_AUC": "RankSVM"})),
    Claim("Section 5.2: Convex_NDCG ranks better than MLE.", ranks_better({"Convex_NDCG": "MLE"})),
    Claim("Section 5.2: Convex_NDCG ranks better than ExpGain_NDCG.", ranks_better({"Convex_NDCG": "ExpGain_NDCG"})),
    Claim("Section 5.2: Convex_NDCG ranks better than all baselines.", best_beats_all("Convex_NDCG", BASELINES)),
    Claim(
        "Section 5.2: Convex_NDCG is the best method of all.",
        best_beats_all("Convex_NDCG", tuple(model for model in MODELS if model != "Convex_NDCG")),
    ),
    Claim(
        "Section 5.2: ConvexLoss ranks better than L3.",
        ranks_better({f"Convex_{gain}": f"L3_{gain}" for gain in GAINS}, ("MAP",)),
    ),
    Claim("Section 5.2: the baselines are rarely the best.", baselines_are_rarely_best),
    Claim("Section 5.2: L3 is the best in some cells, ConvexLoss in more.", l3_is_best_less_often),
    Claim("Figure 4: accuracy grows with the number of sampled rankings.", more_rankings_help),
    Claim("Figure 4: it is close to saturation at the largest sizes.", samples_saturate),
    Claim("Figure 5: restarts at the best ranking give better accuracy than at the worst.", best_restarts_help),
    Claim("Figure 6: a skew towards Delta = 0 is better than one towards Delta = 1.", negative_skew_helps),
    Claim(
        "Figure 7: in MAP and NDCG, walks spread less around Delta = 1 than around 0.",
        spread_is_smaller_at_the_worst,
    ),
    Claim("Figure 8: once training has begun, |w.phi| dominates Delta.", scores_dominate),
    Claim("Section 5.3.4: the exact and the sampled objective both improve in training.", both_objectives_improve),
)
