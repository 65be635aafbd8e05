"""Statistics that give evidence on the paper's claims: of trained models and walks, and exact checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankplug.studies import (
    Check,
    Checks,
    Evidence,
    IndependentTrials,
    Results,
    Sample,
    Values,
    alike,
    greater,
    not_run,
)
from rankplug_logrank.study import training, walks
from rankplug_logrank.study.accuracy import GROUP, RIVALS, accuracy_frame, cells_above_half, microaverage
from rankplug_logrank.study.identities import OVER_ALL, OVER_RANKINGS, SUMS, bound_frame, largest_error
from rankplug_logrank.study.protocol import BASELINES, BY_NAME, FAMILIES, GAINS, MEASURES, MODELS, QUOTED, RESTART_MIXES
from rankplug_logrank.study.training import domination_frame, first_trial, trace_frame
from rankplug_logrank.study.walks import correlation, deviations, flip_frame, flips_that_leave, walk

if TYPE_CHECKING:
    import pandas as pd


Statistic = Callable[[Results], Evidence]
TOP_HEAVY = ("MAP", "NDCG")
"""Gains of which the claim on the spread speaks; a flip changes Delta_AUC by the same everywhere."""
FEW_GOOD = 50
"""Bad documents for each good one from which on good documents count as far fewer, the premise of Section 2."""
NEAR_ONE, LITTLE = 0.9, 0.1
"""The expected loss that is called close to 1 at least, and the fall in training that is very small at most."""


def ranks_better(pairs: Sequence[tuple[str, str]], measures: tuple[str, ...] = tuple(MEASURES)) -> Statistic:
    """Return the statistic over the test queries of all data sets, one part for each pair of models and measure."""

    def gather(results: Results) -> Evidence:
        return greater(
            {
                measure if len(pairs) == 1 else f"{winner} - {loser} {measure}": microaverage(
                    results, MEASURES[measure], {winner: 1.0, loser: -1.0}
                )
                for measure in measures
                for winner, loser in pairs
            }
        )

    return gather


def best_of(winner: str, others: tuple[str, ...]) -> Statistic:
    """Return the statistic that compares one model with each of the others in each measure."""
    return ranks_better([(winner, other) for other in others])


def families_best(results: Results) -> pd.Series[int]:
    """Count the cells of Figure 3 in which each family has the best model."""
    cells = accuracy_frame(results).pivot(index=["column", "measure"], columns="model", values="mean")
    best = cells[[*MODELS]].idxmax(axis=1).map(lambda name: BY_NAME[name].family)
    return best.value_counts().reindex(["baselines", "MLE", *FAMILIES], fill_value=0)


def baselines_among_the_best(results: Results) -> str:
    """Count the cells in which a baseline is the best, and how many its share of the rows gives by chance alone."""
    counts, by_chance = families_best(results), len((*QUOTED, *BASELINES)) / len(MODELS)
    return f"a baseline is best in {counts['baselines']} of {counts.sum()} cells; {by_chance:.0%} by chance alone"


def l3_among_the_best(results: Results) -> str:
    """Count the cells in which each family has the best model."""
    counts = families_best(results)
    return f"cells of {counts.sum()}: " + ", ".join(f"{name} {count}" for name, count in counts.items())


def of_settings(results: Results, measure: str, weights: Mapping[str, float]) -> Sample:
    """Return a weighted sum of test accuracies under settings of the sampler."""
    return results.contrast(MEASURES[measure], {(GROUP, setting): weight for setting, weight in weights.items()})


def more_rankings_help(results: Results) -> Evidence:
    """Measure the rise of accuracy from the fewest to the most rankings, by a straight line over their logarithm."""
    settings = results.setting(GROUP, "samples")
    steps = np.log2(list(settings)) - np.log2(list(settings)).mean()
    weights = dict(zip(settings.values(), steps * np.ptp(steps) / (steps**2).sum(), strict=True))
    return greater({measure: of_settings(results, measure, weights) for measure in MEASURES})


def samples_saturate(results: Results) -> Evidence:
    """Compare accuracy at the two largest numbers of rankings."""
    *_, before, last = results.setting(GROUP, "samples").values()
    return alike({measure: of_settings(results, measure, {last: 1.0, before: -1.0}) for measure in MEASURES})


def best_restarts_help(results: Results) -> Evidence:
    """Compare accuracy with nine tenths of restarts at the best ranking and nine tenths at the worst."""
    best, *_, worst = RESTART_MIXES
    return greater({measure: of_settings(results, measure, {best: 1.0, worst: -1.0}) for measure in MEASURES})


def negative_skew_helps(results: Results) -> Evidence:
    """Compare mean accuracy at negative k and at positive k."""
    skews = results.setting(GROUP, "skew")
    low, high = ([name for k, name in skews.items() if k * sign > 0] for sign in (-1, 1))
    weights = {name: 1 / len(low) for name in low} | {name: -1 / len(high) for name in high}
    return greater({measure: of_settings(results, measure, weights) for measure in MEASURES})


def spread_is_smaller_at_the_worst(gains: Sequence[str]) -> Statistic:
    """Return the statistic that compares the deviation of Delta around the best restart with that around the worst.

    AUC counts all pairs alike, so that both ends have the same spread.
    """

    def gather(results: Results) -> Evidence:
        spread, design = deviations(), IndependentTrials("sets of walks")
        spreads = {gain: spread.loc[gain, ["best", "worst"]].to_numpy(np.float64) for gain in gains}
        return greater({gain: Sample(rows[:, 0] - rows[:, 1], design) for gain, rows in spreads.items()})

    return gather


def scores_dominate(results: Results, trained: bool = True) -> Evidence:
    """Compare ``|w.phi|`` with Delta, averaged over the rankings of each query, after training or at ``w = 0``."""
    frame = domination_frame(results, trained)
    lead = (frame["w.phi"].abs() - frame["Delta"]).groupby(frame["query"]).mean()
    return greater({"": Sample(lead.to_numpy(), IndependentTrials("training queries of one model"))})


def both_objectives_improve(results: Results, trained: bool = True) -> Evidence:
    """Compare each training loss at ``w = 0`` with that at the last traced iteration, relative to the first."""
    parts = {}
    for name, rows in trace_frame(results, trained).groupby("objective", sort=False):
        values = rows.pivot(index="query", columns="iteration", values=["exact", "sampled"])
        for kind in ("exact", "sampled"):
            losses = values[kind].to_numpy(np.float64)
            fall = (losses[:, 0] - losses[:, -1]) / losses[:, 0].mean()
            parts[f"{name} {kind}"] = Sample(fall, IndependentTrials("training queries of one model"))
    return greater(parts)


def most_cells(*of_count: str) -> Statistic:
    """Return the statistic that asks whether the winners of a count in Figure 3 win more than half of the cells."""
    winners, losers = RIVALS[of_count[0], of_count[1]]
    return lambda results: greater({"share of the cells less 1/2": cells_above_half(results, winners, losers)})


def half_of_the_cells(results: Results) -> Evidence:
    """Compare the share of the cells in which MLE leads all baselines with one half, 16 of 32."""
    winners, losers = RIVALS["MLE", "beats all baselines"]
    return alike({"share of the cells less 1/2": cells_above_half(results, winners, losers)})


def of_objectives(results: Results, better: str, worse: str) -> dict[str, Values]:
    """Return the lead of one objective over another in each measure, for each gain that was run."""
    models = results.models(training.OBJECTIVES_GROUP)
    gains = [gain for gain in GAINS if f"{better}_{gain}" in models]
    return {
        f"{gain}, {measure}": results.difference(
            training.OBJECTIVES_GROUP, metric, f"{better}_{gain}", f"{worse}_{gain}"
        )
        for gain in gains
        for measure, metric in MEASURES.items()
    }


def restarts_add(results: Results, more: str, fewer: str) -> dict[str, Values]:
    """Return what restarts of ExpGain_NDCG give in each measure."""
    return {
        measure: results.difference(training.OBJECTIVES_GROUP, metric, more, fewer)
        for measure, metric in MEASURES.items()
    }


def further_restarts_add_nothing(results: Results) -> Evidence:
    """Compare three times the restarts of Figure 3 with those."""
    *_, many = results.setting(training.OBJECTIVES_GROUP, "restarts").values()
    return alike(restarts_add(results, many, "ExpGain_NDCG"))


def restarts_are_needed(results: Results) -> Evidence:
    """Compare the restarts of Figure 3 with none."""
    none, *_ = results.setting(training.OBJECTIVES_GROUP, "restarts").values()
    return greater(restarts_add(results, "ExpGain_NDCG", none))


def of_training_lists(column: str, above: float, few: float = FEW_GOOD) -> Statistic:
    """Return the statistic that compares the expected loss (4) of training lists, or its fall, with a number.

    Only lists with at least ``few`` bad documents for each good one count, as the statement presumes.
    """

    def gather(results: Results) -> Evidence:
        frame = training.falls(first_trial(results))
        own = frame[(frame["objective"] == training.EXPECTED_LOSS) & (frame["bad per good"] >= few)]
        if own.empty or own.groupby("gain").size().min() < 2:
            return not_run(f"no two training lists with at least {few:g} bad documents for each good one")
        parts = {}
        for gain, rows in own.groupby("gain", sort=False):
            fall = (rows["at w = 0"] - rows[column]) / rows["at w = 0"].mean()
            values = rows["random orders"] - above if column == "random orders" else above - fall
            design = IndependentTrials("training queries of one model")
            parts[str(gain)] = Sample(values.to_numpy(np.float64), design)
        return greater(parts)

    return gather


def loss_of_two_documents(results: Results) -> Evidence:
    """Compare the expected loss of two documents in random order, of which one is good, with what is close to 1."""
    design = IndependentTrials("lists of two documents")
    losses = {gain: training.loss_of_random_orders(gain, ((1, 2),) * 2) for gain in TOP_HEAVY}
    return greater({gain: Sample(loss - NEAR_ONE, design) for gain, loss in losses.items()})


def of_dependent_walks(column: str, more: str, less: str) -> Statistic:
    """Return the statistic that compares two samples of rankings over problems."""

    def gather(results: Results) -> Evidence:
        wide = walks.run_frame().pivot(index="problem", columns="sample", values=column)
        lead = (wide[more] - wide[less]).to_numpy(np.float64)
        return greater({"": Sample(lead, IndependentTrials("made problems"))})

    return gather


TOLERANCE = 1e-9


def identities_hold(results: Results) -> Evidence:
    """Compare sums over all sign matrices with the closed forms; sums over rankings alone are the control."""
    words, control = "largest relative error, lists of 4 to 6 documents", largest_error(OVER_RANKINGS)
    return Checks(
        {
            name: Check(words, largest_error(kind), at_most=TOLERANCE, control=control, control_of="over rankings only")
            for name, kind in (("five identities", SUMS), ("four losses", OVER_ALL))
        }
    )


def walk_stays_among_rankings(results: Results) -> Evidence:
    """Check every state of eight walks, rebuilt from the counts the sampler keeps."""
    walks = [walk(best, seed=seed) for best in (True, False) for seed in range(4)]
    off = sum(not walk.matches for walk in walks)
    jumps = sum(int(((states.signs[1:] != states.signs[:-1]).sum((1, 2)) != 1).sum()) for states in walks)
    states = sum(len(walk.signs) for walk in walks)
    check = Check(
        f"walks that leave the rankings and steps that change not exactly one pair, of {len(walks)} and {states}:",
        float(off + jumps),
        at_most=0.0,
        control=float(flips_that_leave()),
        control_of="flips of these states that leave the rankings, which a walk without the rule would take",
    )
    return Checks({"": check})


def small_changes_are_likelier(results: Results) -> Evidence:
    """Check Spearman's correlation of alpha and the size of the change of Delta_MAP, for downward and upward flips."""
    above, below, local = (correlation(*case) for case in ((1, "symmetric"), (-1, "symmetric"), (-1, "local")))
    counts = flip_frame()["sign"].value_counts()
    return Checks(
        {
            "good document above": Check(
                f"correlation over all {counts[1]} flips of two walks",
                above,
                at_most=0.0,
                control=below,
                control_of="good document below",
            ),
            "good document below": Check(
                f"correlation over all {counts[-1]} flips of two walks",
                below,
                at_most=0.0,
                control=local,
                control_of="if alpha were the same for both signs",
            ),
        }
    )


def of_bounds(column: str, less: str, extreme: str) -> Callable[[], float]:
    """Return what computes the least or largest difference between two columns of the random lists' losses."""
    return lambda: float((bound_frame()[column] - bound_frame()[less]).agg(extreme))


def convex_softens_the_hinge(results: Results) -> Evidence:
    """Check that ConvexLoss lies between the structured hinge and that plus the logarithm of the number of rankings."""
    frame = bound_frame()
    above = frame["convex_loss"] - frame["hinge"]
    without = frame["logrank_mle"] - frame["hinge"]
    room = np.log(frame["rankings"])
    return Checks(
        {
            "above the hinge": Check(
                "least of ConvexLoss less the hinge",
                float(above.min()),
                at_least=-TOLERANCE,
                control=float(without.min()),
                control_of="of MLE less the hinge",
            ),
            "below": Check(
                "least of hinge + log|Y| less ConvexLoss",
                float((room - above).min()),
                at_least=-TOLERANCE,
                control=float((room / 2 - above).min()),
                control_of="with half of log|Y|",
            ),
        }
    )
