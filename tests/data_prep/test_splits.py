"""Random splits by query."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankplug_data.transform_specifications import RandomSplitParameters
from rankplug_data.transforms import divide, random_split

import rankplug as rp
from rankplug.errors import DataError


def lists_of(query_ids, seed=0):
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, 9, len(query_ids))
    documents = int(lengths.sum())
    return rp.Lists(
        generator.normal(size=(documents, 3)).astype(np.float32),
        generator.integers(0, 3, documents).astype(np.float32),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.array(query_ids),
        np.array([f"D{row}" for row in range(documents)]),
    )


def by_query(*parts):
    return {
        int(query.query_ids[0]): (query.features.tolist(), query.labels.tolist(), query.document_ids.tolist())
        for part in parts
        for query in part
    }


POOL = rp.Split(lists_of(range(100, 130), 1), lists_of([5, 3, 7, *range(10, 17)], 2), lists_of(range(200, 210), 3))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_every_query_goes_whole_into_one_part(seed):
    split = random_split(POOL, RandomSplitParameters(), np.random.default_rng(seed))
    assert [len(part) for part in split] == [30, 10, 10]
    assert by_query(*split) == by_query(*POOL)
    assert sum(len(part) for part in split) == len(by_query(*split))


def test_the_split_does_not_depend_on_which_parts_the_queries_came_from():
    turned = rp.Split(POOL.test, POOL.train, POOL.valid)
    one, other = (random_split(pool, RandomSplitParameters(), np.random.default_rng(4)) for pool in (POOL, turned))
    for part, same in zip(one, other, strict=True):
        assert set(part.query_ids) == set(same.query_ids)


def test_each_query_is_as_likely_in_each_part():
    counts = np.zeros(50)
    for seed in range(400):
        counts[divide(50, (0.6, 0.2), np.random.default_rng(seed))[0]] += 1
    spread = (counts - 240) / np.sqrt(400 * 0.6 * 0.4)
    assert np.abs(spread).max() < 4.5


def test_a_query_that_stands_twice_is_refused():
    doubled = POOL._replace(test=POOL.train)
    with pytest.raises(DataError, match="query 100 stands 2 times in train, valid and test"):
        random_split(doubled, RandomSplitParameters(), np.random.default_rng(0))
