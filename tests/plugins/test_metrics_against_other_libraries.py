"""Metrics equal those of other libraries wherever the conventions meet."""

from __future__ import annotations

import itertools
import shutil

import ir_measures
import numpy as np
import pytest
import xgboost
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

import rankplug as rp

QUERIES = 60


@pytest.fixture(scope="module")
def data():
    """Make scores without ties (whole numbers, as trec_eval keeps single precision), graded labels, and starts."""
    generator = np.random.default_rng(3)
    lengths = generator.integers(2, 40, QUERIES)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    scores = np.concatenate([generator.permutation(length) for length in lengths]).astype(float)
    labels = generator.choice(5, size=starts[-1], p=[0.55, 0.25, 0.1, 0.07, 0.03]).astype(float)
    labels[starts[7] : starts[8]] = 0.0
    return scores, labels, starts


def spans(starts):
    return [slice(begin, end) for begin, end in itertools.pairwise(starts)]


def trec(scores, labels, starts):
    relevance, retrieved = {}, {}
    for query, span in enumerate(spans(starts)):
        names = [f"d{document}" for document in range(span.stop - span.start)]
        relevance[str(query + 101)] = dict(zip(names, map(int, labels[span]), strict=True))
        retrieved[str(query + 101)] = dict(zip(names, map(float, scores[span]), strict=True))
    return relevance, retrieved


@pytest.mark.parametrize("k", [1, 3, 10, None])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_ndcg_is_scikit_learns(data, k, gain):
    scores, labels, starts = data
    found = rp.metric(f"ndcg[k={'none' if k is None else k},gain={gain},empty=0]")(scores, labels, starts)
    gains = labels if gain == "linear" else 2**labels - 1
    expected = [ndcg_score(gains[None, span], scores[None, span], k=k) for span in spans(starts)]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("threshold", [1, 2])
def test_map_and_auc_are_scikit_learns(data, threshold):
    scores, labels, starts = data
    tied = np.round(scores / 4)
    ap = rp.metric(f"map[threshold={threshold}]")(scores, labels, starts)
    auc = rp.metric(f"auc[threshold={threshold}]")(tied, labels, starts)
    compared = 0
    for query, span in enumerate(spans(starts)):
        relevant = labels[span] >= threshold
        if relevant.any() and not relevant.all():
            compared += 1
            assert ap[query] == pytest.approx(average_precision_score(relevant, scores[span]), abs=1e-12)
            assert auc[query] == pytest.approx(roc_auc_score(relevant, tied[span]), abs=1e-12)
    assert compared > QUERIES / 2


IR_MEASURES = {
    "ndcg@10": ir_measures.nDCG(cutoff=10, dcg="exp-log2"),
    "ndcg@10[gain=linear]": ir_measures.nDCG(cutoff=10),
    "err@10[ymax=4]": ir_measures.ERR @ 10,
    "map[threshold=2]": ir_measures.AP(rel=2),
    "mrr@10": ir_measures.RR @ 10,
    "precision@3[threshold=2]": ir_measures.P(rel=2) @ 3,
    "recall@3": ir_measures.R @ 3,
    "success@1": ir_measures.Success @ 1,
    "success@3[threshold=3]": ir_measures.Success(rel=3) @ 3,
}
PRINTED_BY_GDEVAL = {"ndcg@10", "err@10[ymax=4]"}
GDEVAL_DIGITS = 6e-6


@pytest.mark.parametrize("metric", IR_MEASURES)
def test_measures_are_those_of_ir_measures(data, metric):
    if metric in PRINTED_BY_GDEVAL and shutil.which("perl") is None:
        pytest.skip("ir-measures computes this measure with a Perl script, and there is no perl")
    relevance, retrieved = trec(*data)
    measure = IR_MEASURES[metric]
    expected = {result.query_id: result.value for result in ir_measures.iter_calc([measure], relevance, retrieved)}
    quality = rp.metric(metric.replace("]", ",empty=0]") if "[" in metric else f"{metric}[empty=0]")
    found = quality(*data)
    tolerance = GDEVAL_DIGITS if metric in PRINTED_BY_GDEVAL else 1e-9
    assert found == pytest.approx([expected.get(query, 0.0) for query in relevance], abs=tolerance)


@pytest.fixture(scope="module")
def ranking_task():
    generator = np.random.default_rng(11)
    lengths = generator.integers(5, 25, 80)
    features = generator.normal(size=(lengths.sum(), 5))
    labels = np.clip(np.round(features[:, 0] + generator.normal(0, 1, lengths.sum())), 0, 4)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    labels[starts[3] : starts[4]] = 0
    return features, labels, lengths, starts


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg@3", "ndcg@3[empty=1]"),
        ("ndcg@3-", "ndcg@3[empty=0]"),
        ("ndcg", "ndcg[empty=1]"),
        ("map@5", "map@5[divide_by=reachable,empty=1]"),
        ("map", "map[empty=1]"),
    ],
)
def test_values_are_what_xgboost_reports_in_training(ranking_task, theirs, ours):
    features, labels, lengths, starts = ranking_task
    labels = (labels >= 1).astype(float) if theirs.startswith("map") else labels
    data = xgboost.DMatrix(features, labels, group=lengths)
    reported: dict = {}
    parameters = {"objective": "rank:ndcg", "eval_metric": theirs, "max_depth": 3, "nthread": 1, "seed": 1}
    model = xgboost.train(parameters, data, 5, evals=[(data, "same")], evals_result=reported, verbose_eval=False)
    scores = model.predict(data, output_margin=True)
    assert rp.metric(ours).mean(scores, labels, starts) == pytest.approx(reported["same"][theirs][-1], abs=1e-6)


# ranx compiles itself for a dozen seconds.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("theirs", "ours", "relevant"),
    [("hit_rate@3", "success@3", 1), ("rbp.80", "rbp[p=0.8]", 1), ("rbp.50", "rbp[p=0.5,threshold=2]", 2)],
)
def test_success_and_rank_biased_precision_are_those_of_ranx(data, theirs, ours, relevant):
    ranx = pytest.importorskip("ranx")
    relevance, retrieved = trec(*data)
    run = ranx.Run(retrieved)
    # ranx weighs a document by its label, so that one of label 3 counts thrice.
    hits = {
        query: {name: int(label >= relevant) for name, label in names.items()} for query, names in relevance.items()
    }
    ranx.evaluate(ranx.Qrels(hits), run, theirs)
    found = rp.metric(ours)(*data)
    kept = ~np.isnan(found)
    expected = [run.scores[theirs][query] for query in relevance]
    assert kept.sum() > QUERIES / 2
    assert found[kept] == pytest.approx(np.array(expected)[kept], abs=1e-9)
