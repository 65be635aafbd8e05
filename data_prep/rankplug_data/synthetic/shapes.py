"""Sizes of the collections that made ones imitate.

Label shares, list lengths and numbers of features are those that the collections' publishers print, or are counted
from the collection.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Literal

STREAMS = 5
BODY, ANCHOR, TITLE, URL, WHOLE = range(STREAMS)

MEASURES = 25
"""Number of measures of each stream."""

ShapeName = Literal["mslr", "yahoo", "gov", "ohsumed"]


@dataclass(frozen=True, eq=False)
class Shape:
    """The outline of a collection.

    Args:
        name: what users call it.
        features: how many each document has.
        streams: the parts of a document that query terms are matched against, with the latent stream behind each.
        measures: of how well a stream matches, all of them when empty.
        editions: how often every measure is taken.
        document_features: how many features a document has on its own account.
        documents: mean length of a list.
        spread: of the logarithm of the list length, which is normal.
        shortest: list length below which none is.
        longest: list length beyond which none is.
        label_shares: of the labels 0, 1, 2, ... among all documents.
        barren: share of the queries for which the collection holds nothing relevant.
        unit_interval: whether every feature is scaled to lie between 0 and 1, as the publisher did.
        clarity: typical deviation of the relevance function, where the judges' noise has deviation 1.
        clarity_spread: how much queries differ in that: deviation of its logarithm.
        hidden: weight of a closeness in meaning that no feature tells of.
        abundance: how much queries differ in how many relevant documents they have.
    """

    name: ShapeName
    features: int
    streams: dict[str, int]
    measures: frozenset[str]
    editions: int
    document_features: int
    documents: float
    spread: float
    shortest: int
    longest: int
    label_shares: tuple[float, ...]
    barren: float
    unit_interval: bool
    clarity: float
    clarity_spread: float
    hidden: float
    abundance: float


WEB_STREAMS = {"body": BODY, "anchor": ANCHOR, "title": TITLE, "url": URL, "whole document": WHOLE}

ALL_MEASURES: frozenset[str] = frozenset()
GOV_MEASURES = frozenset(
    {
        "covered query terms",
        "length",
        "inverse document frequency",
        "sum of term frequency",
        "sum of term density",
        "sum of tf*idf",
        "vector space model",
        "BM25",
        "language model, absolute discount",
        "language model, Dirichlet",
        "language model, Jelinek-Mercer",
    }
)
OHSUMED_MEASURES = GOV_MEASURES | frozenset(
    {
        "share of covered query terms",
        "maximum of term frequency",
        "maximum of term density",
        "maximum of tf*idf",
    }
)

SHAPES: dict[ShapeName, Shape] = {
    shape.name: shape
    for shape in (
        Shape(
            name="mslr",
            features=136,
            streams=WEB_STREAMS,
            measures=ALL_MEASURES,
            editions=1,
            document_features=11,
            documents=120.0,
            spread=0.62,
            shortest=1,
            longest=900,
            label_shares=(0.5147, 0.3250, 0.1339, 0.0183, 0.0081),
            barren=0.026,
            unit_interval=False,
            clarity=1.0,
            clarity_spread=0.45,
            hidden=0.9,
            abundance=0.55,
        ),
        Shape(
            name="yahoo",
            features=519,
            streams=WEB_STREAMS,
            measures=ALL_MEASURES,
            editions=4,
            document_features=11,
            documents=23.7,
            spread=0.55,
            shortest=1,
            longest=139,
            label_shares=(0.2192, 0.5022, 0.2230, 0.0388, 0.0168),
            barren=0.035,
            unit_interval=True,
            clarity=1.6,
            clarity_spread=0.45,
            hidden=0.5,
            abundance=0.7,
        ),
        Shape(
            name="gov",
            features=64,
            streams=WEB_STREAMS,
            measures=GOV_MEASURES,
            editions=1,
            document_features=9,
            documents=985.0,
            spread=0.04,
            shortest=800,
            longest=1000,
            label_shares=(0.9915, 0.0085),
            barren=0.0,
            unit_interval=False,
            clarity=1.8,
            clarity_spread=0.1,
            hidden=0.3,
            abundance=0.0,
        ),
        Shape(
            name="ohsumed",
            features=45,
            streams={"title": TITLE, "abstract": BODY, "title and abstract": WHOLE},
            measures=OHSUMED_MEASURES,
            editions=1,
            document_features=0,
            documents=152.3,
            spread=0.42,
            shortest=35,
            longest=320,
            label_shares=(0.7003, 0.1602, 0.1395),
            barren=0.009,
            unit_interval=False,
            clarity=1.4,
            clarity_spread=0.45,
            hidden=0.4,
            abundance=0.5,
        ),
    )
}


@functools.cache
def shape_of(name: ShapeName, editions: int | None = None) -> Shape:
    """Return a collection's outline, with another number of editions of its measures if one is given.

    >>> shape_of("yahoo", editions=1).features, shape_of("yahoo").features
    (144, 519)
    """
    shape = SHAPES[name]
    if editions is None:
        return shape
    once = len(shape.streams) * (len(shape.measures) or MEASURES)
    return replace(shape, editions=editions, features=shape.features + (editions - shape.editions) * once)
