"""Verdicts of the study: claims hold, fail or stay open as made numbers say."""

from __future__ import annotations

import pandas as pd
import pytest
from rankplug_uniquerating.study import claims, protocol

import rankplug as rp
from rankplug.studies import Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw uniquerating")
STUDY = rp.study("uniquerating")


def made(
    leads: dict[str, float], dataset: str = "synthetic", level: float = 0.4, trials: int = 6, noise: float = 0.001
) -> Results:
    """Make results in which some models lead the others, in half of the trials a little more or less."""
    groups = {collection: (protocol.TABLES, collection) for collection in protocol.PLACES}
    groups["on test"] = (protocol.TEST_SELECTED, protocol.OHSUMED)
    groups |= {f"evaluation {collection}": (protocol.LIGHTGBM_EVALUATION, collection) for collection in protocol.PLACES}
    rows = []
    for trial in range(trials):
        for model in sorted({*protocol.OURS, *protocol.BENCHMARKS}):
            value = level + leads.get(model, 0.0) + noise * (-1) ** trial * (model in leads)
            about = {"model": model, "trial": trial, "fold": 1, "measure": "query", "query": "1", "value": value}
            rows += [{**about, "metric": metric} for metric in (*protocol.NDCG, *protocol.LIGHTGBM_NDCG)]
    frame = pd.DataFrame(rows)
    frame["model"] = pd.Categorical(frame["model"])
    runs = {
        group: Runs(group, {}, {"dataset": dataset}, kind=kind, place=place) for group, (kind, place) in groups.items()
    }
    return Results("smoke", dict.fromkeys(groups, frame), STUDY.published(), (), runs)


def judged(statistic, results, margin=claims.POINTS):
    return Claim("claim", "", statistic, margin=margin).judge(results)


LEADS = [
    ("uBoost", claims.above("uBoost", ("uRank",))),
    ("urBoost", claims.above("urBoost", protocol.BENCHMARKS)),
    ("uMart", claims.above("uMart", ("LambdaMart-L",))),
    (
        "uMart",
        claims.above("uMart", ("LambdaMart-L",), metrics=protocol.LIGHTGBM_NDCG, kind=protocol.LIGHTGBM_EVALUATION),
    ),
]


@pytest.mark.parametrize(("model", "statistic"), LEADS)
def test_claims_of_a_lead_hold_fail_or_stay_open_as_the_numbers_say(model, statistic):
    assert judged(statistic, made({model: 0.05})).verdict == "holds"
    assert judged(statistic, made({model: -0.05})).verdict == "fails"
    assert judged(statistic, made({model: 0.0})).verdict == "no difference"
    assert judged(statistic, made({model: 0.0}, noise=0.05)).verdict == "inconclusive"


def test_selection_on_the_test_part_is_told_from_selection_on_validation_data():
    plain, higher = made({"uRank": 0.0}), made({"uRank": 0.03})
    group = protocol.group_of(plain, protocol.OHSUMED, protocol.TEST_SELECTED)
    mixed = Results("smoke", {**plain.frames, group: higher[group]}, plain.published, (), plain.runs)
    assert judged(claims.testing_on_the_selection_set_flatters, mixed).verdict == "holds"
    assert judged(claims.testing_on_the_selection_set_flatters, plain).verdict == "no difference"
