"""Facts about a public data set: its sources, the names of its files, and the numbers it should have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS = ("train", "valid", "test")

LETOR_NAMES: Mapping[str, tuple[str, ...]] = {
    "train": ("train.txt", "trainingset.txt"),
    "valid": ("vali.txt", "validationset.txt", "valid.txt"),
    "test": ("test.txt", "testset.txt"),
}
"""File names of LETOR 4.0 and MSLR, and of LETOR 3.0."""


@dataclass(frozen=True, kw_only=True)
class PublishedCounts:
    """The numbers of a data set as its makers or users print them.

    Args:
        queries: over all parts.
        documents: over all parts.
        used_features: columns that are not zero throughout, where that is published.
        labels: how many documents have label 0, 1, 2, ...
        label_percent: the same in percent, where only that is published.
        parts: queries and documents of train, valid and test, for sets of one fold.
        confirmed: whether the numbers have been counted on the files.
    """

    queries: int
    documents: int
    used_features: int | None = None
    labels: tuple[int, ...] = ()
    label_percent: tuple[float, ...] = ()
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    confirmed: bool = False


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file to fetch.

    Args:
        file: where it goes below the set's own folder.
        urls: addresses that have it, tried in turn.
        sha256: its digest.
    """

    file: str
    urls: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A public data set.

    Args:
        name: what users call it here.
        title: what its makers call it.
        summary: one line.
        page: the official page.
        licence: what may be done with it, and how one agrees.
        citation: how to cite it.
        instructions: how to get it by hand.
        published: its numbers.
        features: how many its text numbers, of which some may be zero throughout.
        folds: how many official folds.
        archives: names of its archive or folder, without the ending, the official one first.
        inside: names of the folder that holds it where an archive holds several sets.
        versions: names of the folders of its versions, the default first; empty where there is one.
        files: names of the files of each part.
        downloads: files to fetch for each version, empty where a person has to click.
        mirrors_note: what the downloads are, if not the official release.
        fingerprints: digest of each fold of each version, where the release has been read.
    """

    name: str
    title: str
    summary: str
    page: str
    licence: str
    citation: str
    instructions: str
    published: PublishedCounts
    features: int
    folds: int
    archives: tuple[str, ...]
    inside: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: LETOR_NAMES)
    downloads: Mapping[str, tuple[Download, ...]] = field(default_factory=dict)
    mirrors_note: str = ""
    fingerprints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def default_version(self) -> str:
        return self.versions[0] if self.versions else ""
