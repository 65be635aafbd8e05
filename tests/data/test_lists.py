"""Ragged lists cut, join, shuffle and batch without losing a document, and refuse data that do not add up."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankplug import Lists
from rankplug.data import Scaling
from rankplug.errors import DataError, RankplugError


def made(lengths, features=3, seed=0, named=False) -> Lists:
    generator = np.random.default_rng(seed)
    documents = int(sum(lengths))
    return Lists(
        generator.normal(size=(documents, features)).astype(np.float32),
        generator.integers(0, 5, documents).astype(np.float32),
        np.concatenate(([0], np.cumsum(lengths))),
        np.arange(len(lengths)) + 100,
        np.array([f"d{document}" for document in range(documents)]) if named else None,
    )


lengths = st.lists(st.integers(1, 6), min_size=1, max_size=8)
ragged = st.builds(made, lengths, named=st.booleans())


def as_python(lists: Lists):
    """Return each query with all it holds, in plain Python."""
    return [
        (
            lists.query_ids[q].item(),
            lists.features[begin:end].tolist(),
            lists.labels[begin:end].tolist(),
            None if lists.document_ids is None else lists.document_ids[begin:end].tolist(),
        )
        for q, (begin, end) in enumerate(zip(lists.starts[:-1], lists.starts[1:], strict=True))
    ]


@given(ragged, st.slices(8))
def test_a_slice_holds_what_a_python_list_of_queries_would(lists, cut):
    assert as_python(lists[cut]) == as_python(lists)[cut]


@given(ragged, st.data())
def test_any_selection_of_queries_holds_them_in_its_order(lists, data):
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=10))
    whole = as_python(lists)
    assert as_python(lists[chosen]) == [whole[query] for query in chosen]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))))
    assert as_python(lists[mask]) == [whole[query] for query in np.flatnonzero(mask)]


@given(st.lists(ragged, min_size=1, max_size=4))
def test_concatenation_is_that_of_python_lists(parts):
    joined = as_python(Lists.concatenate(parts))
    named = all(part.document_ids is not None for part in parts)
    expected = [query if named else (*query[:3], None) for part in parts for query in as_python(part)]
    assert joined == expected


@given(ragged, st.integers(0, 2**32))
def test_shuffling_keeps_every_query_whole_and_follows_its_seed(lists, seed):
    shuffled = lists.shuffled(seed)
    assert sorted(map(repr, as_python(shuffled))) == sorted(map(repr, as_python(lists)))
    assert as_python(shuffled) == as_python(lists.shuffled(seed))


@given(ragged, st.integers(1, 10), st.none() | st.integers(0, 99))
def test_batches_hold_every_query_once_and_no_more_than_asked(lists, queries, seed):
    batches = list(lists.batches(queries, seed))
    assert all(1 <= batch.size <= queries for batch in batches)
    together = np.concatenate(batches)
    assert sorted(together.tolist()) == list(range(len(lists)))
    if seed is None:
        assert together.tolist() == list(range(len(lists)))


@given(ragged)
def test_the_fingerprint_does_not_depend_on_where_and_how_the_data_lie(lists):
    copies = [
        Lists(np.asfortranarray(lists.features), lists.labels, lists.starts),
        Lists(lists.features.astype(np.float64), lists.labels.tolist(), lists.starts.astype(np.int32)),
        Lists(np.repeat(lists.features, 2, axis=0)[::2], np.repeat(lists.labels, 2)[::2], lists.starts, source="x"),
    ]
    assert {copy.fingerprint for copy in copies} == {lists.fingerprint}


@given(ragged, st.data())
def test_the_fingerprint_changes_with_any_value(lists, data):
    row = data.draw(st.integers(0, lists.documents - 1))
    features, labels = lists.features.copy(), lists.labels.copy()
    features[row, 1] += 1
    labels[row] += 1
    changed = {
        Lists(features, lists.labels, lists.starts).fingerprint,
        Lists(lists.features, labels, lists.starts).fingerprint,
    }
    assert len(changed | {lists.fingerprint}) == 3


def test_the_fingerprint_changes_with_the_boundaries_between_queries():
    whole = made([2, 2])
    assert Lists(whole.features, whole.labels, np.array([0, 1, 4])).fingerprint != whole.fingerprint


def test_lists_from_query_ids_know_their_queries():
    lists = Lists.from_query_ids(np.ones((5, 1)), [0, 1, 2, 0, 1], [7, 7, 3, 3, 3], document_ids=list("abcde"))
    assert lists.query_ids.tolist() == [7, 3] and lists.lengths.tolist() == [2, 3]
    assert lists[1].document_ids.tolist() == ["c", "d", "e"]
    assert repr(lists) == "<Lists: 2 queries, 5 documents, 1 features>"


ONES = np.ones((3, 2), np.float32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lists(ONES, [0, 1], [0, 3]), "3 rows of features, but labels of shape (2,)"),
        (lambda: Lists(ONES, [0, 1, 2], [0, 2]), "starts must end with the number of documents, 3, got 2"),
        (lambda: Lists(ONES, [0, 1, 2], [0, 2, 1, 3]), "query number 1 has -1 documents in starts"),
        (lambda: Lists(ONES, [0, 1, 2], [0, 3], [1, 2]), "starts has 1 queries, but there are 2 query ids"),
        (lambda: Lists.from_query_ids(ONES, [0, 1, 2], [5, 6, 5]), "query id 5 stands in two places"),
        (lambda: Lists.concatenate([made([1]), made([1], features=2)]), "numbers of features cannot be joined"),
    ],
)
def test_data_that_do_not_add_up_are_refused(make, message):
    with pytest.raises(RankplugError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("features", "labels", "ids", "message"),
    [
        ([1, np.nan, 3], [0, 1, 2], [1, 2], "feature 1 of document 1 in file.txt is nan; replace it"),
        ([1, 2, 3], [0, -1, np.nan], [1, 2], "label -1.0 of document 1 in file.txt is not a finite number"),
        ([1, 2, 3], [0, 1, 2], [4, 4], "query id 4 in file.txt occurs 2 times; every query must occur once"),
    ],
)
def test_validation_names_the_first_impossible_value(features, labels, ids, message):
    lists = Lists(
        np.array(features, np.float32)[:, None], np.array(labels), [0, 1, 3], np.array(ids), source="file.txt"
    )
    with pytest.raises(DataError, match=re.escape(message)):
        lists.validate()


@pytest.fixture(scope="module")
def heavy_features():
    noise = np.random.default_rng(0)
    heavy = np.exp(3 * noise.normal(size=(10_000, 3))) * noise.choice([-1, 1], (10_000, 3))
    return np.column_stack([heavy, np.full(10_000, 7.0)]).astype(np.float32)


def test_standard_subtracts_the_mean_and_divides_by_the_deviation(heavy_features):
    scaled = Scaling.of("standard", heavy_features)(heavy_features)
    exact = heavy_features.astype(np.float64)
    np.testing.assert_allclose(
        scaled[:, :3], ((exact - exact.mean(0)) / exact.std(0).clip(1e-9))[:, :3], rtol=2e-4, atol=1e-5
    )


def test_log_takes_the_logarithm_of_the_size_with_its_sign_first(heavy_features):
    scaled = Scaling.of("log", heavy_features)(heavy_features)
    column = [math.copysign(math.log1p(abs(float(value))), value) for value in heavy_features[:, 0]]
    mean = math.fsum(column) / len(column)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in column) / len(column))
    np.testing.assert_allclose(scaled[:5, 0], [(value - mean) / deviation for value in column[:5]], rtol=1e-4)


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_a_constant_feature_becomes_nothing(kind, heavy_features):
    assert not Scaling.of(kind, heavy_features)(heavy_features)[:, 3].any()


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_what_is_written_reads_back_to_the_same_bits(kind, heavy_features):
    fitted = Scaling.of(kind, heavy_features)
    assert np.array_equal(Scaling.read(fitted.describe())(heavy_features), fitted(heavy_features))
