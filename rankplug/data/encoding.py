"""Numbers in place of categories and missing values, for models that know neither: part of the model, saved with it.

A missing number becomes the median of the training documents, and a column of its own says where values were missing.
A category with few levels becomes one column a level, all of them 0 where it is missing; one with many becomes the rank
of its level, which no label has influenced. A level that training has not seen is missing.

>>> features = np.array([[1, 0], [np.nan, 1], [3, 1]], np.float32)
>>> lists = Lists(features, [0, 1, 0], [0, 3], feature_names=("price", "kind"), categorical=(1,))
>>> encoding = Encoding.of(lists)
>>> encoding.outputs
('price', 'kind=0', 'kind=1', 'price is missing')
>>> encoding(lists.features)
array([[1., 1., 0., 0.],
       [2., 0., 1., 1.],
       [3., 0., 1., 0.]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data.lists import Lists
from rankplug.system import check_memory

Matrix = NDArray[np.float32]
MOST_COLUMNS = 10
"""Levels up to which a category has a column for each."""
ROWS = 1 << 14
ROWS_OF_A_MEDIAN = 1000
"""Documents whose median stands for missing values of a feature that was complete in training."""


@dataclass(frozen=True)
class Encoding:
    """Change of the features of documents before a model of numbers sees them.

    Args:
        names: names of the features, where they have some.
        medians: one a feature, in its place where a value is missing.
        codes: the codes that each categorical feature has in training, by its position.
        missing: positions of features that lack values in training.
        outputs: names of the columns that the model sees, where the features have names.
    """

    names: tuple[str, ...]
    medians: tuple[float, ...]
    codes: Mapping[int, tuple[float, ...]]
    missing: tuple[int, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, lists: Lists) -> Encoding:
        """Fit an encoding to the training documents."""
        features = lists.features
        lacking = np.zeros(features.shape[1], np.bool_)
        for first in range(0, lists.documents, ROWS):
            block = features[first : first + ROWS]
            if np.isnan(block.sum()):
                lacking |= np.isnan(block).any(axis=0)
        medians = np.median(features[:: max(lists.documents // ROWS_OF_A_MEDIAN, 1)], axis=0)
        codes = {}
        for place in sorted({*np.flatnonzero(lacking).tolist(), *lists.categorical}):
            present = features[:, place][~np.isnan(features[:, place])]
            if place in lists.categorical:
                seen, present = np.unique(present, return_inverse=True)  # type: ignore[assignment]
                codes[place] = tuple(seen.tolist())
            medians[place] = np.median(present) if present.size else 0.0
        encoding = cls(lists.feature_names, tuple(medians.tolist()), codes, (), ())
        missing = tuple(place for place in np.flatnonzero(lacking).tolist() if place not in encoding.columns_of_levels)
        outputs: list[str] = []
        for place, name in enumerate(lists.feature_names):
            levels = lists.categories.get(name)
            several = [f"{name}={levels[int(code)] if levels else int(code)}" for code in codes.get(place, ())]
            outputs += several if place in encoding.columns_of_levels else [name]
        outputs += [f"{lists.feature_names[place]} is missing" for place in missing if lists.feature_names]
        return replace(encoding, missing=missing, outputs=tuple(outputs))

    @property
    def is_plain(self) -> bool:
        """Whether complete features pass as they are."""
        return not (self.codes or self.missing)

    def lists(self, lists: Lists) -> Lists:
        """Return lists with the columns that the model sees; their fingerprint remains that of the data."""
        if self.is_plain and not np.isnan(lists.features.sum(axis=0)).any():
            return lists
        check_memory(4 * lists.documents * self.width, "the encoding of categories and missing values",
                     "train on fewer queries")  # fmt: skip
        encoded = replace(lists, features=self(lists.features), feature_names=self.outputs, categorical=(),
                          categories={})  # fmt: skip
        return encoded.with_fingerprint(lists.fingerprint)

    @property
    def columns_of_levels(self) -> dict[int, int]:
        """Number of columns of each category that has one for each level."""
        return {place: len(codes) for place, codes in self.codes.items() if 0 < len(codes) <= MOST_COLUMNS}

    @property
    def width(self) -> int:
        """Number of columns that the model sees."""
        levels = self.columns_of_levels.values()
        return len(self.medians) - len(levels) + sum(levels) + len(self.missing)

    def __call__(self, features: Matrix) -> Matrix:
        """Return the columns that the model sees; the same array where nothing is to be changed."""
        if self.is_plain and not np.isnan(features.sum(axis=0)).any():
            return features
        absent = np.isnan(features)
        blocks: list[NDArray[Any]] = []
        for place, median in enumerate(self.medians):
            values: NDArray[Any] = features[:, place]
            if place in self.codes:
                codes = np.array(self.codes[place] or (0.0,), np.float32)
                values = np.searchsorted(codes, values)
                absent[:, place] = codes[np.minimum(values, codes.size - 1)] != features[:, place]
                if place in self.columns_of_levels:
                    blocks.append((values[:, None] == np.arange(codes.size)) & ~absent[:, place, None])
                    continue
            blocks.append(np.where(absent[:, place], median, values)[:, None])
        return np.concatenate([*blocks, absent[:, list(self.missing)]], axis=1, dtype=np.float32)

    def describe(self) -> dict[str, Any]:
        """Return the encoding as plain values for JSON."""
        return asdict(self)

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Encoding:
        """Read what :meth:`describe` returned."""
        values = {name: tuple(value) for name, value in described.items() if name != "codes"}
        return cls(**values, codes={int(place): tuple(codes) for place, codes in described["codes"].items()})
