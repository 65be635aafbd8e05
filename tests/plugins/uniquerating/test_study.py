"""The study of the paper: numbers of its exhibits, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rankplug_uniquerating.study import claims, exhibits, protocol

import rankplug as rp
from rankplug.studies import PROFILES, Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw uniquerating")
STUDY = rp.study("uniquerating")
PLACES = tuple(protocol.PLACES)


@pytest.fixture
def results(results_of_study):
    return results_of_study("uniquerating")


@pytest.mark.parametrize("profile", PROFILES)
def test_only_groups_that_say_so_are_selected_on_the_test_part(profile):
    for group in STUDY.runs(profile, None):
        named = group.kind in (protocol.TEST_SELECTED, protocol.LIGHTGBM_EVALUATION)
        for parts in group.models.values():
            assert (protocol.ON_TEST in parts["transforms"]) == named


def test_validating_on_the_test_part_changes_nothing_else():
    plain = rp.load("synthetic[shape=ohsumed,queries=20,documents=5]", seed=1)
    changed = rp.load("synthetic[shape=ohsumed,queries=20,documents=5]", seed=1, transforms=[protocol.ON_TEST])
    assert [part.fingerprint for part in changed] == [plain.train.fingerprint, *[plain.test.fingerprint] * 2]


@pytest.mark.parametrize(
    ("place", "ndcg", "err"),
    [
        ("OHSUMED", (8.70, 18.26, 12.02, 11.19), (17.48, 13.50, 11.97, 11.86)),
        ("MQ2007", (4.90, 2.97, 3.14, 2.73), (28.63, 18.50, 20.44, 22.76)),
        ("MSLR-WEB10K", (2.78, 3.77, 3.72, 4.21), (2.78, 2.54, 2.23, 2.17)),
        ("MSLR-WEB30K", (3.27, 4.70, 4.66, 4.49), (3.37, 2.83, 2.52, 2.28)),
    ],
)
def test_the_published_gains_follow_from_the_published_tables(place, ndcg, err):
    published = STUDY.published()
    found = [exhibits.published_gain(published, place, name) for name in (*protocol.NDCG, *protocol.ERR)]
    assert found == pytest.approx([*ndcg, *err], abs=0.006)


def test_features_made_sparse_are_zero_for_their_share_of_the_training_documents_and_keep_their_order():
    dense = rp.load("synthetic[queries=60,documents=10]", seed=1)
    sparse = rp.load("synthetic[queries=60,documents=10]", seed=1, transforms=["sparse_features[share=0.7]"])
    bounds = np.array([np.sort(column)[int(np.ceil(0.7 * column.size)) - 1] for column in dense.train.features.T])
    for before, after in zip(dense, sparse, strict=True):
        assert after.features == pytest.approx(np.maximum(before.features - bounds, 0))
        assert after.labels.tolist() == before.labels.tolist()
    assert (sparse.train.features == 0).mean(axis=0).min() >= 0.7 - 1e-9


@pytest.mark.slow
def test_err_by_the_collections_largest_rating_is_never_above_the_querys(results):
    table, _ = STUDY.exhibit("Tables 2-5, ERR").draw(results)
    assert len(table) == 34
    assert (table["ours on"] == "made data for " + table["collection"]).all()
    assert (table["ERR@1, collection's largest"] <= table["ERR@1, query's largest"] + 1e-12).all()
    urank = table[(table["collection"] == "MQ2007") & (table["model"] == "uRank")]["published ratio"].iloc[0]
    assert urank == pytest.approx(0.295 / 0.481)


@pytest.mark.slow
def test_our_err_grows_with_the_cutoff_for_every_query(results):
    for collection in PLACES:
        rows = results[collection][results[collection]["metric"].isin(protocol.ERR)]
        wide = rows.pivot_table(index=["model", "trial", "query"], columns="metric", values="value", observed=True)
        assert (wide[list(protocol.ERR)].diff(axis=1).iloc[:, 1:] >= -1e-12).all(axis=None)


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
