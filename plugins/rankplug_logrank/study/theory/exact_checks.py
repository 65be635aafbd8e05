"""Evidence on the paper's statements that contain no chance: identities, bounds and what the walk does."""

from __future__ import annotations

import numpy as np

from rankplug.studies import Check, Checks, Evidence, Results, exact_check
from rankplug_logrank.study.theory.bounds import bound_frame, largest_bend
from rankplug_logrank.study.theory.identities import OVER_ALL, OVER_RANKINGS, SUMS, largest_error
from rankplug_logrank.study.theory.walk_picture import correlation, flip_frame, flips_that_leave, walk

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


def closed_form_is_not_over_rankings(results: Results) -> Evidence:
    """Compare the same closed forms with sums over rankings only."""
    return exact_check(
        "largest relative difference from sums over rankings, lists of 4 to 6 documents",
        largest_error(OVER_RANKINGS),
        at_least=TOLERANCE,
        control=largest_error(OVER_ALL),
        control_of="from sums over all sign matrices",
    )


def walk_stays_among_rankings(results: Results) -> Evidence:
    """Check every state of eight walks, rebuilt from the counts the sampler keeps."""
    walks = [walk(best, seed=seed) for best in (True, False) for seed in range(4)]
    off = sum(not walk.matches for walk in walks)
    jumps = sum(int(((states.signs[1:] != states.signs[:-1]).sum((1, 2)) != 1).sum()) for states in walks)
    states = sum(len(walk.signs) for walk in walks)
    return exact_check(
        f"walks that leave the rankings and steps that change not exactly one pair, of {len(walks)} and {states}:",
        float(off + jumps),
        at_most=0.0,
        control=float(flips_that_leave()),
        control_of="flips of these states that leave the rankings, which a walk without the rule would take",
    )


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


def convex_bounds_l3(results: Results) -> Evidence:
    """Check ConvexLoss less L3 on random lists."""
    frame = bound_frame()
    return exact_check(
        f"least of ConvexLoss less L3, {len(frame)} random lists",
        float(frame["gap"].min()),
        at_least=-TOLERANCE,
        control=float((frame["logrank_mle"] - frame["logrank_l3"]).min()),
        control_of="of MLE less L3",
    )


def gap_is_an_eighth(results: Results) -> Evidence:
    """Compare the gap between ConvexLoss and L3 with 1/8."""
    frame = bound_frame()
    return exact_check(
        f"largest gap, {len(frame)} random lists",
        float(frame["gap"].max()),
        at_most=0.125,
        control=float((frame["convex_loss"] - frame["logrank_mle"]).max()),
        control_of="to MLE",
    )


def exponential_bounds_expected(results: Results) -> Evidence:
    """Check (5) with ``f = e^x`` less (4) on random lists."""
    frame = bound_frame()
    expected = frame["logrank_l2"]
    return exact_check(
        f"least of (5) less (4), {len(frame)} random lists",
        float((frame["logrank_exponential"] - expected).min()),
        at_least=-TOLERANCE,
        control=float((np.log(expected) - expected).min()),
        control_of="with f(x) = x",
    )


def l2_is_not_convex(results: Results) -> Evidence:
    """Measure the rise of L2 above chords."""
    return exact_check(
        "largest rise above chords between random scores",
        largest_bend("logrank_l2"),
        at_least=TOLERANCE,
        control=largest_bend("convex_loss"),
        control_of="of ConvexLoss",
    )


def l3_is_not_convex(results: Results) -> Evidence:
    """Measure the rise of L3 above chords."""
    return exact_check(
        "largest rise above chords between random scores",
        largest_bend("logrank_l3"),
        at_least=TOLERANCE,
        control=largest_bend("exp_gain"),
        control_of="of ExpGain, which is not convex",
    )


def convex_is_convex(results: Results) -> Evidence:
    """Measure the rise of ConvexLoss above chords."""
    return exact_check(
        "largest rise above chords between random scores",
        largest_bend("convex_loss"),
        at_most=TOLERANCE,
        control=largest_bend("exp_gain"),
        control_of="of ExpGain",
    )


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
