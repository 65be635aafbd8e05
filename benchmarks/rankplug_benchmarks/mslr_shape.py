"""Lists with the shape of MSLR-WEB30K: 119 documents per query on average, its shares of labels, 136 features."""

from __future__ import annotations

import numpy as np

import rankplug as rp

FEATURES = 136
MEDIAN_LENGTH = 105.0
SPREAD_OF_LENGTHS = 0.5
SHARES_OF_LABELS = (0.52, 0.32, 0.13, 0.02, 0.01)


def scores_labels_starts(lengths: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate scores, labels and starts; scores within a list are distinct integers that trec_eval keeps apart."""
    generator = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    labels = generator.choice(len(SHARES_OF_LABELS), size=starts[-1], p=SHARES_OF_LABELS).astype(np.float64)
    query = np.repeat(np.arange(lengths.size), lengths)
    scores = np.empty(starts[-1])
    order = np.lexsort((labels + generator.normal(0, 2, starts[-1]), query))
    scores[order] = np.arange(starts[-1]) - starts[query]
    return scores, labels, starts


def ragged_lengths(queries: int, seed: int = 0) -> np.ndarray:
    """Generate numbers of documents per query."""
    drawn = np.random.default_rng(seed).lognormal(np.log(MEDIAN_LENGTH), SPREAD_OF_LENGTHS, queries)
    return np.clip(drawn.astype(np.int64), 2, 900)


def lists_with_features(queries: int) -> rp.Lists:
    """Generate lists with continuous, counted, skewed and sparse features, of which twenty carry part of the label."""
    _, labels, starts = scores_labels_starts(ragged_lengths(queries))
    generator = np.random.default_rng(3)
    features = generator.normal(size=(labels.size, FEATURES)).astype(np.float32)
    features[:, :20] += 0.3 * labels[:, None].astype(np.float32)
    features[:, 1::4] = np.round(np.exp(1.2 * features[:, 1::4]))
    features[:, 2::4] = np.exp(features[:, 2::4])
    features[:, 3::4] *= generator.random(features[:, 3::4].shape, np.float32) < 0.3
    return rp.Lists(features, labels.astype(np.float32), starts)
