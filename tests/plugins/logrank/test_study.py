"""The study of the paper: numbers of its exhibits, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from rankplug_logrank.study import accuracy, claims, evidence, protocol
from rankplug_logrank.study.protocol import MEASURES, MODELS

import rankplug as rp
from rankplug.studies import Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw logrank")
STUDY = rp.study("logrank")


@pytest.fixture(scope="session")
def results(results_of_study):
    return results_of_study("logrank")


def test_a_data_set_can_be_named():
    assert {group.shared["dataset"] for group in STUDY.runs("smoke", "mq2008")} == {"mq2008"}


@pytest.mark.slow
def test_figure_3_has_all_models_on_all_data_and_their_microaverage(results):
    measure = "NDCG@5"
    frame, _ = STUDY.exhibit(f"Figure 3 {measure}").draw(results)
    columns = ["made as .Gov", "made as OHSUMED", "microaverage"]
    assert list(frame["column"].unique()) == columns
    assert all(tuple(frame[frame["column"] == column]["model"]) == MODELS for column in columns)
    wide = frame.pivot(index="model", columns="column", values="mean")
    counts = frame.groupby("column")["queries"].first()
    weighted = (wide[columns[:2]] * counts[columns[:2]]).sum(axis=1) / counts[columns[:2]].sum()
    assert np.allclose(wide["microaverage"], weighted)
    group = results.queries("accuracy made as OHSUMED", MEASURES[measure])
    of_trials = group[group["model"] == "MLE"].groupby("trial")["value"].mean()
    assert wide.loc["MLE", "made as OHSUMED"] == pytest.approx(of_trials.mean())


def made(lead: float, spread: float = 0.001) -> Results:
    """Make results in which Convex_NDCG leads all others by a little more or less than ``lead`` in each trial."""
    noise = np.random.default_rng(0)
    rows = []
    for model, metric, trial in itertools.product(MODELS, MEASURES.values(), range(20)):
        value = 0.5 + 0.01 * trial + (lead + spread * (-1) ** trial) * (model == "Convex_NDCG")
        rows.append({"model": model, "metric": metric, "query": "1", "value": value, "fold": 1, "trial": trial})
    accuracy = pd.DataFrame(rows).assign(measure="query", dataset="made")
    size = protocol.SIZES["quick"]
    settings = list(protocol.sampler_settings(size))
    rows = []
    for name, metric, trial in itertools.product(settings, MEASURES.values(), range(5)):
        kind, _, number = name.partition(" ")
        effect = {"samples": 0.01 * np.log2(float(number)) if kind == "samples" else 0.0, "skew": 0.0}.get(kind, 0.0)
        effect -= 0.01 * float(number) if kind == "skew" else 0.0
        effect += {"mostly best": 0.2, "even": 0.1}.get(name, 0.0)
        value = 0.4 + np.sign(lead) * effect + 1e-3 * noise.normal()
        rows.append({"model": name, "metric": metric, "query": "1", "value": value, "fold": 1, "trial": trial})
    sampler = pd.DataFrame(rows).assign(measure="query", dataset="made")
    for frame, models in ((accuracy, MODELS), (sampler, settings)):
        frame["model"] = pd.Categorical(frame["model"], models)
    runs = {
        "accuracy made": Runs("accuracy made", {}, {}, kind="accuracy", place="made"),
        "sampler": Runs("sampler", {}, {}, kind="sampler", settings=protocol.sampler_settings(size)),
    }
    return Results("quick", {"accuracy made": accuracy, "sampler": sampler}, STUDY.published(), runs=runs)


def verdict(statistic, results):
    return Claim("claim", "", statistic, margin=claims.POINTS).judge(results).verdict


@pytest.mark.parametrize(
    "statistic",
    [
        evidence.ranks_better([("Convex_NDCG", "MLE")]),
        evidence.best_of("Convex_NDCG", protocol.BASELINES),
        evidence.more_rankings_help,
        evidence.best_restarts_help,
        evidence.negative_skew_helps,
    ],
)
def test_claims_hold_or_fail_as_the_numbers_say(statistic):
    assert verdict(statistic, made(0.05)) == "holds"
    assert verdict(statistic, made(-0.05)) == "fails"


def test_a_microaverage_weighs_data_sets_by_their_queries():
    results = made(0.05)
    first = results["accuracy made"]
    few = first.assign(value=first["value"] + 0.2 * (first["model"] == "MLE"))
    many = pd.concat([first, first.assign(query="2"), first.assign(query="3")])
    runs = {name: Runs(name, {}, {}, kind="accuracy") for name in ("accuracy few", "accuracy many")}
    both = dataclasses.replace(results, frames={"accuracy few": few, "accuracy many": many}, runs=runs)
    found = accuracy.microaverage(both, "map", {"Convex_NDCG": 1.0, "MLE": -1.0}).estimate
    assert found.point == pytest.approx((0.05 - 0.2 + 3 * 0.05) / 4)


def test_a_lead_within_the_noise_settles_nothing():
    better = evidence.ranks_better([("Convex_NDCG", "MLE")])
    assert verdict(better, made(0.0)) == "no difference"
    assert verdict(better, made(0.0, spread=0.1)) == "inconclusive"
    assert verdict(evidence.samples_saturate, made(0.0)) == "holds"
    assert verdict(evidence.samples_saturate, made(0.05)) == "fails"


def test_a_share_of_cells_is_counted_trial_by_trial():
    most, half = evidence.most_cells("ConvexLoss_NDCG", "beats ExpGain_NDCG"), evidence.half_of_the_cells
    assert (verdict(most, made(0.05)), verdict(most, made(-0.05))) == ("holds", "fails")
    # MLE and the baselines are equal, and ties count one half.
    assert verdict(half, made(0.05)) == "holds"
    assert accuracy.cells_above_half(made(0.05), ["Convex_NDCG"], ["MLE"]).estimate.point == 0.5
