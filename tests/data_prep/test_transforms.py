"""Scaling, cleaning, label noise and splits follow their formulas and distributions; old data stay unchanged."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rankplug_data.transform_specifications import RandomSplitParameters
from rankplug_data.transforms import divide, random_split
from scipy.stats import chisquare
from sklearn.preprocessing import StandardScaler

import rankplug as rp
from rankplug.errors import DataError
from rankplug.registry import registry

PLAIN = (
    "query_minmax", "standardise", "log1p", "drop_empty", "drop_uniform", "drop_conflicting", "truncate_lists[size=4]",
    "truncate_lists[size=4,keep=random]", "binarise", "label_flips[share=0.5]", "negative_augmentation[share=0.5]",
    "cascade_clicks",
)  # fmt: skip


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
def test_a_transform_changes_no_old_split_and_is_repeatable(split, reference, transform, tmp_path):
    before = [part.fingerprint for part in split]
    np.save(tmp_path / "features.npy", split.train.features)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    once = transform(reference, split, 3)
    with rp.use_threads(2):
        twice = transform(reference, split._replace(train=rp.Lists(mapped, split.train.labels, split.train.starts)), 3)
    again = [rp.Lists(part.features, part.labels, part.starts).fingerprint for part in split]
    assert again == before
    assert [part.fingerprint for part in once] == [part.fingerprint for part in twice]
    for part in once:
        part.validate()


@settings(max_examples=60, deadline=None)
@given(features=hnp.arrays(np.float32, (7, 3), elements=st.floats(-1e6, 1e6, width=32)), cut=st.integers(1, 6))
def test_query_minmax_is_its_formula(features, cut, transform):
    lists = rp.Lists(features, np.zeros(7), [0, cut, 7])
    transformed = transform("query_minmax", everywhere(lists)).test
    for query, own in enumerate(np.split(features.astype(np.float64), [cut])):
        expected = (own - own.min(axis=0)) / (own.max(axis=0) - own.min(axis=0) + 1e-8)
        assert transformed[query].features == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["query_minmax", "standardise", "minmax", "sparse_features"])
def test_present_values_are_scaled_beside_missing_ones(name, transform):
    features = np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32)
    features[[0, 4, 9], [0, 1, 0]] = np.nan  # among them the first document of the query
    scaled = transform(name, everywhere(rp.Lists(features, np.zeros(12), [0, 12]))).train.features
    for before, after in zip(features.T, scaled.T, strict=True):
        present = before[~np.isnan(before)]
        alone = rp.Lists(present[:, None], np.zeros(present.size), [0, present.size])
        expected = transform(name, everywhere(alone)).train.features[:, 0]
        np.testing.assert_array_equal(np.isnan(after), np.isnan(before))
        np.testing.assert_allclose(after[~np.isnan(after)], expected, rtol=1e-6)


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


LEVEL = 0.001


def lists_of_lengths(lengths, labels=None):
    """Make lists whose single feature is the document's position and whose ids are its letters' positions."""
    documents = sum(lengths)
    labels = np.zeros(documents) if labels is None else labels
    positions = np.arange(documents, dtype=np.float32)[:, None]
    return rp.Lists(positions, labels, np.cumsum([0, *lengths]), document_ids=np.arange(documents))


def as_training(lists):
    return rp.Split(lists, lists_of_lengths([3, 2], [1, 0, 0, 2, 1]), lists_of_lengths([2], [1, 0]))


def test_label_flips_touch_exactly_the_rounded_share_of_each_list(transform):
    lists = lists_of_lengths([1, 2, 3, 5, 10, 33], np.full(54, 9.0))
    transformed = transform("label_flips[share=0.3]", as_training(lists))
    changed = np.add.reduceat(transformed.train.labels != 9.0, lists.starts[:-1])
    assert changed.tolist() == [math.floor(0.3 * length + 0.5) for length in lists.lengths]
    assert transformed.valid.labels.tolist() == [1, 0, 0, 2, 1]
    assert transformed.test.labels.tolist() == [1, 0]


def test_label_flips_follow_the_law_whatever_the_old_label_and_the_place(transform):
    lists = lists_of_lengths([10] * 4000, np.tile(np.arange(10.0) + 10, 4000))
    labels = transform("label_flips[share=0.4]", as_training(lists)).train.labels.reshape(-1, 10)
    flipped = labels < 10
    assert chisquare(flipped.sum(axis=0)).pvalue > LEVEL
    law = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    for position in range(10):
        counts = np.bincount(labels[flipped[:, position], position].astype(int), minlength=5)
        assert chisquare(counts, law * counts.sum()).pvalue > LEVEL / 10


def test_noisy_validation_is_an_option(transform):
    clean = as_training(lists_of_lengths([4, 4]))
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
    lists = lists_of_lengths([1, 4, 5, 30], labels)
    transformed = transform("negative_augmentation[share=0.6]", as_training(lists)).train
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
    lists = lists_of_lengths([2, 3, 5])
    drawn = np.zeros((3, 10))
    for seed in range(40):
        transformed = transform("negative_augmentation[share=200]", as_training(lists), seed).train
        for query in range(3):
            added = transformed[query].features[lists.lengths[query] :, 0].astype(int)
            drawn[query] += np.bincount(added, minlength=10)
    for query, (first, last) in enumerate(itertools.pairwise(lists.starts)):
        others = np.delete(drawn[query], np.arange(first, last))
        assert drawn[query].sum() == others.sum() == 40 * 200 * lists.lengths[query]
        assert chisquare(others).pvalue > LEVEL


def lists_with_ids(query_ids, seed=0):
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


POOL = rp.Split(
    lists_with_ids(range(100, 130), 1), lists_with_ids([5, 3, 7, *range(10, 17)], 2), lists_with_ids(range(200, 210), 3)
)


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


REQUIRED = {
    "truncate_lists": "[size=4,parts=(train,valid,test)]",
    "label_flips": "[share=0.5]",
    "negative_augmentation": "[share=0.5]",
}
SCALED = {"minmax", "query_minmax", "standardise", "log1p", "sparse_features"}
OWN_CLICKS = {"click_log"}
"""Transforms that replace clicks by those they simulate."""
NAMES, KIND = ("age", "price", "brand"), 2


def carrying_part(prefix: str, queries: int, seed: int) -> rp.Lists:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(5, 9, queries)
    documents = int(lengths.sum())
    features = generator.normal(size=(documents, 3)).astype(np.float32)
    features[:, KIND] = generator.integers(0, 4, documents)
    shown = generator.integers(0, 9, (documents, 3))
    starts = np.concatenate(([0], np.cumsum(lengths)))
    labels = generator.integers(0, 3, documents).astype(np.float32)
    labels[starts[:-1]], labels[starts[:-1] + 1] = 2, 0
    features[0], features[1] = 1, 1
    return rp.Lists(
        features, labels, starts,
        query_ids=[f"{prefix}{query}" for query in range(queries)],
        document_ids=[f"{prefix}-d{document}" for document in range(documents)],
        feature_names=NAMES, categorical=(KIND,),
        clicks=rp.Clicks(shown, shown // 2, true_labels=labels, true_propensities=np.array([1.0, 0.5, 0.2])),
    )  # fmt: skip


CARRYING = rp.Split(carrying_part("a", 12, 1), carrying_part("b", 6, 2), carrying_part("c", 6, 3))
QUERY = {
    str(document): str(lists.query_ids[query])
    for lists in CARRYING
    for document, query in zip(lists.document_ids, lists.query_of_document, strict=True)
}
ROW = {str(document): (lists, row) for lists in CARRYING for row, document in enumerate(lists.document_ids)}
TRANSFORMS = sorted(
    plugin.specification.name for plugin in registry().plugins("transform") if plugin.distribution == "rankplug"
)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_documents_keep_what_they_carry(name: str, transform) -> None:
    changed = transform(name + REQUIRED.get(name, ""), CARRYING)
    for lists in changed:
        assert lists.feature_names == NAMES and lists.categorical == (KIND,)
        assert lists.clicks is not None and lists.clicks.true_propensities is not None
        own = [query.partition("#")[0] for query in lists.query_ids[lists.query_of_document].tolist()]
        for row, (document, query) in enumerate(zip(lists.document_ids.tolist(), own, strict=True)):
            before, there = ROW[document]
            if name in SCALED:
                assert lists.features[row, KIND] == before.features[there, KIND]
            else:
                assert lists.features[row].tolist() == before.features[there].tolist()
            if name in OWN_CLICKS and lists is not changed.test:
                assert lists.clicks.true_labels[row] == before.labels[there]
            elif query == QUERY[document]:
                assert lists.clicks.shown[row].tolist() == before.clicks.shown[there].tolist()
                assert lists.clicks.clicked[row].tolist() == before.clicks.clicked[there].tolist()
                assert lists.clicks.true_labels[row] == before.clicks.true_labels[there]
            else:
                assert name == "negative_augmentation"
                assert lists.labels[row] == 0 and not lists.clicks.shown[row].any()


def test_parts_with_and_without_clicks_are_not_pooled(transform) -> None:
    plain = rp.Lists(CARRYING.test.features, CARRYING.test.labels, CARRYING.test.starts, CARRYING.test.query_ids,
                     feature_names=NAMES, categorical=(KIND,))  # fmt: skip
    with pytest.raises(DataError, match="some of the lists carry clicks and others do not"):
        transform("random_split", CARRYING._replace(test=plain))


@pytest.mark.parametrize(
    "spellings",
    [
        ("random_split", "random_split[]", "random_split[train=0.6]", "random_split[ valid = .2, train=0.60 ]"),
        ("label_flips[share=1]", "label_flips[share=1.0,noisy_validation=false]"),
        ("cascade_clicks[impressions=5]", "cascade_clicks[p0=0.05,impressions=5]"),
    ],
)
def test_spellings_of_a_random_transform_give_one_noise(spellings: tuple[str, ...]) -> None:
    loaded = [rp.load("synthetic[queries=40,documents=6]", transforms=[text]) for text in spellings]
    assert len({tuple(lists.fingerprint for lists in split) for split in loaded}) == 1


@pytest.mark.parametrize("value", [np.inf, -np.inf, 0.5, -1])
def test_a_category_is_a_finite_whole_number(value: float) -> None:
    features = np.array([[0], [1], [value], [2]], np.float32)
    lists = rp.Lists(features, [0, 1, 0, 1], [0, 2, 4], categorical=(0,))
    with pytest.raises(DataError, match="feature 0 is categorical and has the value"):
        rp.fit("lightgbm", loss="mse", scorer="trees[rounds=1]", train=lists)
