"""Verdicts of the study: claims hold, fail or stay open as made numbers say."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from rankplug_stochastic.study import claims, evidence, protocol
from rankplug_stochastic.study.exhibits import METRIC

import rankplug as rp
from rankplug.studies import Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw stochastic")
STUDY = rp.study("stochastic")
FIXED, TUNED = f"fixed {protocol.WEB30K}", f"tuned {protocol.WEB30K}"


def test_leads_of_trials_are_counted_and_tested_against_one_half():
    for lead, found in ((0.05, "holds"), (-0.05, "fails")):
        judged = Claim("claim", "", evidence.whichever_trial, margin=claims.OF_TRIALS).judge(made(lead))
        assert judged.verdict == found
        assert verdict(evidence.whichever_trial, made(lead, trials=5)) == "not run"
        assert f"in {6 if lead > 0 else 0} of 6 trainings" in judged.sentence + " ".join(judged.notes)


RUNS = {
    FIXED: Runs(FIXED, {}, {"dataset": "synthetic"}, kind="fixed", place=protocol.WEB30K),
    TUNED: Runs(TUNED, {}, {"dataset": "synthetic"}, kind="tuned", place=protocol.WEB30K),
}


def made(lead: float, trials: int = 6, noise: float = 0.001) -> Results:
    """Make results in which an expected loss leads its baseline by ``lead``, give or take a little by trial."""
    level = {"CrossEntropy": 0.30, "ApproxNDCG": 0.40, "lambdaMART": 0.50}
    rows = []
    for trial in range(trials):
        for model in protocol.MODELS:
            base = level[model.removeprefix("E[").removesuffix("]")]
            base += (lead + noise * (-1) ** trial) * model.startswith("E[")
            about = {"model": model, "trial": trial, "fold": 1, "dataset": "made", "combination": model}
            test = {**about, "measure": "query", "part": "test", "query": "1", "value": base}
            curve = {**about, "measure": "curve", "part": "valid", "metric": METRIC, "value": base}
            rows += [{**test, "metric": metric} for metric in protocol.METRICS]
            rows += [{**curve, "iteration": iteration} for iteration in range(12)]
    frame = pd.DataFrame(rows)
    frame["model"] = pd.Categorical(frame["model"], protocol.MODELS)
    return Results("smoke", {FIXED: frame, TUNED: frame}, STUDY.published(), runs=RUNS)


def verdict(statistic, results, margin=claims.POINTS):
    return Claim("claim", "", statistic, margin=margin).judge(results).verdict


LEADS = [
    evidence.approx_reaches_higher,
    evidence.early_lead("lambdaMART"),
    evidence.early_lead("ApproxNDCG"),
    evidence.better_at_every_cutoff("E[ApproxNDCG]", "ApproxNDCG"),
    evidence.better_at_every_cutoff("E[lambdaMART]", "lambdaMART"),
]


@pytest.mark.parametrize("statistic", LEADS)
def test_claims_of_a_lead_hold_fail_or_stay_open_as_the_numbers_say(statistic):
    assert verdict(statistic, made(0.05)) == "holds"
    assert verdict(statistic, made(-0.05)) == "fails"
    assert verdict(statistic, made(0.0)) == "no difference"
    assert verdict(statistic, made(0.0, noise=0.05)) == "inconclusive"


@pytest.mark.parametrize("statistic", [evidence.cross_entropy_unchanged, evidence.cross_entropy_pair_alike])
def test_claims_of_no_difference_fail_where_there_is_one(statistic):
    assert verdict(statistic, made(0.0)) == "holds"
    assert verdict(statistic, made(0.05)) == "fails"
    assert verdict(statistic, made(-0.05)) == "fails"
    assert verdict(statistic, made(0.0, noise=0.05)) == "inconclusive"


@pytest.mark.parametrize("statistic", [evidence.early_lead("lambdaMART"), evidence.approx_overfits_earlier])
def test_curves_that_early_stopping_ended_are_not_compared(statistic):
    results = made(0.05)
    records = tuple({"identity": model, "record": {"stopped": "patience"}} for model in protocol.MODELS)
    stopped = dataclasses.replace(results, records=records)
    verdict = Claim("claim", "", statistic, margin=claims.POINTS).judge(stopped)
    assert verdict.verdict == "not run" and "not run to the end" in verdict.sentence


def test_a_growing_gap_is_told_from_a_shrinking_one():
    growing = made(0.0)
    frame = growing[FIXED]
    expected = frame["model"].str.startswith("E[") & (frame["measure"] == "curve")
    grows, early = (
        next(claim for claim in STUDY.claims if claim.id == name)
        for name in ("approxndcg-gap-grows", "lambdamart-gain-with-fewer-trees")
    )
    for sign, verdict in ((1, "holds"), (-1, "fails")):
        changed = frame.assign(value=frame["value"] + sign * 0.01 * frame["iteration"].fillna(0) * expected)
        results = Results("smoke", {FIXED: changed}, growing.published, runs=RUNS)
        assert grows.judge(results).verdict == verdict
        assert early.judge(results).verdict == {"holds": "fails", "fails": "holds"}[verdict]
