r"""Propensities of a position-based model: how probable it is that a user looks at each position.

A click at position k on document d has probability :math:`p_k r_d`, of examination and of relevance. Only the product
of the two is observed, so propensities are relative to the first position's.

``harvest`` uses documents that were shown at several positions, by randomised swaps or as rankers changed, and ignores
all others (Agarwal et al., WSDM 2019). The clicks of such a document share its relevance, which drops out
of their distribution over its positions; that is maximised, by the iteration that is known of Bradley-Terry models.

``regression_em`` takes relevance as a function of the features (Wang et al., WSDM 2018, who boost trees; here it is
linear), so that documents shown at one position alone count too; it is as wrong as that function is.

>>> shown = np.array([[100, 100], [50, 150]])
>>> harvest(Clicks(shown, np.array([[80, 40], [20, 30]]))).round(3).tolist()
[1.0, 0.5]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankplug.data import ClickCounts, Lists, Scaling
from rankplug.errors import DataError
from rankplug_clicks.clicks import Clicks, Probabilities

STEPS, TOLERANCE = 10_000, 1e-7
"""Iterations of ``harvest`` at most, and the change of no propensity beyond which it goes on."""
EM_STEPS, RIDGE = 100, 1.0
LEAST = 1e-3
"""Least propensity and relevance: where there is no click the estimate would be 0."""


def harvest(clicks: ClickCounts) -> Probabilities:
    """Return propensities from documents that were shown at several positions."""
    clicks = Clicks.of(clicks)
    clicked = clicks.clicked.sum(axis=1)
    moved = ((clicks.shown > 0).sum(axis=1) > 1) & (clicked > 0)
    shown, totals = clicks.shown[moved].astype(np.float64), clicked[moved].astype(np.float64)
    at_position = clicks.clicked[moved].sum(axis=0).astype(np.float64)
    _check_linked(clicks.shown[moved] > 0)
    propensities = np.ones(clicks.positions)
    for _ in range(STEPS):
        before = propensities
        propensities = np.maximum(
            at_position / (shown.T @ (totals / (shown @ propensities))), LEAST * propensities.max()
        )
        propensities = propensities / propensities[0]
        if np.abs(propensities - before).max() < TOLERANCE:
            break
    return propensities


def _check_linked(shown: NDArray[np.bool_]) -> None:
    """Raise an error if documents do not link all positions to the first one."""
    linked = np.zeros(shown.shape[1], np.bool_)
    linked[0] = True
    while True:
        reached = linked | shown[shown[:, linked].any(axis=1)].any(axis=0)
        if (reached == linked).all():
            break
        linked = reached
    if not linked.all():
        raise DataError(
            f"no document with a click was shown at position {np.argmin(linked) + 1} and at another one that leads to"
            " position 1, so propensities cannot be harvested; log with randomised swaps, take regression_em, or give"
            " the propensities"
        )


def regression_em(clicks: ClickCounts, features: NDArray[np.float32]) -> Probabilities:
    """Return propensities by expectation maximisation, relevance a linear function of the features' logarithms."""
    clicks = Clicks.of(clicks)
    if len(features) != len(clicks.shown):
        raise DataError(f"the clicks are of {len(clicks.shown)} documents, but features have {len(features)} rows")
    impressions = clicks.shown.sum(axis=1)
    rows = np.flatnonzero(impressions)
    scaled = np.nan_to_num(Scaling.of("log", features[rows])(features[rows])).astype(np.float64)
    inputs = np.column_stack([np.ones(rows.size), scaled])
    weighted = inputs * impressions[rows, None] / impressions[rows].mean()
    solve = np.linalg.solve(weighted.T @ inputs + RIDGE * np.eye(inputs.shape[1]), weighted.T)
    return expectation_maximisation(clicks[rows], lambda targets: np.asarray(inputs @ (solve @ targets)))


def expectation_maximisation(
    clicks: Clicks, regress: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Probabilities:
    """Return propensities by expectation maximisation.

    Args:
        clicks: clicks on documents that were shown at least once.
        regress: returns the relevance that a model fitted to expected relevances gives each document.
    """
    shown, clicked = clicks.shown.astype(np.float64), clicks.clicked.astype(np.float64)
    missed = shown - clicked
    propensities = clicked.sum(axis=0) / np.maximum(shown.sum(axis=0), 1.0)
    propensities = np.clip(propensities / max(propensities[0], LEAST), LEAST, 1.0 - LEAST)
    relevance = np.clip(clicks.relevance(propensities), LEAST, 1.0 - LEAST)
    for _ in range(EM_STEPS):
        # Posterior of examination and of relevance after a missing click, under the current estimates of both.
        no_click = 1.0 - relevance[:, None] * propensities
        examined = clicked + missed * propensities * (1.0 - relevance[:, None]) / no_click
        relevant = clicked + missed * relevance[:, None] * (1.0 - propensities) / no_click
        propensities = np.clip(examined.sum(axis=0) / np.maximum(shown.sum(axis=0), 1.0), LEAST, 1.0 - LEAST)
        relevance = np.clip(regress(relevant.sum(axis=1) / shown.sum(axis=1)), LEAST, 1.0 - LEAST)
    return propensities / propensities[0]


def propensities_by(
    scores: NDArray[np.float64], lists: Lists, clicks: Clicks, propensities: Probabilities
) -> Probabilities:
    """Return the propensities that explain the clicks if the scores of a ranker order documents by relevance.

    Isotonic regression turns scores into relevance, so that their scale does not matter.

    Args:
        scores: float array of shape (documents,).
        lists: the documents.
        clicks: clicks on them.
        propensities: float array of shape (positions,), the estimate so far.
    """
    from sklearn.isotonic import IsotonicRegression

    # Most losses do not change where a constant is added to the scores of a list.
    centred = scores - np.repeat(np.add.reduceat(scores, lists.starts[:-1]) / lists.lengths, lists.lengths)
    looks = clicks.shown @ propensities
    curve = IsotonicRegression(y_min=LEAST, out_of_bounds="clip")
    fitted = curve.fit(centred, clicks.relevance(propensities), sample_weight=looks)
    relevance = np.asarray(fitted.predict(centred), np.float64)
    return relative(clicks.clicked.sum(axis=0) / np.maximum(relevance @ clicks.shown, LEAST))


def relative(propensities: Probabilities) -> Probabilities:
    """Return propensities relative to the first position's, none of them 0."""
    return np.maximum(propensities / max(propensities[0], LEAST), LEAST)
