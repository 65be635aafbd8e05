"""The numbers of a data set, counted while it is prepared, and how they compare with the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankplug.data import Lists
from rankplug_data.public.benchmark import PublishedCounts


@dataclass(frozen=True)
class Statistics:
    """Statistics of a data set.

    Args:
        queries: how many.
        documents: how many.
        features: how many.
        used_features: those that are not zero throughout.
        labels: documents of each label, by the label.
        without_relevant: queries without a label above zero.
        shortest: documents of the shortest list.
        longest: documents of the longest list.
    """

    queries: int
    documents: int
    features: int
    used_features: int
    labels: Mapping[str, int]
    without_relevant: int
    shortest: int
    longest: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        labels = ", ".join(f"{count:,} of label {label}" for label, count in self.labels.items())
        return (
            f"{self.queries:,} queries, {self.without_relevant:,} of them without a relevant document\n"
            f"{self.documents:,} documents: {labels}\n"
            f"{self.features} features, {self.used_features} of them not zero throughout\n"
            f"lists of {self.shortest} to {self.longest} documents"
        )


def count(parts: Iterable[Lists], used_features: int) -> Statistics:
    """Count the statistics of some parts together; ``used_features`` has been counted while reading."""
    parts = list(parts)
    labels = np.concatenate([part.labels for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    best = np.maximum.reduceat(labels, np.concatenate([[0], np.cumsum(lengths)[:-1]]))
    values, counts = np.unique(labels, return_counts=True)
    return Statistics(
        queries=int(lengths.size),
        documents=int(labels.size),
        features=int(parts[0].features.shape[1]),
        used_features=used_features,
        labels={f"{value:g}": int(number) for value, number in zip(values, counts, strict=True)},
        without_relevant=int((best <= 0).sum()),
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
    )


def mismatches(published: PublishedCounts, counted: Statistics, parts: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return a sentence for each number that differs from the published one.

    The queries and documents of each part are in ``parts``.
    """
    sentences = []

    def compare(what: str, expected: float, actual: float) -> None:
        if expected != actual:
            sentences.append(f"{what}: published {expected:,}, found {actual:,}")

    compare("queries", published.queries, counted.queries)
    compare("documents", published.documents, counted.documents)
    if published.used_features is not None:
        compare("features that are not zero throughout", published.used_features, counted.used_features)
    known = {str(label): number for label, number in enumerate(published.labels)}
    if known:
        for label in sorted({*known, *counted.labels}):
            compare(f"documents of label {label}", known.get(label, 0), counted.labels.get(label, 0))
    shares = {str(label): percent for label, percent in enumerate(published.label_percent)}
    for label, percent in shares.items():
        found = 100 * counted.labels.get(label, 0) / max(counted.documents, 1)
        compare(f"percent of label {label}", percent, round(found, 2))
    for part, (queries, documents) in published.parts.items():
        compare(f"queries of {part}", queries, parts[part][0])
        compare(f"documents of {part}", documents, parts[part][1])
    return sentences
