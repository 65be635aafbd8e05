"""Debiasing relabels clicks by inverse propensity, for any loss and backend, and hands positions to engines."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_clicks import harvest

import rankplug as rp

TREES = "trees[rounds=30,leaves=7]"
LOG = "click_log[impressions=100,swaps=0.2]"
BACKENDS = {"lightgbm": TREES, "xgboost": TREES, "torch[steps=40]": "linear", "lbfgs[iterations=20]": "linear"}


@pytest.fixture(scope="module")
def log():
    return rp.load("synthetic[queries=300,documents=10]", transforms=[LOG], seed=0)


def relabelled(lists, propensities):
    """Return lists whose gains are proportional to clicks over examinations, document by document."""
    pairs = zip(lists.clicks.clicked, lists.clicks.shown, strict=True)
    looks = [(clicked.sum(), (shown * propensities).sum()) for clicked, shown in pairs]
    labels = [np.log2(1 + 15 * min(1.0, clicked / seen)) if seen else 0.0 for clicked, seen in looks]
    return rp.Lists(lists.features, np.float32(labels), lists.starts)


@pytest.mark.parametrize(
    ("backend", "loss"),
    [
        ("lightgbm", "lambdarank"),
        *(pytest.param(backend, "xe_ndcg", marks=pytest.mark.slow) for backend in BACKENDS),
    ],
)
def test_ips_is_training_on_clicks_over_examinations(log, backend, loss):
    propensities = np.array([1, *np.linspace(0.7, 0.1, 9)])
    given = f"ips[propensities=({','.join(map(str, propensities))})]"
    fixed = {"scorer": BACKENDS[backend], "loss": loss, "progress": False}
    debiased = rp.fit(backend, train=log.train, valid=log.valid, debias=given, **fixed)
    valid = relabelled(log.valid, propensities)
    by_hand = rp.fit(backend, train=relabelled(log.train, propensities), valid=valid, **fixed)
    assert debiased.predict(log.test).tolist() == by_hand.predict(log.test).tolist()
    assert debiased.curve.columns == by_hand.curve.columns
    assert debiased.record.chosen["propensities"] == propensities.tolist()


def test_ips_harvests_propensities_where_none_are_given(log):
    model = rp.fit("lightgbm", scorer=TREES, loss="mse", train=log.train, debias="ips")
    assert model.record.chosen["propensities"] == pytest.approx(harvest(log.train.clicks))
    assert model.record.combination["debias"] == "ips"


@pytest.mark.parametrize(
    "debias", ["ips", pytest.param("ips[propensities=regression_em]", marks=pytest.mark.slow), "dual"]
)
def test_debiased_clicks_rank_better_than_naive_ones(log, debias):
    def quality(**ways):
        model = rp.fit("lightgbm", scorer=TREES, loss="xe_ndcg", train=log.train, valid=log.valid, **ways)
        return rp.evaluate(model, log.test, "ndcg@5").mean()

    assert quality(debias=debias) > quality() + 0.01


def test_dual_learning_tells_relevance_from_position_where_a_good_ranker_showed_the_documents():
    good = "click_log[impressions=300,policy_share=1,eta=0.5]"
    log = rp.load("synthetic[queries=300,documents=10]", transforms=[good], seed=0).train
    once, often = (
        np.array(rp.fit("lightgbm", scorer=TREES, loss="xe_ndcg", train=log, debias=way).record.chosen["propensities"])
        for way in ("dual[rounds=1]", "dual[rounds=4]")
    )
    rates = log.clicks.clicked.sum(axis=0) / log.clicks.shown.sum(axis=0)
    assert once == pytest.approx(rates / rates[0])
    far = [np.abs(found - log.clicks.true_propensities).mean() for found in (once, often)]
    assert far[1] < 0.5 * far[0]


def test_a_ranker_debiases_rows_in_any_order_as_fit_does_lists(log):
    train, valid = log.train, log.valid
    order = np.random.default_rng(0).permutation(train.documents)
    # Queries of the shuffled rows come in the order of their first rows.
    queries = train.query_of_document[order]
    fixed = {"scorer": TREES, "debias": "ips"}
    ranker = rp.Ranker("mse", **fixed).fit(
        train.features[order],
        np.zeros(train.documents),
        qid=queries,
        clicks=train.clicks[order],
        eval_set=(valid.features, np.zeros(valid.documents), valid.query_of_document, valid.clicks),
    )
    model = rp.fit("lightgbm", loss="mse", train=train, valid=valid, **fixed)
    propensities = model.record.chosen["propensities"]
    assert ranker.model_.record.chosen["propensities"] == pytest.approx(propensities, rel=1e-12)
    np.testing.assert_allclose(ranker.predict(valid.features), model.predict(valid), rtol=1e-5, atol=1e-6)
    chosen = rp.Ranker("mse", scorer=TREES).fit(train.features, train.clicks.rates, qid=train.query_of_document)
    assert chosen.predict(valid.features).tolist() != ranker.predict(valid.features).tolist()
