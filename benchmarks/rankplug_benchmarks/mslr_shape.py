"""Lists with the shape of MSLR-WEB30K: 119 documents a query on average, its shares of labels, 136 features."""

from __future__ import annotations

import numpy as np

import rankplug as rp

FEATURES = 136
MEDIAN_LENGTH = 105.0
SPREAD_OF_LENGTHS = 0.5
SHARES_OF_LABELS = (0.52, 0.32, 0.13, 0.02, 0.01)


def lists_like_mslr(queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make scores, labels and starts.

    The scores of a list are distinct whole numbers, as trec_eval keeps single precision and orders ties its own way.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.lognormal(np.log(MEDIAN_LENGTH), SPREAD_OF_LENGTHS, queries)
    starts = np.concatenate(([0], np.cumsum(np.clip(drawn.astype(np.int64), 2, 900))))
    labels = generator.choice(len(SHARES_OF_LABELS), size=starts[-1], p=SHARES_OF_LABELS).astype(np.float64)
    query = np.repeat(np.arange(queries), np.diff(starts))
    scores = np.empty(starts[-1])
    scores[np.lexsort((labels + generator.normal(0, 2, starts[-1]), query))] = np.arange(starts[-1]) - starts[query]
    return scores, labels, starts


def features_like_mslr(labels: np.ndarray) -> np.ndarray:
    """Make continuous, counted, skewed and sparse columns by turns, of which twenty carry a little of the label."""
    generator = np.random.default_rng(3)
    features = generator.normal(size=(labels.size, FEATURES)).astype(np.float32)
    features[:, :20] += 0.3 * labels[:, None].astype(np.float32)
    features[:, 1::4] = np.round(np.exp(1.2 * features[:, 1::4]))
    features[:, 2::4] = np.exp(features[:, 2::4])
    features[:, 3::4] *= generator.random(features[:, 3::4].shape, np.float32) < 0.3
    return features


def whole_lists(queries: int) -> rp.Lists:
    """Make lists with features."""
    _, labels, starts = lists_like_mslr(queries)
    return rp.Lists(features_like_mslr(labels), labels.astype(np.float32), starts)
