"""Verdicts of the study: claims hold, fail or stay open as made numbers say."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from rankplug_uniquerating.study import claims, exhibits, protocol

import rankplug as rp
from rankplug.studies import Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw uniquerating")
STUDY = rp.study("uniquerating")


def test_choices_are_shown_beside_the_papers_own_where_they_were_run(results):
    frame, _ = STUDY.exhibit("Choices").draw(results)
    assert len(frame) == 4 * (2 + 3 + 5 + 3) and frame["combination"].str.len().min() > 0
    assert STUDY.exhibit("Choices").draw(made({}))[0].empty
    statistic = exhibits.chosen_well(protocol.URRANK, protocol.AVERAGED)
    untried = judged(exhibits.wider_windows_do_not_help, made({}))
    assert judged(statistic, made({})).verdict == untried.verdict == "not run"


def test_the_table_of_sparsity_has_the_lead_on_the_same_data_twice(results):
    table, _ = STUDY.exhibit("Section 6, sparsity").draw(results)
    place = table[table["in the place of"] == protocol.WEB10K].set_index("features")
    assert place.loc["made sparse", "zeros (%)"] >= 79.9 and place.loc["as they are", "zeros (%)"] < 79.9
    values = [results.trials(group, "ndcg@10") for group in (protocol.WEB10K, f"sparse {protocol.WEB10K}")]
    leads = [100 * (trials["uMart"] - trials["uRank"]).mean() for trials in values]
    assert place["lead of trees"].tolist() == pytest.approx(leads)
    change = claims.exhibits.change_of_the_lead(results)
    assert [100 * float(sample.estimate.point) for sample in change.values()] == pytest.approx([leads[1] - leads[0]])
    assert judged(claims.trees_gain_where_sparse, made({})).verdict == "not run"


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


def test_verdicts_name_the_data_they_were_judged_on():
    statistic = claims.above("uBoost", ("uRank",))
    of_made, of_real = (judged(statistic, made({"uBoost": 0.05}, name)).sentence for name in ("synthetic", "ohsumed"))
    assert of_made.startswith("on made data;") and "made data for OHSUMED ndcg@1" in of_made
    assert of_real.startswith("on OHSUMED;") and "made data" not in of_real


def test_places_that_were_not_run_are_named():
    some = made({"uMart": 0.05})
    frames = {name: some[name] for name in (protocol.OHSUMED, protocol.MQ2007)}
    verdict = judged(claims.above("uMart", ("LambdaMart-L",)), dataclasses.replace(some, frames=frames))
    assert verdict.verdict == "holds" and "not run: MSLR-WEB10K, MSLR-WEB30K" in verdict.sentence
    absent = claims.above("uMart", ("LambdaMart-L",), (protocol.WEB10K,))
    assert judged(absent, dataclasses.replace(some, frames=frames)).verdict == "not run"


def test_selection_on_the_test_part_is_told_from_selection_on_validation_data():
    plain, higher = made({"uRank": 0.0}), made({"uRank": 0.03})
    group = protocol.group_of(plain, protocol.OHSUMED, protocol.TEST_SELECTED)
    mixed = Results("smoke", {**plain.frames, group: higher[group]}, plain.published, (), plain.runs)
    assert judged(claims.testing_on_the_selection_set_flatters, mixed).verdict == "holds"
    assert judged(claims.testing_on_the_selection_set_flatters, plain).verdict == "no difference"


def test_times_of_other_implementations_are_not_judged():
    times = [claim for claim in STUDY.claims if "faster-than" in claim.id]
    assert len(times) == 3 and {claim.judge(None).verdict for claim in times} == {"not comparable"}
    assert "ms" in STUDY.observations[0].tell(None)
