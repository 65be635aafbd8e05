"""Files are told by their paths, and rotating parts by their sizes."""

import pytest
from rankplug_data.preparation.layout import Layout, Place, same_name
from rankplug_data.preparation.rotation import may_rotate, rotating, share
from rankplug_data.public.benchmark import LETOR_NAMES

VERSIONS = ("QueryLevelNorm", "Feature-min", "Feature-null")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("MQ2008/Fold3/train.txt", Place(3, "train")),
        ("Fold1/vali.txt.gz", Place(1, "valid")),
        ("a/b/FOLD5/TestSet.TXT", Place(5, "test")),
        ("Fold6/test.txt", None),
        ("test.txt", None),
        ("Fold1/S1.txt", None),
        ("Fold1/readme.txt", None),
    ],
)
def test_paths_of_five_folds(path, place):
    assert Layout(5, LETOR_NAMES).place_of(path) == place


def test_a_path_without_a_version_is_of_the_default_one():
    for version, expected in (("QueryLevelNorm", Place(1, "test")), ("Feature-min", None)):
        assert Layout(5, LETOR_NAMES, version, VERSIONS).place_of("OHSUMED/Fold1/test.txt") == expected


def test_versions_are_compared_without_hyphens():
    layout = Layout(5, LETOR_NAMES, "Feature-min", VERSIONS)
    assert layout.place_of("Gov/Feature_min/2003_td_dataset/Fold1/test.txt") == Place(1, "test")
    assert layout.place_of("Gov/Feature_null/2003_td_dataset/Fold1/test.txt") is None


def test_other_sets_of_an_archive_are_passed_over():
    layout = Layout(5, LETOR_NAMES, others=("2004_td_dataset", "MQ2007"))
    assert layout.place_of("Gov/2003_td_dataset/Fold1/test.txt") == Place(1, "test")
    assert layout.place_of("Gov/2004_td_dataset/Fold1/test.txt") is None
    assert layout.place_of("Fold1/test.txt", archive="MQ2007") is None


@pytest.mark.parametrize("name", ["OHSUMED.tar.xz", "ohsumed.ZIP", "OHSUMED", "Ohsumed.tgz"])
def test_an_archive_is_known_by_its_name(name):
    assert same_name(name, "OHSUMED")


def test_a_sample_is_not_the_set():
    assert not same_name("MSLR-WEB10K-sample.tar.xz", "MSLR-WEB10K")


def test_each_fold_trains_on_three_parts_and_holds_all_five():
    arrangement = rotating()
    for fold in range(1, 6):
        parts = arrangement.folds[fold]
        (first, last), *others = parts["train"], parts["valid"], parts["test"]
        places = [*arrangement.order[first:last], *(arrangement.order[begin] for begin, _ in others)]
        assert places == [share(fold + step) for step in range(5)]


def test_sizes_decide_whether_parts_may_rotate():
    sizes = {share(number): 100 + number for number in range(1, 6)}
    assert may_rotate(sizes, 5)
    assert not may_rotate(sizes, 1)
    assert may_rotate({**sizes, Place(1, "train"): 306, Place(1, "valid"): 104}, 5)
    assert may_rotate({**sizes, Place(1, "train"): None}, 5)
    assert not may_rotate({**sizes, Place(1, "train"): 280}, 5)
    assert not may_rotate({**sizes, Place(2, "valid"): 140}, 5)
    del sizes[share(3)]
    assert not may_rotate(sizes, 5)
