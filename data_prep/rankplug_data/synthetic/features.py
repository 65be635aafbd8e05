"""Recipes of the features, each of which measures something about a query and a document.

A recipe takes the level ``v = bias + w1 z1 + w2 z2 + w3 z3 + noise * e`` of up to three latent values and noise of its
own through one of a few laws. Others are made from earlier features, as a ratio or a rescaled copy, and are redundant,
as many are in real collections.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankplug_data.synthetic import latents
from rankplug_data.synthetic.draws import exponential
from rankplug_data.synthetic.latents import AUTHORITY, DEPTH, EXTENT, MATCH, POPULARITY, QUALITY, SPAM, TOPIC
from rankplug_data.synthetic.shapes import ANCHOR, SHAPES, Shape, ShapeName


class Law(IntEnum):
    """Law by which a level becomes a value."""

    LEVEL = 0
    POSITIVE = 1
    COUNT = 2
    HEAVY = 3
    SQUASHED = 4
    TERMS = 5
    FLAG = 6
    DERIVED = 7


class Times(IntEnum):
    """Property of the query by which a value is multiplied."""

    NOTHING = 0
    INVERSE_TERMS = 1
    RARITY = 2
    RARITY_SQUARED = 3


@dataclass(frozen=True)
class Feature:
    """One feature's recipe.

    Args:
        name: what it measures.
        law: how its level becomes a value.
        weights: of up to three latent values, by their position.
        bias: of the level.
        noise: of the level, its own; for a derived feature, relative.
        scale: of the value.
        stream: zero where this stream holds no query term; -1 for none.
        times: what of the query the value is multiplied with.
        source: name of the earlier feature that a derived one is made from.
        divisor: name of the earlier feature that it is divided by.
    """

    name: str
    law: Law
    weights: tuple[tuple[int, float], ...] = ()
    bias: float = 0.0
    noise: float = 0.0
    scale: float = 1.0
    stream: int = -1
    times: Times = Times.NOTHING
    source: str = ""
    divisor: str = ""


_FREQUENCY = (2.6, 0.5, 0.45, 0.15, 2.7)
_FREQUENCY_SPREAD = (1.1, 0.9, 0.4, 0.25, 1.1)
_EXTENT = (6.1, 1.4, 1.95, 1.95, 6.15)
_EXTENT_SPREAD = (1.05, 1.0, 0.7, 0.45, 1.05)
_STATISTICS = ("sum", "minimum", "maximum", "mean", "variance")


def stream_features(name: str, stream: int) -> Iterator[Feature]:
    """Yield the 25 measures of how well a stream matches the query: counts, ratios, tf-idf, BM25, language models."""
    match, extent = MATCH + stream, EXTENT + stream
    level, spread = _FREQUENCY[stream], _FREQUENCY_SPREAD[stream]
    both = ((match, 0.6 * spread), (extent, 0.6 * spread))
    doubled = ((match, 1.2 * spread), (extent, 1.2 * spread))

    covered = f"covered query terms, {name}"
    yield Feature(covered, Law.TERMS, ((match, 1.6),), bias=1.3, noise=0.8, stream=stream)
    yield Feature(f"share of {covered}", Law.DERIVED, source=covered, times=Times.INVERSE_TERMS, stream=stream)
    linked = ANCHOR if stream == ANCHOR else -1
    yield Feature(
        f"length, {name}", Law.COUNT, ((extent, _EXTENT_SPREAD[stream]),), bias=_EXTENT[stream], stream=linked
    )
    rarities = ((latents.QUERY_TERMS, 2.5), (latents.QUERY_RARITY, 3.0))
    yield Feature(f"inverse document frequency, {name}", Law.LEVEL, rarities, bias=0.3 + 0.3 * stream)

    frequency = {part: f"{part} of term frequency, {name}" for part in _STATISTICS}
    for part, bias, noise in (("sum", 0.0, 0.5), ("minimum", -1.4, 0.8), ("maximum", -0.3, 0.5)):
        yield Feature(frequency[part], Law.COUNT, both, level + bias * spread, noise * spread, stream=stream)
    yield Feature(frequency["mean"], Law.DERIVED, source=frequency["sum"], times=Times.INVERSE_TERMS, stream=stream)
    yield Feature(frequency["variance"], Law.COUNT, doubled, 2.0 * level - 0.5, 1.2 * spread, scale=0.25, stream=stream)
    for part in _STATISTICS:
        yield Feature(
            f"{part} of term density, {name}",
            Law.DERIVED,
            source=frequency[part],
            divisor=f"length, {name}",
            stream=stream,
        )
    for part in _STATISTICS[:4]:
        yield Feature(
            f"{part} of tf*idf, {name}",
            Law.DERIVED,
            source=frequency[part],
            noise=0.12,
            scale=3.0,
            times=Times.RARITY,
            stream=stream,
        )
    yield Feature(
        f"variance of tf*idf, {name}",
        Law.DERIVED,
        source=frequency["variance"],
        noise=0.2,
        scale=10.0,
        times=Times.RARITY_SQUARED,
        stream=stream,
    )
    yield Feature(f"all query terms found, {name}", Law.FLAG, ((match, 1.0),), noise=0.6, stream=stream)
    yield Feature(f"vector space model, {name}", Law.SQUASHED, ((match, 2.5),), 4.0, 2.0, stream=stream)
    closeness = ((match, 6.0), (extent, -1.5))
    yield Feature(f"BM25, {name}", Law.POSITIVE, closeness, 12.0, 2.5, stream=stream, times=Times.RARITY)
    surprise = ((match, -0.4), (latents.QUERY_TERMS, 0.17), (extent, 0.08))
    for smoothing, noise in (("absolute discount", 0.35), ("Dirichlet", 0.25), ("Jelinek-Mercer", 0.3)):
        yield Feature(f"language model, {smoothing}, {name}", Law.HEAVY, surprise, 1.75, noise, scale=-1.0)


DOCUMENT_FEATURES = (
    Feature("slashes in the address", Law.COUNT, ((DEPTH, 0.45),), 1.25, 0.2),
    Feature("length of the address", Law.COUNT, ((DEPTH, 0.3),), 3.7, 0.3),
    Feature("inward links", Law.COUNT, ((AUTHORITY, 2.4),), 1.4, 2.0),
    Feature("outward links", Law.COUNT, (), 0.4, 1.6),
    Feature("page rank", Law.SQUASHED, ((AUTHORITY, 1.0),), -1.2, 1.6, scale=65535.0),
    Feature("site rank", Law.SQUASHED, ((DEPTH, -0.7),), 0.3, 1.6, scale=65535.0),
    Feature("quality, first classifier", Law.COUNT, ((QUALITY, 1.0), (SPAM, -0.7)), 1.9, 0.5),
    Feature("quality, second classifier", Law.COUNT, ((SPAM, 1.2),), 1.9, 0.6),
    Feature("clicks on it for the query", Law.COUNT, ((POPULARITY, 1.3), (TOPIC, 0.7)), -3.4, 1.2),
    Feature("clicks on it", Law.COUNT, ((POPULARITY, 1.6),), -1.8, 1.6),
    Feature("time spent on it", Law.COUNT, ((POPULARITY, 1.6), (QUALITY, 0.6)), -1.0, 2.0, scale=2.5),
)


def recipes(shape: Shape) -> list[Feature]:
    """Return the features of a collection, by measure and stream in the order of MSLR, the document's last.

    A collection with more features than measures has further editions of them, each with twice the noise of the one
    before, and ends with pure noise.

    >>> from rankplug_data.synthetic.shapes import SHAPES
    >>> [feature.name for feature in recipes(SHAPES["mslr"])][105:107]
    ['BM25, body', 'BM25, anchor']
    """
    features: list[Feature] = []
    for edition in range(shape.editions):
        suffix = f" ({edition + 1})" if edition else ""
        columns = [
            [feature for feature in stream_features(f"{name}{suffix}", stream) if _wanted(feature, shape)]
            for name, stream in shape.streams.items()
        ]
        rows = [feature for row in zip(*columns, strict=True) for feature in row]
        features += [replace(feature, noise=feature.noise * 2.0**edition) for feature in rows]
    features += DOCUMENT_FEATURES[: shape.document_features]
    features += [
        Feature(f"noise {number + 1}", Law.SQUASHED, noise=1.0) for number in range(shape.features - len(features))
    ]
    return features


def names_of(shape: ShapeName) -> list[str]:
    """Return what each feature of a made collection measures, in their order."""
    return [feature.name for feature in recipes(SHAPES[shape])]


def _wanted(feature: Feature, shape: Shape) -> bool:
    return not shape.measures or feature.name.rpartition(", ")[0] in shape.measures


class Table(NamedTuple):
    """The recipes as arrays, one row a feature, for the compiled loop."""

    law: NDArray[np.int64]
    latent: NDArray[np.int64]
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    noise: NDArray[np.float64]
    scale: NDArray[np.float64]
    stream: NDArray[np.int64]
    times: NDArray[np.int64]
    source: NDArray[np.int64]
    divisor: NDArray[np.int64]
    middle: NDArray[np.float64]


def table(shape: Shape) -> Table:
    """Return the recipes of a collection as arrays; ``middle`` is the value that is scaled to 1/2, 0 for unscaled."""
    rows = recipes(shape)
    position = {feature.name: number for number, feature in enumerate(rows)}
    latent, weight = np.zeros((len(rows), 3), np.int64), np.zeros((len(rows), 3))
    for number, feature in enumerate(rows):
        for slot, (which, how_much) in enumerate(feature.weights):
            latent[number, slot], weight[number, slot] = which, how_much
    middle = np.zeros(len(rows))
    for number, feature in enumerate(rows if shape.unit_interval else []):
        middle[number] = _middle(feature, middle, position)
    return Table(
        np.array([feature.law for feature in rows], np.int64),
        latent,
        weight,
        np.array([feature.bias for feature in rows]),
        np.array([feature.noise for feature in rows]),
        np.array([feature.scale for feature in rows]),
        np.array([feature.stream for feature in rows], np.int64),
        np.array([feature.times for feature in rows], np.int64),
        np.array([position.get(feature.source, -1) for feature in rows], np.int64),
        np.array([position.get(feature.divisor, -1) for feature in rows], np.int64),
        middle,
    )


def _middle(feature: Feature, middle: NDArray[np.float64], position: dict[str, int]) -> float:
    if feature.law in (Law.COUNT, Law.HEAVY):
        return abs(feature.scale) * (1.0 + float(exponential(feature.bias)))
    if feature.law is Law.SQUASHED:
        return 0.5 * feature.scale
    if feature.law is Law.DERIVED:
        below = middle[position[feature.divisor]] if feature.divisor else 1.0
        return float(feature.scale * middle[position[feature.source]] / below)
    return {Law.LEVEL: 10.0, Law.POSITIVE: 12.0}.get(feature.law, 2.0)
