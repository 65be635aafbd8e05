"""Clicks of a cascade follow its distribution: chi-square tests at the level 0.001, with fixed seeds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

import rankplug as rp
from rankplug.errors import DataError

LEVEL = 0.001


def lists_of(lengths, labels=None):
    """Make lists whose single feature is the document's position and whose ids are its letters' positions."""
    documents = sum(lengths)
    labels = np.zeros(documents) if labels is None else labels
    positions = np.arange(documents, dtype=np.float32)[:, None]
    return rp.Lists(positions, labels, np.cumsum([0, *lengths]), document_ids=np.arange(documents))


def everywhere(lists):
    return rp.Split(lists, lists_of([3, 2], [1, 0, 0, 2, 1]), lists_of([2], [1, 0]))


def test_clicks_on_one_document_have_the_labels_probability(transform):
    law = (0.05, 0.3, 0.5, 0.7, 0.95)
    for label, probability in enumerate(law):
        transformed = transform(
            "cascade_clicks[impressions=5000,keep_clickless=true]", everywhere(lists_of([1], [label])), label
        ).train
        clicks = transformed.labels.sum()
        expected = [5000 * probability, 5000 * (1 - probability)]
        assert chisquare([clicks, 5000 - clicks], expected).pvalue > LEVEL


def test_an_impression_ends_with_its_only_click(transform):
    lists = lists_of([6, 9], np.tile([0.0, 1.0, 2.0, 3.0, 4.0], 3))
    transformed = transform("cascade_clicks[impressions=500]", everywhere(lists)).train
    assert transformed.labels[transformed.starts[1:] - 1].all()
    assert transformed.labels.sum() == len(transformed)
    for impression in transformed[:200]:
        documents = impression.features[:, 0]
        assert len(set(documents)) == documents.size
        query = int(str(impression.query_ids[0]).split("#")[0])
        assert ((documents >= lists.starts[query]) & (documents < lists.starts[query + 1])).all()


def test_the_seen_prefixes_follow_the_cascade_enumerated_over_all_orders(transform):
    labels, law = (0, 2, 4), (0.2, 0.3, 0.5, 0.7, 0.95)
    expected: dict[tuple[tuple[int, ...], bool], float] = {}
    for order in itertools.permutations(range(3)):
        chance = 1 / 6
        for index, document in enumerate(order):
            seen = order[: index + 1]
            expected[seen, True] = expected.get((seen, True), 0.0) + chance * law[labels[document]]
            chance *= 1 - law[labels[document]]
        expected[order, False] = chance
    assert math.fsum(expected.values()) == pytest.approx(1.0)
    split = everywhere(lists_of([3], labels))
    transformed = transform("cascade_clicks[p0=0.2,impressions=40000,keep_clickless=true]", split).train
    counts = dict.fromkeys(expected, 0)
    for first, last in itertools.pairwise(transformed.starts):
        seen = tuple(transformed.features[first:last, 0].astype(int).tolist())
        counts[seen, bool(transformed.labels[last - 1])] += 1
    assert chisquare(list(counts.values()), [40000 * expected[event] for event in counts]).pvalue > LEVEL


def test_clickless_impressions_are_whole_lists_without_a_label_and_kept_in_training_only_on_request(transform):
    lists = lists_of([5, 5], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    split = rp.Split(lists, lists, lists)
    transformed = transform("cascade_clicks[p0=0,impressions=200,keep_clickless=true]", split)
    assert len(transformed.train) == 400
    clickless = np.maximum.reduceat(transformed.train.labels, transformed.train.starts[:-1]) == 0
    assert set(transformed.train.lengths[clickless]) == {5}
    assert clickless[:200].all()
    assert transformed.valid.labels.sum() == len(transformed.valid) < 200
    assert transformed.test is lists
    dropped = transform("cascade_clicks[p0=0,impressions=200]", split)
    assert len(dropped.train) == (~clickless).sum()


def test_clicks_need_labels_that_the_law_knows(transform):
    with pytest.raises(DataError, match="labels 0 to 4, but document 1 has label 5"):
        transform("cascade_clicks", everywhere(lists_of([2], [0, 5])))
    with pytest.raises(DataError, match="was clicked in any impression"):
        transform("cascade_clicks[p0=0]", everywhere(lists_of([2])))
