"""Data sets by name: ``load("mslr-web10k", fold=1)`` gives train, validation and test lists.

A data set's implementation is a function ``(parameters, fold, seed) -> Split``; a transform's is a function
``(split, parameters, generator) -> Split`` that returns a new split and leaves the old one as it was. Data sets that
lie in files offer more, see :class:`StoredDataset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from rankplug.data.lists import Lists
from rankplug.errors import DataError
from rankplug.registry import Reference, parse, registry
from rankplug.system import generator, whole_number


class Split(NamedTuple):
    """The three parts of a data set."""

    train: Lists
    valid: Lists
    test: Lists


@runtime_checkable
class StoredDataset(Protocol):
    """The implementation of a data set that lies in files; ``rankplug data`` offers these to the user.

    A data set that is made needs only the call.
    """

    def __call__(self, parameters: Any, fold: int, seed: int) -> Split:
        """The lists of a fold."""

    def state(self, parameters: Any) -> str:
        """In a word or two, whether it is there."""

    def get(self, parameters: Any, *, accept_licence: bool) -> str:
        """Fetches the files and says where they are."""

    def prepare(self, parameters: Any, *, source: Path | None, on_error: Literal["raise", "skip"]) -> str:
        """Prepares it, from ``source`` if given, and says what there is."""

    def info(self, parameters: Any) -> str:
        """Where it comes from, what may be done with it, and what is here."""

    def verify(self, parameters: Any) -> tuple[str, list[str]]:
        """Reads what is prepared again: what there is, and a sentence for each thing that is wrong."""


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
    if not 1 <= whole_number(fold, "fold") <= folds:
        raise DataError(f"dataset {specification.name} has folds 1 to {folds}, not {fold}")
    split: Split = specification.load()(parameters, fold, seed)
    chain = [transforms] if isinstance(transforms, (str, Reference, Mapping)) else list(transforms)
    for position, reference in enumerate(chain):
        specification, parameters = registry().resolve("transform", reference)
        noise = generator(seed, "transform", str(parse(reference)), position)
        split = specification.load()(split, parameters, noise)
    return split
