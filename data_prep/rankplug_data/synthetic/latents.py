"""Latent values of queries and documents, from which features and labels are measured.

A query has a number of terms, a rarity of its terms and an intent (0: it asks about a topic, 1: it asks for a certain
page), all three of which leave traces in features; and a clarity, an abundance of relevant documents and a list length,
which leave none. A document has, for its query, a topical closeness that shows in how well each stream (title, body,
...) matches, and a closeness in meaning that no feature tells of; and for itself lengths, authority, quality,
popularity, depth in its site and a tendency to spam. All are drawn from the counter of their query or document, so any
of them can be drawn again on its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankplug.compiled import key_of, part
from rankplug_data.synthetic.draws import exponential, normal, standard, word
from rankplug_data.synthetic.shapes import ANCHOR, BODY, STREAMS, WHOLE

TERMS, RARITY, INTENT, CLARITY, ABUNDANCE, LENGTH, BARREN = range(7)
QUERY_SIZE = 7

TOPIC = 0
MATCH = 1
EXTENT = MATCH + STREAMS
AUTHORITY = EXTENT + STREAMS
QUALITY, POPULARITY, DEPTH, SPAM, MEANING = range(AUTHORITY + 1, AUTHORITY + 6)
QUERY_TERMS, QUERY_RARITY, QUERY_INTENT = range(MEANING + 1, MEANING + 4)
DOCUMENT_SIZE = QUERY_INTENT + 1

_CLOSENESS = np.array([0.80, 0.65, 0.70, 0.60, 0.85])
"""Correlation of each stream's match with the topical closeness."""
_MATCHED_ABOVE = np.array([-1.2, -0.2, -0.55, 0.4, -1.35])
"""A match below this leaves no query term in the stream."""
_ANCHOR_ABSENT_BELOW = 0.35
_REST = np.sqrt(1.0 - _CLOSENESS**2)


class QueryLaw(NamedTuple):
    """Distribution of queries.

    Args:
        middle: mean of the logarithm of the list length.
        spread: deviation of the logarithm of the list length.
        shortest: list length below which none is.
        longest: list length beyond which none is.
        barren: share of queries without anything relevant.
        clarity: typical deviation of the relevance function, as a judge perceives it.
        clarity_spread: deviation of the logarithm of that between queries.
        abundance: deviation of how much a judge is inclined to find relevant.
    """

    middle: float
    spread: float
    shortest: float
    longest: float
    barren: float
    clarity: float
    clarity_spread: float
    abundance: float


@part(nogil=True, error_model="numpy")
def draw_query(key: np.uint64, law: QueryLaw, query: np.ndarray) -> None:
    """Fill ``query`` with its latent values."""
    intent = np.float64(word(key, 0) >> np.uint64(48)) / 65536.0
    terms = np.floor(1.0 + exponential(1.0 - 1.0 * intent + 0.5 * standard(word(key, 1))))
    query[TERMS] = min(max(terms, 1.0), 12.0)
    query[RARITY] = 0.35 + exponential(-0.8 + 0.9 * intent + 0.35 * standard(word(key, 2)))
    query[INTENT] = intent
    query[CLARITY] = law.clarity * exponential(law.clarity_spread * standard(word(key, 3)))
    query[ABUNDANCE] = law.abundance * standard(word(key, 4))
    length = np.floor(exponential(law.middle + law.spread * normal(key, 5)) + 0.5)
    query[LENGTH] = min(max(length, law.shortest), law.longest)
    query[BARREN] = 1.0 if np.float64(word(key, 8) >> np.uint64(11)) / 9007199254740992.0 < law.barren else 0.0


@part(nogil=True, error_model="numpy")
def document_key(seed: int, part: int, query: int, document: int) -> np.uint64:
    """Return the key of a document's draws; number 0 is the query itself."""
    return key_of(seed, part, query, document + 1)


@part(nogil=True, error_model="numpy")
def query_key(seed: int, part: int, query: int) -> np.uint64:
    """Return the key of a query's draws."""
    return key_of(seed, part, query, 0)


@part(nogil=True, error_model="numpy")
def draw_document(key: np.uint64, query: np.ndarray, document: np.ndarray, matched: np.ndarray) -> None:
    """Fill ``document`` with its latent values and ``matched`` with 1 for each stream that holds a query term."""
    topic = standard(word(key, 0))
    document[TOPIC] = topic
    authority = standard(word(key, 1))
    document[AUTHORITY] = authority
    document[QUALITY] = 0.4 * authority + 0.9165 * standard(word(key, 2))
    document[POPULARITY] = 0.35 * authority + 0.35 * topic + 0.869 * standard(word(key, 3))
    document[DEPTH] = -0.4 * authority + 0.9165 * standard(word(key, 4))
    document[SPAM] = standard(word(key, 5))
    document[MEANING] = standard(word(key, 13))
    extent = standard(word(key, 6))
    for stream in range(STREAMS):
        own = standard(word(key, 8 + stream))
        document[MATCH + stream] = _CLOSENESS[stream] * topic + _REST[stream] * own
        document[EXTENT + stream] = 0.6 * extent + 0.8 * standard(word(key, 16 + stream))
        matched[stream] = 1.0 if document[MATCH + stream] > _MATCHED_ABOVE[stream] else 0.0
    document[EXTENT + WHOLE] = document[EXTENT + BODY]
    if 0.5 * authority + 0.866 * standard(word(key, 7)) < _ANCHOR_ABSENT_BELOW:
        matched[ANCHOR] = 0.0
    document[QUERY_TERMS] = query[TERMS]
    document[QUERY_RARITY] = query[RARITY]
    document[QUERY_INTENT] = query[INTENT]
