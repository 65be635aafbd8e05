"""Data sets by name: ``load("mslr-web10k", fold=1)`` gives train, validation and test lists.

A data set's implementation is a function ``(parameters, fold, seed) -> Split``; a transform's is a function
``(split, parameters, generator) -> Split`` that returns a new split and leaves the old one as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rankplug.errors import DataError
from rankplug.grammar import Reference, parse
from rankplug.lists import Lists
from rankplug.registry import registry
from rankplug.seeds import generator


class Split(NamedTuple):
    """The three parts of a data set."""

    train: Lists
    valid: Lists
    test: Lists


def load(
    dataset: str | Mapping[str, Any] | Reference,
    *,
    fold: int = 1,
    seed: int = 0,
    transforms: str | Reference | Iterable[str | Mapping[str, Any] | Reference] = (),
) -> Split:
    """Train, validation and test lists of a data set.

    Args:
        dataset: its name with parameters, such as ``"synthetic[queries=200]"``.
        fold: which of its folds, from 1.
        seed: the trial's seed; it reaches random splits, made data and random transforms.
        transforms: applied in order, such as ``["query_minmax", "drop_empty"]``.
    """
    specification, parameters = registry().resolve("dataset", dataset)
    folds = specification.folds  # type: ignore[attr-defined]
    if not 1 <= fold <= folds:
        raise DataError(f"dataset {specification.name} has folds 1 to {folds}, not {fold}")
    split: Split = specification.load()(parameters, fold, seed)
    chain = [transforms] if isinstance(transforms, (str, Reference, Mapping)) else list(transforms)
    for position, reference in enumerate(chain):
        specification, parameters = registry().resolve("transform", reference)
        noise = generator(seed, "transform", str(parse(reference)), position)
        split = specification.load()(split, parameters, noise)
    return split
