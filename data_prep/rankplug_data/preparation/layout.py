"""Layout of a release: the part and fold that each file holds, derived from its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from rankplug_data.text.archives import SUFFIXES

FOLD = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE)
COMPRESSED = (".gz", ".xz", ".bz2")


class Place(NamedTuple):
    """A part of a fold."""

    fold: int
    part: str

    def __str__(self) -> str:
        return f"fold {self.fold} {self.part}"


@dataclass(frozen=True)
class Layout:
    """Layout of a release.

    Args:
        folds: how many folds; with one, no folder ``Fold1`` is needed.
        files: names of the files of each part.
        version: the version wanted, empty where there is one.
        versions: names of all versions.
        others: names of folders that hold other sets.
    """

    folds: int
    files: Mapping[str, tuple[str, ...]]
    version: str = ""
    versions: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def place_of(self, path: str, archive: str = "") -> Place | None:
        """Return the fold and part that the file at this path of an archive holds; None for a file that is not needed.

        >>> layout = Layout(5, {"train": ("trainingset.txt",)}, version="min", versions=("norm", "min"))
        >>> layout.place_of("OHSUMED/min/Fold3/trainingset.txt")
        Place(fold=3, part='train')
        >>> layout.place_of("OHSUMED/norm/Fold3/trainingset.txt") is None
        True
        """
        pure = PurePosixPath(path)
        part = self._part(pure.name)
        if part is None:
            return None
        folders = [_plain(archive), *(_plain(folder) for folder in pure.parts[:-1])]
        named = [version for version in self.versions if _plain(version) in folders]
        if self.versions and (named or [self.versions[0]]) != [self.version]:
            return None
        if any(_plain(other) in folders for other in self.others):
            return None
        folds = [int(match.group(1)) for folder in pure.parts[:-1] if (match := FOLD.fullmatch(folder))]
        if not folds:
            return Place(1, part) if self.folds == 1 else None
        return Place(folds[-1], part) if 1 <= folds[-1] <= self.folds else None

    def _part(self, name: str) -> str | None:
        lowered = name.lower()
        for ending in COMPRESSED:
            lowered = lowered.removesuffix(ending)
        for part, names in self.files.items():
            if lowered in names:
                return part
        return None


def stem_of(name: str) -> str:
    """Return a file's name without the ending of an archive.

    >>> stem_of("OHSUMED.tar.xz")
    'OHSUMED'
    """
    lowered = name.lower()
    for ending in sorted(SUFFIXES, key=len, reverse=True):
        if lowered.endswith(ending):
            return name[: -len(ending)]
    return name


def _plain(name: str) -> str:
    """Normalise a name, as names are compared without regard to case, hyphens and underscores."""
    return re.sub(r"[-_ .]", "", name).lower()


def same_name(name: str, other: str) -> bool:
    """Tell whether two names of archives or folders mean the same."""
    return _plain(stem_of(name)) == _plain(other)
