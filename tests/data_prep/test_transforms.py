"""Scaling and cleaning do what their formulas say, query by query, and leave the data they got as they were."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

import rankplug as rp

PLAIN = (
    "query_minmax",
    "standardise",
    "log1p",
    "drop_empty",
    "drop_uniform",
    "drop_conflicting",
    "truncate_lists[size=4]",
    "truncate_lists[size=4,keep=random]",
    "binarise",
    "label_flips[share=0.5]",
    "negative_augmentation[share=0.5]",
    "cascade_clicks",
)


def lists_of(labels, features=None, document_ids=None):
    """Make lists from one list of labels a query."""
    flat = np.concatenate([np.asarray(own, np.float32) for own in labels])
    if features is None:
        features = np.arange(flat.size * 2, dtype=np.float32).reshape(-1, 2)
    starts = np.cumsum([0, *(len(own) for own in labels)])
    return rp.Lists(np.asarray(features, np.float32), flat, starts, document_ids=document_ids)


def everywhere(lists):
    return rp.Split(lists, lists, lists)


@pytest.fixture(scope="module")
def split():
    return rp.load("synthetic[queries=60,documents=12]", seed=1)


@pytest.mark.parametrize("reference", PLAIN)
def test_a_transform_leaves_the_old_split_as_it_was_and_is_repeatable(split, reference, transform):
    before = [part.fingerprint for part in split]
    once, twice = transform(reference, split, 3), transform(reference, split, 3)
    again = [rp.Lists(part.features, part.labels, part.starts).fingerprint for part in split]
    assert again == before
    assert [part.fingerprint for part in once] == [part.fingerprint for part in twice]
    for part in once:
        part.validate()


@pytest.mark.parametrize("reference", PLAIN)
def test_a_transform_takes_memory_mapped_features_and_any_number_of_threads(split, reference, tmp_path, transform):
    np.save(tmp_path / "features.npy", split.train.features)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    train = rp.Lists(mapped, split.train.labels, split.train.starts)
    with rp.use_threads(2):
        transformed = transform(reference, split._replace(train=train))
    assert transformed.train.fingerprint == transform(reference, split).train.fingerprint


@settings(max_examples=60, deadline=None)
@given(
    features=hnp.arrays(np.float32, (7, 3), elements=st.floats(-1e6, 1e6, width=32)),
    cut=st.integers(1, 6),
)
def test_query_minmax_is_its_formula(features, cut, transform):
    lists = rp.Lists(features, np.zeros(7), [0, cut, 7])
    transformed = transform("query_minmax", everywhere(lists)).test
    for query, own in enumerate(np.split(features.astype(np.float64), [cut])):
        expected = (own - own.min(axis=0)) / (own.max(axis=0) - own.min(axis=0) + 1e-8)
        assert transformed[query].features == pytest.approx(expected, abs=1e-6)


def test_standardise_is_scikit_learns_fitted_on_the_training_part_alone(split, transform):
    transformed = transform("standardise", split)
    scaler = StandardScaler().fit(split.train.features.astype(np.float64))
    for before, after in zip(split, transformed, strict=True):
        assert after.features == pytest.approx(scaler.transform(before.features.astype(np.float64)), rel=1e-4, abs=1e-4)


def test_log1p_keeps_the_sign(transform):
    transformed = transform("log1p", everywhere(lists_of([[1, 0]], [[np.e - 1, 0], [1 - np.e, -0.0]])))
    assert transformed.valid.features == pytest.approx(np.array([[1, 0], [-1, 0]]))


def test_drop_empty_keeps_the_queries_with_a_relevant_document(transform):
    lists = lists_of([[0, 0], [0, 1], [0], [2]])
    transformed = transform("drop_empty", everywhere(lists))
    assert [part.query_ids.tolist() for part in transformed] == [[1, 3]] * 3
    assert transformed.train.features.tolist() == lists[[1, 3]].features.tolist()
    only = transform("drop_empty[parts=train]", everywhere(lists))
    assert [len(part) for part in only] == [2, 4, 4]


def test_drop_uniform_leaves_the_test_part_alone(transform):
    transformed = transform("drop_uniform", everywhere(lists_of([[1, 1], [0, 1], [0, 0], [2]])))
    assert [part.query_ids.tolist() for part in transformed] == [[1], [1], [0, 1, 2, 3]]


@settings(max_examples=100, deadline=None)
@given(
    features=hnp.arrays(np.float32, (9, 2), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5])),
    labels=hnp.arrays(np.float32, 9, elements=st.sampled_from([0.0, 1.0])),
    cut=st.integers(1, 8),
)
def test_drop_conflicting_drops_exactly_the_documents_with_a_twin_of_another_label(features, labels, cut, transform):
    lists = rp.Lists(features, labels, [0, cut, 9])
    query = lists.query_of_document
    conflicting = {
        document
        for first, other in itertools.combinations(range(9), 2)
        if query[first] == query[other]
        and labels[first] != labels[other]
        and (features[first] == features[other]).all()
        for document in (first, other)
    }
    kept = [document for document in range(9) if document not in conflicting]
    if not kept:
        return
    transformed = transform("drop_conflicting", everywhere(lists)).train
    assert transformed.labels.tolist() == labels[kept].tolist()
    assert transformed.features.tolist() == features[kept].tolist()
    assert transformed.query_of_document.tolist() == np.unique(query[kept], return_inverse=True)[1].tolist()
    assert transformed.query_ids.tolist() == np.unique(query[kept]).tolist()


def test_truncate_lists_keeps_the_first_documents_of_the_training_lists(transform):
    lists = lists_of([[0, 1, 2, 3], [4], [0, 1]], document_ids=list("abcdefg"))
    transformed = transform("truncate_lists[size=2]", everywhere(lists))
    assert transformed.train.labels.tolist() == [0, 1, 4, 0, 1]
    assert transformed.train.document_ids.tolist() == list("abefg")
    assert transformed.train.starts.tolist() == [0, 2, 3, 5]
    assert transformed.test is lists


def test_truncate_lists_keeps_each_document_with_equal_chance(transform):
    lists = lists_of([list(range(5))] * 4000)
    transformed = transform("truncate_lists[size=2,keep=random]", everywhere(lists)).train
    assert set(transformed.lengths) == {2}
    assert (transformed.labels.reshape(-1, 2)[:, 0] < transformed.labels.reshape(-1, 2)[:, 1]).all()
    assert np.bincount(transformed.labels.astype(int)) / 8000 == pytest.approx([0.2] * 5, abs=0.02)


def test_binarise_counts_labels_from_the_threshold_on(transform):
    lists = lists_of([[0, 1, 2, 3, 4]])
    assert transform("binarise", everywhere(lists)).test.labels.tolist() == [0, 1, 1, 1, 1]
    assert transform("binarise[threshold=3]", everywhere(lists)).train.labels.tolist() == [0, 0, 0, 1, 1]


def test_transforms_are_applied_in_the_order_given():
    name = "synthetic[queries=40,documents=10]"
    one = rp.load(name, transforms=["binarise[threshold=2]", "drop_empty"])
    other = rp.load(name, transforms=["drop_empty", "binarise[threshold=2]"])
    assert len(one.train) < len(other.train)
