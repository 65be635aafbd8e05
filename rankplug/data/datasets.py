"""Data sets by name: ``load("mslr-web10k", fold=1)`` gives train, validation and test lists.

A data set's implementation is a function ``(parameters, fold, seed) -> Split``; a transform's is a function
``(split, parameters, generator) -> Split`` that returns a new split and leaves the old one as it was. Data sets that
lie in files offer more, see :class:`StoredDataset`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from rankplug.data.lists import Lists
from rankplug.errors import DataError, GrammarError, NothingLeftError, UnknownPluginError
from rankplug.registry import Reference, canonical, import_object, parse, registry
from rankplug.system import generator, whole_number


class Split(NamedTuple):
    """The three parts of a data set."""

    train: Lists
    valid: Lists
    test: Lists

    def change(self, parts: Collection[str], function: Callable[[Lists], Lists]) -> Split:
        """Return the split with some parts changed."""
        return self._replace(**{part: function(getattr(self, part)) for part in Split._fields if part in parts})


@runtime_checkable
class StoredDataset(Protocol):
    """The implementation of a data set that lies in files; ``rankplug data`` offers these to the user.

    A synthetic data set needs only the call.
    """

    def __call__(self, parameters: Any, fold: int, seed: int) -> Split:
        """Load the lists of a fold."""

    def state(self, parameters: Any) -> str:
        """Say in a word or two whether the data set is here."""

    def get(self, parameters: Any, *, accept_licence: bool) -> str:
        """Fetch the files and return where they are, in words."""

    def prepare(self, parameters: Any, *, source: Path | None, on_error: Literal["raise", "skip"]) -> str:
        """Prepare the data set, from ``source`` if there is one, and return what it holds, in words."""

    def info(self, parameters: Any) -> str:
        """Say where the data set comes from, what may be done with it, and what is here."""

    def verify(self, parameters: Any) -> tuple[str, list[str]]:
        """Read the prepared data again; return what there is, and a sentence for each thing that is wrong."""


def load(
    dataset: str | Mapping[str, Any] | Reference,
    *,
    fold: int = 1,
    seed: int = 0,
    transforms: str | Reference | Iterable[str | Mapping[str, Any] | Reference] = (),
    **parameters: Any,
) -> Split:
    """Train, validation and test lists of a data set.

    Args:
        dataset: its name with parameters, such as ``"synthetic[queries=200]"``, or the path of a table.
        fold: which of its folds, from 1.
        seed: the trial's seed; it seeds random splits, synthetic data and random transforms.
        transforms: applied in order, such as ``["query_minmax", "drop_empty"]``.
        parameters: further parameters of the data set, such as ``query="search"``.
    """
    return Source(named_dataset(dataset, parameters), transforms).split(fold, seed)


def named_dataset(dataset: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a data set with further parameters; a file of a table becomes the data set that reads it."""
    if isinstance(dataset, os.PathLike) or (isinstance(dataset, str) and os.path.isfile(dataset)):
        file = registry().named("dataset", Reference(os.fspath(dataset)))
        dataset = file if file.name != os.fspath(dataset) else os.fspath(dataset)
    if not parameters:
        return dataset
    several = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    try:
        named = parse(dataset)
    except GrammarError as error:
        raise _of_a_file(dataset) or error from None
    return replace(named, parameters={**named.parameters, **several})


def _of_a_file(dataset: Any) -> DataError | None:
    """Return an error that shows how a file is named, where a path is used as a data set."""
    if not isinstance(dataset, str) or not os.path.exists(dataset):
        return None
    known = [plugin.specification for plugin in registry().plugins("dataset")]
    named = [
        f"{specification.name}[path={dataset}]"
        for specification in known
        if "path" in specification.parameters.model_fields
    ]
    hint = f", which data sets read by a name such as {' or '.join(named)}" if named else ""
    return DataError(f"{dataset} is a {'folder' if os.path.isdir(dataset) else 'file'}{hint}")


class Source:
    """A data set and the transforms of it, all names resolved.

    Args:
        dataset: its name with parameters.
        transforms: applied in order.
    """

    pool = ""
    """Digest of the queries before any transform, of the first block where there are several; set by loading."""

    def __init__(self, dataset: Any, transforms: Any) -> None:
        try:
            self._dataset, self._parameters = registry().resolve("dataset", dataset)
        except (GrammarError, UnknownPluginError) as error:
            raise _of_a_file(dataset) or error from None
        chain = [transforms] if isinstance(transforms, (str, Reference, Mapping)) else list(transforms)
        self._transforms = [registry().resolve("transform", reference) for reference in chain]
        self._names = [canonical("transform", reference) for reference in chain]

    @property
    def determined_by(self) -> tuple[Any, ...] | None:
        """All that determines the data beside fold and seed; None where files do."""
        if self._dataset.fingerprint:
            return None
        return self._dataset, self._parameters, self._names, self._transforms

    def split(self, fold: int, seed: int) -> Split:
        """Return all parts at once."""
        self._check(fold)
        try:
            return self._transformed(self._dataset.load()(self._parameters, fold, seed), seed)
        except MemoryError as error:
            reason = f": {error}" if str(error) else ""
            raise DataError(f"{self._dataset} needs more memory than is left{reason}; load less of it") from error

    def blocks(self, fold: int, seed: int) -> Iterator[Split]:
        """Yield the parts once for each block of test queries, so that a test part may be larger than memory.

        Training and validation part are the same each time. There is one block where the data set has no blocks, or
        where one of the transforms needs all of the data at once.
        """
        by_query = all(transform.by_query for transform, _ in self._transforms)
        if not (by_query and self._dataset.blocks):
            yield self.split(fold, seed)
            return
        self._check(fold)
        blocks = self._dataset.blocks
        if isinstance(blocks, str):
            blocks = import_object(blocks, str(self._dataset))
        empty: NothingLeftError | None = None
        some = False
        for split in blocks(self._parameters, fold, seed):
            try:
                transformed = self._transformed(split, seed)
            except NothingLeftError as error:
                empty = error
                continue
            some = True
            yield transformed
        if empty and not some:
            raise empty

    def _check(self, fold: int) -> None:
        folds = self._dataset.folds
        if not 1 <= whole_number(fold, "fold") <= folds:
            raise DataError(f"dataset {self._dataset.name} has folds 1 to {folds}, not {fold}")

    def _transformed(self, split: Split, seed: int) -> Split:
        self.pool = self.pool or pool_fingerprint(split)
        for position, (name, (specification, parameters)) in enumerate(zip(self._names, self._transforms, strict=True)):
            noise = generator(seed, "transform", name, position)
            transformed: Split = specification.load()(split, parameters, noise)
            if split.train.categorical and not transformed.train.categorical:
                raise DataError(
                    f"transform {specification.name} loses which features are categorical; let it change lists by"
                    " Lists.take and dataclasses.replace, which keep everything else"
                )
            split = transformed
        return split


def pool_fingerprint(split: Split) -> str:
    """Return a digest of the queries of all parts, however divided; trials that have it in common share a pool."""
    digests = []
    for part in split:
        bounds, labels = part.starts.tolist(), np.ascontiguousarray(part.labels)
        for query, begin, end in zip(part.query_ids, bounds[:-1], bounds[1:], strict=True):
            text = hashlib.blake2b(str(query).encode(), digest_size=8)
            text.update(labels[begin:end].tobytes())
            digests.append(text.digest())
    return hashlib.blake2b(b"".join(sorted(digests)), digest_size=8).hexdigest()
