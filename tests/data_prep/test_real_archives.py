"""The real sets, where their archives are at hand: in ``RANKPLUG_DATA``, or beside the checkout."""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from rankplug_data import letor
from sklearn.datasets import load_svmlight_file

import rankplug as rp

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
FOLDERS = [*os.environ.get("RANKPLUG_DATA", "").split(os.pathsep), str(BESIDE)]


def archive(name):
    for folder in filter(None, FOLDERS):
        if (Path(folder) / name).exists():
            return Path(folder) / name
    pytest.skip(f"{name} is neither in RANKPLUG_DATA nor in {BESIDE}")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def surroundings(cache, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: cache)


def five_parts(name):
    """Load the five disjoint test parts, which are the whole set."""
    return [rp.load(name, fold=fold).test for fold in range(1, 6)]


def labels_of(parts):
    return np.unique(np.concatenate([part.labels for part in parts]), return_counts=True)[1].tolist()


@pytest.mark.parametrize(("packed", "name"), [("OHSUMED", "ohsumed[version=Feature-min]"), ("MQ2008", "mq2008")])
def test_results_have_one_name_with_and_without_the_data(monkeypatch, packed, name):
    monkeypatch.setenv("RANKPLUG_DATA", str(archive(f"{packed}.tar.xz").parent))
    one = rp.Combination(dataset=name, backend="lightgbm", loss="mse")
    rp.load(name)
    assert one.data_fingerprint == ""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("packed", "name", "queries", "documents", "features", "labels"),
    [
        ("OHSUMED", "ohsumed", 106, 16_140, 45, [11_303, 2_585, 2_252]),
        ("OHSUMED", "ohsumed[version=Feature-min]", 106, 16_140, 45, [11_303, 2_585, 2_252]),
        ("MQ2008", "mq2008", 784, 15_211, 46, [12_279, 2_001, 931]),
        ("MQ2007", "mq2007", 1_692, 69_623, 46, [51_632, 14_128, 3_863]),
    ],
)
def test_sets_have_the_published_numbers(monkeypatch, packed, name, queries, documents, features, labels):
    monkeypatch.setenv("RANKPLUG_DATA", str(archive(f"{packed}.tar.xz").parent))
    parts = five_parts(name)
    assert (sum(map(len, parts)), sum(part.documents for part in parts)) == (queries, documents)
    assert {part.features.shape[1] for part in parts} == {features} and labels_of(parts) == labels
    if packed == "OHSUMED":
        assert [len(part) for part in parts] == [22, 21, 21, 21, 21]
        lengths = np.concatenate([part.lengths for part in parts])
        assert (lengths.min(), lengths.max()) == (35, 320)


@pytest.mark.filterwarnings("error")
def test_yandex_has_the_published_numbers(monkeypatch):
    monkeypatch.setenv("RANKPLUG_DATA", str(archive("Yandex.tar.xz").parent))
    splits = [rp.load("yandex", seed=seed) for seed in (1, 2)]
    for split in splits:
        assert len(split.train) + len(split.valid) == 666
        assert (len(split.test), sum(part.documents for part in split)) == (2_668, 59_061)
        assert labels_of(split) == [31_161, 10_961, 15_798, 897, 244]
    assert set(splits[0].valid.query_ids) != set(splits[1].valid.query_ids)


@pytest.mark.parametrize("fold", [1, 4])
def test_parts_are_the_official_files_as_scikit_learn_reads_them(monkeypatch, tmp_path, fold):
    monkeypatch.setenv("RANKPLUG_DATA", str(archive("MQ2008.tar.xz").parent))
    split = rp.load("mq2008", fold=fold)
    with tarfile.open(archive("MQ2008.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    for part, name in zip(split, ("train", "vali", "test"), strict=True):
        path = tmp_path / "MQ2008" / f"Fold{fold}" / f"{name}.txt"
        features, labels, ids = load_svmlight_file(
            str(path), n_features=46, dtype=np.float32, query_id=True, zero_based=False
        )
        assert np.array_equal(part.features.view(np.uint32), features.toarray().view(np.uint32))
        assert np.array_equal(part.labels, labels)
        assert np.array_equal(part.query_ids[part.query_of_document], ids)
    assert split.test.document_ids[0].startswith("GX")


def test_the_mslr_sample_reads_as_scikit_learn_reads_it(tmp_path):
    with tarfile.open(archive("MSLR-WEB10K-sample.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    for path in sorted(tmp_path.rglob("*.5k.txt")):
        lists = letor.read(path)
        features, labels, _ = load_svmlight_file(str(path), dtype=np.float32, query_id=True, zero_based=False)
        assert (len(lists), lists.documents, lists.features.shape[1]) == (43, 5_000, 136)
        assert np.array_equal(lists.features.view(np.uint32), features.toarray().view(np.uint32))
        assert np.array_equal(lists.labels, labels)
