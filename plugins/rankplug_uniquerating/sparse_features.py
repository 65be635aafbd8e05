"""Features that are 0 for most documents, made of dense ones, to see what sparsity alone does to a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankplug.data import Lists, Split
from rankplug_uniquerating.plugin import Sparsity


def sparse_features(split: Split, parameters: Sparsity, generator: np.random.Generator) -> Split:
    """Lower each feature by its quantile in the training part, and take what falls below 0 as 0."""
    bounds = np.quantile(split.train.features, parameters.share, axis=0, method="inverted_cdf").astype(np.float32)
    bounds[list(split.train.categorical)] = 0

    def change(lists: Lists) -> Lists:
        return replace(lists, features=np.maximum(lists.features - bounds, np.float32(0)))

    return Split(*map(change, split))
