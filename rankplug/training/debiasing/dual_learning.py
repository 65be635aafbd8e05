"""Propensities that a ranker's scores explain, as dual learning alternates them with rankers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Clicks, Lists

LEAST = 1e-3


def first_propensities(clicks: Clicks) -> NDArray[np.float64]:
    """Return the propensities that there would be if documents were as relevant at every position."""
    return _relative(clicks.clicked.sum(axis=0) / np.maximum(clicks.shown.sum(axis=0), 1))


def propensities_by(
    scores: NDArray[np.float64], lists: Lists, clicks: Clicks, propensities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the propensities that explain the clicks if a ranker's scores tell the relevance of documents.

    Args:
        scores: of the documents.
        lists: that they are in.
        clicks: on them.
        propensities: so far.
    """
    from sklearn.isotonic import IsotonicRegression

    # Most losses do not change where a constant is added to the scores of a list.
    centred = scores - np.repeat(np.add.reduceat(scores, lists.starts[:-1]) / lists.lengths, lists.lengths)
    looks = clicks.shown @ propensities
    curve = IsotonicRegression(y_min=LEAST, out_of_bounds="clip")
    fitted = curve.fit(centred, clicks.relevance(propensities), sample_weight=looks)
    relevance = np.asarray(fitted.predict(centred), np.float64)
    return _relative(clicks.clicked.sum(axis=0) / np.maximum(relevance @ clicks.shown, LEAST))


def _relative(propensities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return propensities relative to the first position's, none of them 0."""
    return np.maximum(propensities / max(propensities[0], LEAST), LEAST)
