"""Synthetic collections are the same on every machine, thread and block; pictures show their numbers."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rankplug_data import pictures
from rankplug_data.synthetic import collection
from rankplug_data.synthetic.features import names_of, recipes
from rankplug_data.synthetic.learning_curves import learning_curves
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import SHAPES

import rankplug as rp
from rankplug.data import Source
from rankplug.errors import DataError
from rankplug.store import Combination, Trial
from rankplug.sweeps import run_trial

GOLDEN = ["794de570579fb9a6940552d20d385122", "dcd64723b63e5b6339c87d6a9859916e", "d8c3678a137851a2c74eaff0ec605037"]


def fingerprints(split):
    return [part.fingerprint for part in split]


def test_it_is_the_same_on_every_machine():
    # Raise VERSION in rankplug_data.synthetic.collection when this changes on purpose.
    split = rp.load("synthetic[queries=20,documents=15]", seed=0)
    assert collection.VERSION == 1
    assert fingerprints(split) == GOLDEN


@pytest.mark.parametrize("shape", SHAPES)
def test_threads_do_not_change_it(shape):
    name = f"synthetic[shape={shape},queries=60]"
    with rp.use_threads(1):
        alone = rp.load(name)
    with rp.use_threads(2):
        assert fingerprints(rp.load(name)) == fingerprints(alone)


@pytest.mark.parametrize("block", [1, 5_000, 64 << 20])
def test_a_large_one_is_written_in_blocks_and_mapped_and_is_the_same(tmp_path, monkeypatch, block):
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path))
    parameters = SyntheticParameters(queries=30, documents=20)
    in_memory = collection.load(parameters, 1, 5)
    monkeypatch.setattr(collection, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(collection, "BLOCK_BYTES", block)
    written = collection.load(parameters, 1, 5)
    again = collection.load(parameters, 1, 5)
    assert fingerprints(written) == fingerprints(in_memory) == fingerprints(again)
    assert isinstance(again.train.features, np.memmap)
    assert len(list((tmp_path / "data").glob("synthetic-*/features.npy"))) == 1


@pytest.fixture
def in_a_file(tmp_path, monkeypatch):
    """Return the parameters of a small set that is written to a file as if it were large."""
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path))
    monkeypatch.setattr(collection, "IN_MEMORY_BYTES", 0)
    return SyntheticParameters(queries=30, documents=20)


def test_two_who_want_the_same_large_one_at_once_write_it_once(in_a_file, monkeypatch):
    real, written = collection.fill, []

    def slow(*arguments):
        written.append(arguments)
        time.sleep(0.1)
        real(*arguments)

    monkeypatch.setattr(collection, "fill", slow)
    with ThreadPoolExecutor(3) as pool:
        splits = list(pool.map(lambda _: collection.load(in_a_file, 1, 5), range(3)))
    assert len(written) == 3
    assert len({part.fingerprint for split in splits for part in split}) == 3


def test_an_interrupted_writing_leaves_nothing_that_looks_done(in_a_file, tmp_path, monkeypatch):
    real, calls = collection.fill, []

    def break_off(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(collection, "fill", break_off)
    with pytest.raises(KeyboardInterrupt):
        collection.load(in_a_file, 1, 5)
    assert [path for path in (tmp_path / "data").iterdir() if path.is_dir()] == []
    monkeypatch.setattr(collection, "fill", real)
    assert len(collection.load(in_a_file, 1, 5).train) == 18


def test_a_large_set_begins_with_a_small_one_of_the_same_sample():
    small, large = rp.load("synthetic[queries=20]", seed=3), rp.load("synthetic[queries=100]", seed=3)
    for first, other in zip(small, large, strict=True):
        assert first.fingerprint == other[: len(first)].fingerprint


def test_further_test_queries_are_added_to_the_same_split():
    train, valid, test = rp.load("synthetic[queries=20,documents=10]", seed=3)
    more = rp.load("synthetic[queries=20,documents=10,test_queries=50,valid_queries=9]", seed=3)
    assert [len(part) for part in more] == [12, 9, 50]
    assert more.train.fingerprint == train.fingerprint
    assert more.valid[:4].fingerprint == valid.fingerprint and more.test[:4].fingerprint == test.fingerprint
    assert len({name for part in more for name in part.query_ids}) == 71


def in_blocks(name, seed=0, transforms=()):
    return list(Source(name, transforms).blocks(1, seed))


@pytest.mark.parametrize("transforms", [(), ("query_minmax", "drop_empty"), ("standardise", "binarise[threshold=2]")])
def test_a_large_test_part_comes_in_blocks_that_are_together_the_whole(monkeypatch, transforms):
    name = "synthetic[queries=20,documents=10,test_queries=100]"
    whole = rp.load(name, seed=3, transforms=transforms)
    assert len(in_blocks(name, seed=3, transforms=transforms)) == 1
    monkeypatch.setattr(collection, "BLOCK_BYTES", 200 * 136 * 4)
    splits = in_blocks(name, seed=3, transforms=transforms)
    assert 5 <= len(splits) <= 8
    assert {split.train.fingerprint for split in splits} == {whole.train.fingerprint}
    assert {split.valid.fingerprint for split in splits} == {whole.valid.fingerprint}
    joined = rp.Lists.concatenate([split.test for split in splits])
    assert joined.fingerprint == whole.test.fingerprint
    assert joined.query_ids.tolist() == whole.test.query_ids.tolist()


def test_a_block_that_loses_all_of_its_queries_is_left_out_and_all_of_them_are_an_error(monkeypatch):
    monkeypatch.setattr(collection, "BLOCK_BYTES", 1)
    name = "synthetic[queries=300,documents=10,test_queries=100,sample=1]"
    whole = rp.load(name, transforms="drop_empty")
    splits = in_blocks(name, transforms="drop_empty")
    assert sum(len(split.test) for split in splits) == len(splits) == len(whole.test) < 100
    with pytest.raises(DataError, match="none would be left"):
        in_blocks(name, transforms=["binarise[threshold=9]", "drop_empty"])


def test_a_trial_measures_a_test_part_in_blocks_as_it_does_the_whole(monkeypatch):
    combination = Combination(
        dataset="synthetic[queries=20,documents=10,test_queries=60]",
        transforms=["query_minmax", "drop_empty"],
        backend="lbfgs[C=1,iterations=3]",
        loss="mse",
        metrics=["ndcg@5", "map"],
    )
    whole = run_trial(Trial(combination))
    monkeypatch.setattr(collection, "BLOCK_BYTES", 100 * 136 * 4)
    blocks = run_trial(Trial(combination))
    assert not whole.failed and not blocks.failed, whole.failure or blocks.failure
    assert blocks.query_ids == whole.query_ids and len(whole.query_ids) == whole.record["queries"][2]
    for metric, values in whole.queries.items():
        np.testing.assert_array_equal(blocks.queries[metric], values)
    assert blocks.record["documents"] == whole.record["documents"]
    assert len(blocks.record["test_fingerprint"]) == len(whole.record["test_fingerprint"])


def test_the_trials_seed_draws_the_queries_unless_a_sample_is_named():
    name = "synthetic[queries=20,documents=10]"
    fixed = "synthetic[queries=20,documents=10,sample=4]"
    assert rp.load(name, seed=1).train.fingerprint != rp.load(name, seed=2).train.fingerprint
    assert fingerprints(rp.load(fixed, seed=1)) == fingerprints(rp.load(fixed, seed=2))
    assert fingerprints(rp.load(name, seed=4)) == fingerprints(rp.load(fixed, seed=1))


def test_replicas_of_one_shape_have_unrelated_queries():
    parts = [rp.load(f"synthetic[queries=300,documents=10{replica}]", seed=3)[0] for replica in ("", ",replica=1")]
    again = rp.load("synthetic[queries=300,documents=10,replica=1]", seed=3)[0]
    assert np.array_equal(parts[1].features, again.features)
    means = [part.features.mean(axis=1)[:1000] for part in parts]
    assert abs(np.corrcoef(*means)[0, 1]) < 0.15


@pytest.mark.parametrize("shape", SHAPES)
def test_its_shape_is_that_of_the_collection(shape):
    outline = SHAPES[shape]
    queries = 300 if shape == "gov" else 3000
    train, valid, test = rp.load(f"synthetic[shape={shape},queries={queries}]", seed=1)
    assert (len(train), len(valid), len(test)) == (queries * 3 // 5, queries // 5, queries // 5)
    every = rp.Lists.concatenate([train, valid, test]).validate()
    assert every.features.shape[1] == outline.features == len(recipes(outline))
    assert every.lengths.mean() == pytest.approx(outline.documents, rel=0.03)
    assert every.lengths.min() >= outline.shortest
    assert every.lengths.max() <= outline.longest
    shares = np.bincount(every.labels.astype(int), minlength=len(outline.label_shares)) / every.documents
    assert shares == pytest.approx(outline.label_shares, abs=0.02)
    if outline.unit_interval:
        assert every.features.min() >= 0.0
        assert every.features.max() <= 1.0


@pytest.fixture(autouse=True, scope="module")
def _no_window():
    import matplotlib

    matplotlib.use("agg")


@pytest.fixture(scope="module")
def collections():
    return {
        "few": rp.load("synthetic[queries=40,documents=20]").train,
        "many": rp.load("synthetic[queries=200,documents=40]").train,
    }


def test_lengths_and_features_are_histograms(collections):
    lengths = pictures.draw_list_lengths(collections).axes[0]
    columns = {name: number for number, name in enumerate(names_of("mslr")[:5])}
    features = pictures.draw_features(collections, columns)
    visible = [axes for axes in features.axes if axes.get_visible()]
    assert len(visible) == 5
    for axes in [lengths, *visible]:
        for outline in axes.patches:
            corners = outline.get_xy()
            tops = corners[1:-1:2, 1][: (len(corners) - 1) // 2]
            assert sum(tops) == pytest.approx(100.0)


@pytest.mark.slow
def test_learning_curves_lie_between_chance_and_the_oracle():
    curves = learning_curves("synthetic[queries=60,documents=20]", [10, 36], measure="ndcg@5", loss="ranknet")
    points = curves.dropna()
    assert [tuple(row) for row in points[["model", "queries"]].to_numpy()] == [
        (model, size) for model in ("linear", "trees", "network") for size in (10, 36)
    ]
    ends = curves[curves["queries"].isna()].set_index("model")["value"]
    assert ends["chance"] < points["value"].mean() < ends["oracle"] < 1.0
    assert (curves["half width"] > 0).all()
    axes = pictures.draw_learning_curves(curves, "ndcg@5").axes[0]
    assert [line.get_label() for line in axes.lines] == ["linear", "trees", "network", "oracle", "chance"]
    assert axes.lines[1].get_ydata() == pytest.approx(points[points["model"] == "trees"]["value"].to_numpy())
