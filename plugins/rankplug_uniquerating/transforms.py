"""Transforms of the study: other scaling, other selection, and features that are 0 for most documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankplug.data import Lists, Split
from rankplug.registry import Parameters
from rankplug_uniquerating.plugin import Sparsity


def minmax(split: Split, parameters: Parameters, generator: np.random.Generator) -> Split:
    """Scale every feature to [0, 1] by its minimum and maximum over all training documents; constant ones become 0."""
    low, high = np.fmin.reduce(split.train.features), np.fmax.reduce(split.train.features)
    width = np.where(high > low, high - low, np.inf).astype(np.float32)
    categorical = list(split.train.categorical)
    low[categorical], width[categorical] = 0, 1

    def change(lists: Lists) -> Lists:
        return replace(lists, features=(lists.features - low) / width)

    return Split(*map(change, split))


def validate_on_test(split: Split, parameters: Parameters, generator: np.random.Generator) -> Split:
    """Put the test part in the place of the validation part; what is selected so looks better than new data would."""
    return Split(split.train, split.test, split.test)


def sparse_features(split: Split, parameters: Sparsity, generator: np.random.Generator) -> Split:
    """Lower each feature by its quantile in the training part, and take what falls below 0 as 0."""
    values = split.train.features
    quantile = np.nanquantile if np.isnan(values).any() else np.quantile
    bounds = quantile(values, parameters.share, axis=0, method="inverted_cdf").astype(np.float32)
    bounds[list(split.train.categorical)] = 0

    def change(lists: Lists) -> Lists:
        return replace(lists, features=np.maximum(lists.features - bounds, np.float32(0)))

    return Split(*map(change, split))
