"""Label noise follows its distributions: chi-square tests at the level 0.001, with fixed seeds."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.stats import chisquare

import rankplug as rp

LEVEL = 0.001


def lists_of(lengths, labels=None):
    """Make lists whose single feature is the document's position and whose ids are its letters' positions."""
    documents = sum(lengths)
    labels = np.zeros(documents) if labels is None else labels
    positions = np.arange(documents, dtype=np.float32)[:, None]
    return rp.Lists(positions, labels, np.cumsum([0, *lengths]), document_ids=np.arange(documents))


def everywhere(lists):
    return rp.Split(lists, lists_of([3, 2], [1, 0, 0, 2, 1]), lists_of([2], [1, 0]))


def test_label_flips_touch_exactly_the_rounded_share_of_each_list(transform):
    lists = lists_of([1, 2, 3, 5, 10, 33], np.full(54, 9.0))
    transformed = transform("label_flips[share=0.3]", everywhere(lists))
    changed = np.add.reduceat(transformed.train.labels != 9.0, lists.starts[:-1])
    assert changed.tolist() == [math.floor(0.3 * length + 0.5) for length in lists.lengths]
    assert transformed.valid.labels.tolist() == [1, 0, 0, 2, 1]
    assert transformed.test.labels.tolist() == [1, 0]


def test_label_flips_follow_the_law_whatever_the_old_label_and_the_place(transform):
    lists = lists_of([10] * 4000, np.tile(np.arange(10.0) + 10, 4000))
    labels = transform("label_flips[share=0.4]", everywhere(lists)).train.labels.reshape(-1, 10)
    flipped = labels < 10
    assert chisquare(flipped.sum(axis=0)).pvalue > LEVEL
    law = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    for position in range(10):
        counts = np.bincount(labels[flipped[:, position], position].astype(int), minlength=5)
        assert chisquare(counts, law * counts.sum()).pvalue > LEVEL / 10


def test_noisy_validation_is_an_option(transform):
    clean = everywhere(lists_of([4, 4]))
    for name in ("label_flips[share=1,law=(0,0,0,1),noisy_validation=true]", "negative_augmentation[share=1]"):
        assert transform(name, clean).test is clean.test
    flipped = transform("label_flips[share=1,law=(0,0,0,1),noisy_validation=true]", clean)
    assert set(flipped.valid.labels) == {3.0}
    longer = transform("negative_augmentation[share=1,noisy_validation=true]", clean).valid
    assert longer.lengths.tolist() == [6, 4]
    assert longer.labels.tolist() == [1, 0, 0, 0, 0, 0, 2, 1, 0, 0]
    assert transform("negative_augmentation[share=1]", clean).valid is clean.valid


def test_negative_augmentation_adds_exact_numbers_of_documents_of_other_queries(transform):
    labels = np.arange(1.0, 41.0)
    lists = lists_of([1, 4, 5, 30], labels)
    transformed = transform("negative_augmentation[share=0.6]", everywhere(lists)).train
    assert transformed.lengths.tolist() == [1 + 1, 4 + 2, 5 + 3, 30 + 18]
    for query, (first, last) in enumerate(itertools.pairwise(lists.starts)):
        own, after = lists[query], transformed[query]
        assert after.features[: last - first].tolist() == own.features.tolist()
        assert after.labels[: last - first].tolist() == own.labels.tolist()
        added = after.features[last - first :, 0]
        assert not ((added >= first) & (added < last)).any()
        assert not after.labels[last - first :].any()
        assert after.document_ids.tolist() == after.features[:, 0].tolist()


def test_negative_augmentation_draws_uniformly_from_all_documents_of_the_others(transform):
    lists = lists_of([2, 3, 5])
    drawn = np.zeros((3, 10))
    for seed in range(40):
        transformed = transform("negative_augmentation[share=200]", everywhere(lists), seed).train
        for query in range(3):
            added = transformed[query].features[lists.lengths[query] :, 0].astype(int)
            drawn[query] += np.bincount(added, minlength=10)
    for query, (first, last) in enumerate(itertools.pairwise(lists.starts)):
        others = np.delete(drawn[query], np.arange(first, last))
        assert drawn[query].sum() == others.sum() == 40 * 200 * lists.lengths[query]
        assert chisquare(others).pvalue > LEVEL
