"""Metrics equal the specification's golden numbers, their definitions written out, and their properties."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankplug as rp

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())["metrics"]
GOLDEN_METRICS = {
    **{f"ndcg@{k}": f"ndcg@{k}" for k in (1, 3, 5, 10)},
    **{f"ndcg_jk@{k}": f"ndcg@{k}[discount=jk]" for k in (1, 3, 5)},
    **{f"err_qmax@{k}": f"err@{k}" for k in (1, 3, 5, 10)},
    **{f"err_max4@{k}": f"err@{k}[ymax=4]" for k in (1, 3, 5)},
    "ap_binary": "map",
    "auc_binary": "auc",
}
RANKED = ["ndcg", "dcg", "err", "map", "mrr", "precision", "recall", "success", "rbp"]
ALL = [*RANKED, "auc", "kendall", "spearman"]


def value(metric: str, scores, labels) -> float:
    """Return the metric of one list."""
    return float(rp.metric(metric)(scores, labels, [0, len(labels)])[0])


def in_order(scores, labels) -> list[float]:
    """Return labels by descending score, ties as they stand."""
    return [labels[i] for i in sorted(range(len(scores)), key=lambda i: -scores[i])]


def defined_ndcg(ranked, k=None, gain=lambda y: 2**y - 1, discount=lambda r: 1 / math.log2(1 + r)):
    def total(labels):
        return sum(gain(y) * discount(r) for r, y in enumerate(labels[:k], start=1))

    return total(ranked) / total(sorted(ranked, reverse=True))


def defined_err(ranked, k=None, ymax=None):
    stops = [(2**y - 1) / 2 ** (max(ranked) if ymax is None else ymax) for y in ranked]
    return sum(
        stops[r] / (r + 1) * math.prod(1 - stop for stop in stops[:r]) for r in range(min(k or len(stops), len(stops)))
    )


def jk(rank: int) -> float:
    """Return the discount of Jarvelin and Kekalainen with base 2."""
    return 1.0 if rank <= 2 else 1 / math.log2(rank)


@st.composite
def lists(draw, longest=12, largest=4, ties=True):
    """Return the scores and labels of one list with a relevant document."""
    n = draw(st.integers(1, longest))
    labels = draw(st.lists(st.integers(0, largest), min_size=n, max_size=n).filter(any))
    values = st.integers(-4, 4) if ties else st.floats(-5, 5, width=32)
    scores = draw(st.lists(values, min_size=n, max_size=n, unique=not ties))
    return [float(score) for score in scores], [float(label) for label in labels]


@pytest.mark.parametrize("key", GOLDEN["out"])
def test_golden_numbers(key):
    assert value(GOLDEN_METRICS[key], GOLDEN["in"]["s"], GOLDEN["in"]["y"]) == pytest.approx(
        GOLDEN["out"][key], abs=1e-8
    )


@given(lists(), st.integers(1, 14))
def test_ndcg_is_its_definition(one, k):
    ranked = in_order(*one)
    assert value(f"ndcg@{k}", *one) == pytest.approx(defined_ndcg(ranked, k), abs=1e-12)
    assert value(f"ndcg@{k}[discount=jk]", *one) == pytest.approx(defined_ndcg(ranked, k, discount=jk), abs=1e-12)
    linear = defined_ndcg(ranked, k, gain=float)
    assert value(f"ndcg@{k}[gain=linear]", *one) == pytest.approx(linear, abs=1e-12)


@given(lists(), st.integers(1, 14))
def test_err_is_its_definition(one, k):
    ranked = in_order(*one)
    assert value(f"err@{k}", *one) == pytest.approx(defined_err(ranked, k), abs=1e-12)
    assert value(f"err@{k}[ymax=4]", *one) == pytest.approx(defined_err(ranked, k, ymax=4), abs=1e-12)


@given(lists(largest=2), st.integers(1, 14), st.sampled_from([1, 2]))
def test_binary_metrics_are_their_definitions(one, k, threshold):
    hits = [label >= threshold for label in in_order(*one)]
    relevant, n = sum(hits), len(hits)
    precision = [sum(hits[:r]) / r for r in range(1, n + 1)]
    expected = {
        f"map@{k}[threshold={threshold}]": lambda: sum(itertools.compress(precision[:k], hits)) / relevant,
        f"map@{k}[threshold={threshold},divide_by=reachable]": lambda: (
            sum(itertools.compress(precision[:k], hits)) / min(k, relevant, n)
        ),
        f"mrr@{k}[threshold={threshold}]": lambda: 1 / (hits.index(True) + 1) if any(hits[:k]) else 0.0,
        f"precision@{k}[threshold={threshold}]": lambda: sum(hits[:k]) / k,
        f"precision@{k}[threshold={threshold},divide_by=documents]": lambda: sum(hits[:k]) / min(k, n),
        f"recall@{k}[threshold={threshold}]": lambda: sum(hits[:k]) / relevant,
        f"success@{k}[threshold={threshold}]": lambda: float(any(hits[:k])),
        f"rbp@{k}[threshold={threshold},p=0.7]": lambda: sum(0.3 * 0.7**r for r, hit in enumerate(hits[:k]) if hit),
    }
    for metric, formula in expected.items():
        wanted = formula() if relevant else math.nan
        assert value(metric, *one) == pytest.approx(wanted, abs=1e-12, nan_ok=True), metric


@given(lists(largest=1))
def test_auc_counts_pairs_and_a_tie_as_one_half(one):
    scores, labels = one
    pairs = [(g, b) for g in range(len(labels)) for b in range(len(labels)) if labels[g] > labels[b]]
    wins = sum((scores[g] > scores[b]) + 0.5 * (scores[g] == scores[b]) for g, b in pairs)
    ordered = sum(scores[g] > scores[b] or (scores[g] == scores[b] and g < b) for g, b in pairs)
    assert value("auc", *one) == pytest.approx(wins / len(pairs) if pairs else math.nan, nan_ok=True)
    assert value("auc[ties=stable]", *one) == pytest.approx(ordered / len(pairs) if pairs else math.nan, nan_ok=True)


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@given(lists(longest=40, largest=6))
def test_rank_correlations_are_scipys_whatever_is_tied(one):
    scores, labels = one
    for name, correlation in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
        expected = correlation(scores, labels).statistic if len(labels) > 1 else math.nan
        assert value(f"{name}[tied_scores=undefined]", *one) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_rank_correlations_of_a_long_list_with_fractions_for_labels_are_scipys():
    generator = np.random.default_rng(2)
    labels = np.round(generator.random(3001), 3)
    scores = np.round(labels + generator.normal(size=3001), 2)
    assert value("kendall", scores, labels) == pytest.approx(stats.kendalltau(scores, labels).statistic, abs=1e-12)
    assert value("spearman", scores, labels) == pytest.approx(stats.spearmanr(scores, labels).statistic, abs=1e-12)


@pytest.mark.parametrize("metric", ["kendall", "spearman"])
def test_scores_that_are_all_equal_correlate_with_nothing(metric):
    assert value(metric, [1.0, 1.0, 1.0], [0, 1, 2]) == 0
    assert math.isnan(value(f"{metric}[tied_scores=undefined]", [1.0, 1.0, 1.0], [0, 1, 2]))
    assert math.isnan(value(metric, [1.0, 2.0, 3.0], [1, 1, 1])), "labels that are all equal rank nothing"


@pytest.mark.parametrize("length", [31, 33, 513])
@pytest.mark.parametrize("metric", ["ndcg", "ndcg@7", "ndcg@33"])
def test_long_lists_with_many_ties_are_ordered_as_by_a_stable_sort(length, metric):
    generator = np.random.default_rng(length)
    labels = generator.integers(0, 5, length).astype(float)
    for scores in (generator.integers(0, length // 4, length).astype(float), generator.normal(size=length)):
        k = int(metric.partition("@")[2] or length)
        expected = defined_ndcg(in_order(scores.tolist(), labels.tolist()), k)
        assert value(metric, scores, labels) == pytest.approx(expected, abs=1e-12)


@given(lists(), st.integers(1, 12))
def test_worst_order_of_ties_is_the_lowest_value_over_all_orders(one, k):
    scores, labels = one[0][:6], one[1][:6]
    if not any(labels):
        return
    orders = np.array([*itertools.permutations(zip(scores, labels, strict=True))])
    starts = np.arange(len(orders) + 1) * len(scores)
    permuted = rp.metric(f"ndcg@{k}")(orders[..., 0].ravel(), orders[..., 1].ravel(), starts)
    assert value(f"ndcg@{k}[ties=worst]", scores, labels) == pytest.approx(permuted.min(), abs=1e-12)


def test_random_order_of_ties_follows_its_seed_and_is_fair():
    labels = [1.0, 0.0, 0.0]
    values = [value(f"mrr[ties=random,tie_seed={seed}]", [0.0] * 3, labels) for seed in range(600)]
    assert values[:50] == [value(f"mrr[ties=random,tie_seed={seed}]", [0.0] * 3, labels) for seed in range(50)]
    shares = np.array([np.mean(np.isclose(values, 1 / rank)) for rank in (1, 2, 3)])
    assert shares.sum() == pytest.approx(1.0)
    assert np.abs(shares - 1 / 3).max() < 4 * math.sqrt(2 / 9 / 600)


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_values_do_not_depend_on_the_number_of_threads(seed):
    generator = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(generator.integers(1, 300, 200))))
    scores = generator.integers(0, 50, starts[-1]).astype(float)
    labels = generator.integers(0, 5, starts[-1]).astype(float)
    for metric in ("ndcg@10[ties=random]", "err", "auc", "kendall", "spearman"):
        with rp.use_threads(1):
            alone = rp.metric(metric)(scores, labels, starts)
        with rp.use_threads(4):
            assert np.array_equal(alone, rp.metric(metric)(scores, labels, starts), equal_nan=True)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(("empty", "expected"), [("skip", math.nan), (0.5, 0.5)])
def test_a_query_without_relevant_documents_counts_what_empty_says(metric, empty, expected):
    values = rp.metric(f"{metric}[empty={empty}]")([3.0, 2.0, 1.0, 0.5], [0, 0, 1, 0], [0, 2, 4])
    assert values[0] == pytest.approx(expected, nan_ok=True)
    assert not math.isnan(values[1])
