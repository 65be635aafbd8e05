"""Generation of lists: lengths first, then features and labels of any range of queries, on several threads.

Every number comes from the counter of its query or document, so it depends neither on threads nor on blocks, and the
first queries of a large set are those of a small one.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction
from rankplug.data import over_lists
from rankplug_data.synthetic import latents
from rankplug_data.synthetic.features import Table, table
from rankplug_data.synthetic.latents import QueryLaw, document_key, draw_document, draw_query, query_key
from rankplug_data.synthetic.measure import measure, query_factors, to_unit_interval
from rankplug_data.synthetic.relevance import labelled, perceived, relevance
from rankplug_data.synthetic.shapes import STREAMS, Shape

_CALIBRATION_QUERIES, _CALIBRATION_DOCUMENTS = 20_000, 5
_CALIBRATION_SEED = 2024
_JUDGING_COST = 10


@dataclass(frozen=True)
class World:
    """One collection from which queries can be drawn.

    Args:
        shape: what it takes after.
        noise: deviation of a judge's perception.
        documents: mean length of a list; the shape's when None.
    """

    shape: Shape
    noise: float = 1.0
    documents: float | None = None

    @property
    def law(self) -> QueryLaw:
        """The distribution of the collection's queries."""
        shape = self.shape
        mean = shape.documents if self.documents is None else self.documents
        stretch = mean / shape.documents
        return QueryLaw(
            middle=round(math.log(mean), 9) - shape.spread**2 / 2.0,
            spread=shape.spread,
            shortest=max(1.0, float(np.floor(shape.shortest * stretch))),
            longest=max(1.0, float(np.ceil(shape.longest * stretch))),
            barren=shape.barren,
            clarity=shape.clarity,
            clarity_spread=shape.clarity_spread,
            abundance=shape.abundance,
        )


@ArrayFunction
def _lengths(seed: int, part: int, law: QueryLaw, lengths: np.ndarray) -> None:
    query = np.empty(latents.QUERY_SIZE)
    for number in range(lengths.size):
        draw_query(query_key(seed, part, number), law, query)
        lengths[number] = np.int64(query[latents.LENGTH])


@ArrayFunction
def _perceptions(
    seed: int,
    part: int,
    law: QueryLaw,
    hidden: float,
    noise: float,
    first: int,
    starts: np.ndarray,
    quality: np.ndarray,
) -> None:
    """Compute relevance and perception of the documents of queries from ``first`` on."""
    query = np.empty(latents.QUERY_SIZE)
    document, matched = np.empty(latents.DOCUMENT_SIZE), np.empty(STREAMS)
    for number in range(starts.size - 1):
        draw_query(query_key(seed, part, first + number), law, query)
        for row in range(starts[number], starts[number + 1]):
            key = document_key(seed, part, first + number, row - starts[number])
            draw_document(key, query, document, matched)
            quality[row, 0] = relevance(query, document, matched, hidden)
            quality[row, 1] = perceived(key, query, quality[row, 0], noise)


@ArrayFunction
def _documents(
    seed: int,
    part: int,
    law: QueryLaw,
    hidden: float,
    noise: float,
    thresholds: np.ndarray,
    recipe: Table,
    unit_interval: bool,
    first: int,
    starts: np.ndarray,
    features: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Fill features and labels of queries from ``first`` on, whose first document is row 0 of ``features``."""
    query = np.empty(latents.QUERY_SIZE)
    document, matched = np.empty(latents.DOCUMENT_SIZE), np.empty(STREAMS)
    factors = np.empty(4)
    for number in range(starts.size - 1):
        draw_query(query_key(seed, part, first + number), law, query)
        query_factors(query, factors)
        for row in range(starts[number], starts[number + 1]):
            key = document_key(seed, part, first + number, row - starts[number])
            draw_document(key, query, document, matched)
            perception = perceived(key, query, relevance(query, document, matched, hidden), noise)
            labels[row] = labelled(perception, thresholds)
            measure(recipe, key, query[latents.TERMS], factors, document, matched, features[row])
            if unit_interval:
                to_unit_interval(recipe.middle, features[row])


@functools.lru_cache(maxsize=32)
def thresholds(world: World) -> NDArray[np.float64]:
    """Return the perceptions between labels that give the label shares on a fixed sample of many short lists."""
    starts = np.arange(_CALIBRATION_QUERIES + 1, dtype=np.int64) * _CALIBRATION_DOCUMENTS
    scores = np.sort(_judge(world, _CALIBRATION_SEED, 0, starts)[:, 1])
    ranks = np.cumsum(world.shape.label_shares)[:-1] * scores.size
    return scores[np.minimum(ranks.astype(np.int64), scores.size - 1)]


def list_lengths(world: World, seed: int, part: int, queries: int) -> NDArray[np.int64]:
    """Return the lengths of a part's first lists."""
    lengths = np.empty(queries, np.int64)
    _lengths(np.uint64(seed), part, world.law, lengths)
    return lengths


def true_relevance(world: World, seed: int, part: int, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the relevance function of a part's documents: what an oracle would rank by, free of the judges' noise."""
    return _judge(world, seed, part, starts)[:, 0]


def _judge(world: World, seed: int, part: int, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    scores, shape = np.empty((int(starts[-1]), 2)), world.shape

    def work(begin: int, end: int) -> None:
        span = slice(int(starts[begin]), int(starts[end]))
        offsets = starts[begin : end + 1] - starts[begin]
        _perceptions(np.uint64(seed), part, world.law, shape.hidden, world.noise, begin, offsets, scores[span])

    over_lists(np.diff(starts), _JUDGING_COST, work)
    return scores


def fill(
    world: World,
    seed: int,
    part: int,
    first: int,
    starts: NDArray[np.int64],
    features: NDArray[np.float32],
    labels: NDArray[np.float32],
) -> None:
    """Fill features and labels of a part's queries from ``first`` on, whose offsets are ``starts``."""
    recipe, cuts, shape = _table(world.shape), thresholds(world), world.shape

    def work(begin: int, end: int) -> None:
        span = slice(int(starts[begin]), int(starts[end]))
        offsets = starts[begin : end + 1] - starts[begin]
        _documents(
            np.uint64(seed),
            part,
            world.law,
            shape.hidden,
            world.noise,
            cuts,
            recipe,
            shape.unit_interval,
            first + begin,
            offsets,
            features[span],
            labels[span],
        )

    over_lists(np.diff(starts), shape.features, work)


@functools.lru_cache(maxsize=8)
def _table(shape: Shape) -> Table:
    return table(shape)
