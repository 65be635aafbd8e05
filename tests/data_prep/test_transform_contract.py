"""Every transform keeps what documents carry: names of features, categories, ids, clicks and positions."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import DataError
from rankplug.registry import registry

REQUIRED = {
    "truncate_lists": "[size=4,parts=(train,valid,test)]",
    "label_flips": "[share=0.5]",
    "negative_augmentation": "[share=0.5]",
}
SCALED = {"minmax", "query_minmax", "standardise", "log1p", "sparse_features"}
OWN_CLICKS = {"click_log"}
"""Transforms that replace clicks by those they simulate."""
NAMES, KIND = ("age", "price", "brand"), 2


def part(prefix: str, queries: int, seed: int) -> rp.Lists:
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


SPLIT = rp.Split(part("a", 12, 1), part("b", 6, 2), part("c", 6, 3))
QUERY = {
    str(document): str(lists.query_ids[query])
    for lists in SPLIT
    for document, query in zip(lists.document_ids, lists.query_of_document, strict=True)
}
ROW = {str(document): (lists, row) for lists in SPLIT for row, document in enumerate(lists.document_ids)}
TRANSFORMS = sorted(
    plugin.specification.name for plugin in registry().plugins("transform") if plugin.distribution == "rankplug"
)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_documents_keep_what_they_carry(name: str, transform) -> None:
    changed = transform(name + REQUIRED.get(name, ""), SPLIT)
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
    plain = rp.Lists(SPLIT.test.features, SPLIT.test.labels, SPLIT.test.starts, SPLIT.test.query_ids,
                     feature_names=NAMES, categorical=(KIND,))  # fmt: skip
    with pytest.raises(DataError, match="some of the lists carry clicks and others do not"):
        transform("random_split", SPLIT._replace(test=plain))


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
