"""Facts stated about the public data sets are those of their sources."""

import numpy as np
import pytest
from rankplug_data.catalogue import BENCHMARKS, PublishedCounts
from rankplug_data.prepared import Statistics

import rankplug as rp


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


def differences(**published):
    lists = rp.Lists(np.ones((4, 2), np.float32), np.array([0, 1, 1, 2], np.float32), [0, 3, 4])
    return Statistics.count([lists], 2).differences(PublishedCounts(**published), {"train": lists, "test": lists})


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
