"""Facts stated about the public data sets are those of their sources."""

import re

import numpy as np
import pytest
from rankplug_data.catalogue import BENCHMARKS, PublishedCounts
from rankplug_data.prepared import Statistics

import rankplug as rp
from rankplug.data import StoredDataset
from rankplug.registry import registry

NAMES = {
    "mslr-web10k", "mslr-web30k", "yahoo-c14", "istella-s", "ohsumed", "ohsumed-letor2", "mq2007", "mq2008",
    "td2003", "td2004", "hp2003", "hp2004", "np2003", "np2004", "yandex",
}  # fmt: skip


def test_all_sets_are_there():
    assert {benchmark.name for benchmark in BENCHMARKS} == NAMES


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_every_set_says_where_it_comes_from(benchmark):
    assert benchmark.page.startswith(("https://", "http://"))
    assert benchmark.licence
    assert benchmark.citation
    assert benchmark.instructions
    assert {"train", "test"} <= set(benchmark.files) <= {"train", "valid", "test"}
    assert set(benchmark.downloads) <= set(benchmark.versions or ("",))
    for downloads in benchmark.downloads.values():
        for download in downloads:
            assert re.fullmatch("[0-9a-f]{64}", download.sha256)
            assert len(set(download.urls)) >= 2, "one address may be dead"


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_published_numbers_add_up(benchmark):
    published = benchmark.published
    if published.labels:
        assert sum(published.labels) == published.documents
    if published.label_percent:
        assert sum(published.label_percent) == pytest.approx(100, abs=0.02)
    if published.parts:
        assert sum(queries for queries, _ in published.parts.values()) == published.queries
        assert sum(documents for _, documents in published.parts.values()) == published.documents


@pytest.mark.parametrize("name", sorted({*NAMES, "letor-file"}))
def test_every_set_can_be_handled_on_the_command_line(name):
    assert isinstance(registry().find("dataset", name).specification.load(), StoredDataset)


def differences(**published):
    lists = rp.Lists(np.ones((4, 2), np.float32), np.array([0, 1, 1, 2], np.float32), [0, 3, 4])
    return Statistics.count([lists], 2).differences(PublishedCounts(**published), {"train": lists, "test": lists})


def test_numbers_that_fit_give_no_warning():
    assert differences(queries=2, documents=4, labels=(1, 2, 1), used_features=2, parts={"train": (2, 4)}) == []


def test_each_number_that_differs_is_printed():
    parts = {"test": (1, 4), "train": (2, 4)}
    assert differences(queries=2, documents=5_000, labels=(1, 1, 1, 3), used_features=1, parts=parts) == [
        "documents: published 5,000, found 4",
        "features that are not zero throughout: published 1, found 2",
        "documents of label 1: published 1, found 2",
        "documents of label 3: published 3, found 0",
        "queries of test: published 1, found 2",
    ]


def test_percentages_are_compared_as_printed():
    assert differences(queries=2, documents=4, label_percent=(25.0, 50.01, 25.0)) == [
        "percent of label 1: published 50.01, found 50.0"
    ]
