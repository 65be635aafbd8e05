"""LambdaGap's pairs are those of its definition, and what stands beside the gap is what exchanges change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankplug as rp

GENERATOR = np.random.default_rng(4)
WAYS = list(itertools.product("xs", ("nothing", "precision", "arp"), (1, 2, 4)))


def precision_at(k, labels_by_rank):
    return (labels_by_rank[:k] >= 1).sum()


def positions_beyond(k, labels_by_rank):
    """Return the sum over relevant documents of how many ranks they stand behind the k-th."""
    return sum(max(0, rank + 1 - k) for rank, label in enumerate(labels_by_rank) if label >= 1)


CHANGES = {"precision": precision_at, "arp": positions_beyond, "nothing": lambda k, labels: 0.0}


def by_definition(scores, labels, gap, beside, k, mu=1.0, sigma=1.0):
    """Return value, gradient and curvature with a weight from the metric before and after each exchange."""
    order = np.argsort(-scores, kind="stable")
    ranks, by_rank, n = np.argsort(order), labels[order], len(scores)
    value, gradient, curvature = 0.0, np.zeros(n), np.zeros(n)
    for i, j in itertools.permutations(range(n), 2):
        if labels[i] < 1 or labels[j] >= 1:
            continue
        apart = abs(ranks[i] - ranks[j])
        exchanged = by_rank.copy()
        exchanged[[ranks[i], ranks[j]]] = exchanged[[ranks[j], ranks[i]]]
        weight = abs(CHANGES[beside](k, exchanged) - CHANGES[beside](k, by_rank))
        weight += (1.0 if beside == "nothing" else mu) * (apart == k if gap == "s" else apart >= k)
        P = 1 / (1 + np.exp(-sigma * (scores[i] - scores[j])))
        value -= weight * np.log(P)
        gradient[[i, j]] += weight * sigma * (1 - P) * np.array([-1, 1])
        curvature[[i, j]] += weight * sigma**2 * P * (1 - P)
    return value, gradient, curvature


@pytest.mark.parametrize(("gap", "beside", "k"), WAYS)
def test_the_pairs_are_those_of_the_definition(gap, beside, k) -> None:
    scores, labels = 2 * GENERATOR.normal(size=9), GENERATOR.integers(0, 3, 9).astype(float)
    found = rp.loss(f"lambdagap[k={k},gap={gap},beside={beside},mu=1.7,sigma=1.3]").evaluate(scores, labels, [0, 9])
    value, gradient, curvature = by_definition(scores, labels, gap, beside, k, 1.7, 1.3)
    assert found.value[0] == pytest.approx(value)
    assert found.gradient == pytest.approx(gradient, abs=1e-12)
    assert found.curvature == pytest.approx(curvature, abs=1e-12)


def test_the_norm_is_lightgbms() -> None:
    """Test weights over .01 and the score gap, then all of the list by log2(1 + S) / S, S twice the sum of pushes."""
    scores, labels = np.array([2.0, 1.5, 0.2, -1.0]), np.array([0.0, 1.0, 0.0, 2.0])
    gradient, total = np.zeros(4), 0.0
    for i, j in ((1, 0), (1, 2), (3, 0), (3, 2)):
        gap = scores[i] - scores[j]
        push = 1 / (1 + np.exp(gap)) / (0.01 + abs(gap))
        gradient[[i, j]] += push * np.array([-1, 1])
        total += 2 * push
    found = rp.loss("lambdagap[k=1,norm=true]").evaluate(scores, labels, [0, 4]).gradient
    assert found == pytest.approx(gradient * np.log2(1 + total) / total)
    alone = rp.loss("lambdagap[k=1,norm=true]").evaluate(np.zeros(2), np.array([1.0, 0.0]), [0, 2]).gradient
    assert alone == pytest.approx(np.log2(2.0) * np.array([-0.5, 0.5]))
