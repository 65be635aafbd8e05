"""A made collection as a split: in memory when small, else written to the cache block by block and memory-mapped."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from rankplug.data import Lists, Split
from rankplug.system import cache_folder, seeds, whole_folder
from rankplug_data.prepared import map_array
from rankplug_data.synthetic.generate import World, fill, list_lengths, true_relevance
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import shape_of

VERSION = 1
"""Raised whenever the same parameters give other data."""
IN_MEMORY_BYTES = 512 << 20
"""Features larger than this are kept in a file."""
BLOCK_BYTES = 64 << 20


class _Part(NamedTuple):
    number: int
    name: str
    starts: NDArray[np.int64]

    @property
    def documents(self) -> int:
        return int(self.starts[-1])


def load(parameters: SyntheticParameters, fold: int, seed: int) -> Split:
    """Train, validation and test lists; of one sample, a larger set's parts begin with a smaller one's."""
    parts = _parts(parameters, seed)
    documents = sum(part.documents for part in parts)
    width = world_of(parameters).shape.features
    if documents * width * 4 <= IN_MEMORY_BYTES:
        features, labels = np.empty((documents, width), np.float32), np.empty(documents, np.float32)
        begin = 0
        for part in parts:
            rows = slice(begin, begin + part.documents)
            fill(
                world_of(parameters), _key(parameters, seed), part.number, 0, part.starts, features[rows], labels[rows]
            )
            begin += part.documents
    else:
        features, labels = _open_or_write(parameters, seed, parts)
    return _split(parameters, parts, features, labels)


def blocks(parameters: SyntheticParameters, fold: int, seed: int) -> Iterator[Split]:
    """Yield the same split with its test part in blocks, if that part was asked for and is larger than one block."""
    test, width = _parts(parameters, seed)[-1], world_of(parameters).shape.features
    bounds = _blocks(test.starts, width)
    if parameters.test_queries is None or len(bounds) == 1:
        yield load(parameters, fold, seed)
        return
    train, valid, _ = load(parameters.model_copy(update={"test_queries": 1}), fold, seed)
    before = len(train) + len(valid)
    for first, last in bounds:
        features, labels, starts = _made(parameters, seed, test, first, last)
        names = np.arange(before + first, before + last)
        yield Split(train, valid, Lists(features, labels, starts, names, source=_source(parameters, test)))


def world_of(parameters: SyntheticParameters) -> World:
    """Return the collection that the queries are drawn from."""
    return World(shape_of(parameters.shape, parameters.editions), parameters.noise, parameters.documents)


def oracle(parameters: SyntheticParameters, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Return the relevance function of the documents of each part, which ranks them as well as anything can."""
    key = _key(parameters, seed)
    return tuple(
        true_relevance(world_of(parameters), key, part.number, part.starts) for part in _parts(parameters, seed)
    )


def _key(parameters: SyntheticParameters, seed: int) -> int:
    sample = seed if parameters.sample is None else parameters.sample
    replica = () if parameters.replica is None else (parameters.replica,)
    return seeds.stream(sample, "synthetic", parameters.shape, *replica)


def _parts(parameters: SyntheticParameters, seed: int) -> list[_Part]:
    parts = []
    for number, (name, queries) in enumerate(zip(Split._fields, parameters.sizes, strict=True)):
        lengths = list_lengths(world_of(parameters), _key(parameters, seed), number, queries)
        parts.append(_Part(number, name, np.concatenate(([0], np.cumsum(lengths)))))
    return parts


def _split(
    parameters: SyntheticParameters, parts: list[_Part], features: NDArray[np.float32], labels: NDArray[np.float32]
) -> Split:
    lists, document, query = [], 0, 0
    for part in parts:
        rows, queries = slice(document, document + part.documents), part.starts.size - 1
        names = np.arange(query, query + queries)
        lists.append(Lists(features[rows], labels[rows], part.starts, names, source=_source(parameters, part)))
        document, query = rows.stop, query + queries
    return Split(*lists)


def _source(parameters: SyntheticParameters, part: _Part) -> str:
    return f"synthetic {parameters.shape} {part.name}"


def _made(
    parameters: SyntheticParameters, seed: int, part: _Part, first: int, last: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Make features, labels and offsets of some queries of a part."""
    starts = part.starts[first : last + 1] - part.starts[first]
    documents = int(starts[-1])
    features = np.empty((documents, world_of(parameters).shape.features), np.float32)
    labels = np.empty(documents, np.float32)
    fill(world_of(parameters), _key(parameters, seed), part.number, first, starts, features, labels)
    return features, labels, starts


def _open_or_write(
    parameters: SyntheticParameters, seed: int, parts: list[_Part]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    recipe = {"version": VERSION, "key": _key(parameters, seed), **parameters.model_dump(exclude={"sample"})}
    text = json.dumps(recipe, sort_keys=True)
    name = f"synthetic-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
    folder = cache_folder() / "data" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not folder.exists():
                _write(folder, text, parameters, seed, parts)
    return map_array(folder / "features.npy"), map_array(folder / "labels.npy")


def _write(folder: Path, recipe: str, parameters: SyntheticParameters, seed: int, parts: list[_Part]) -> None:
    """Write the folder, which is there when it is complete."""
    width = world_of(parameters).shape.features
    documents = sum(part.documents for part in parts)
    with whole_folder(folder) as unfinished:
        labels, begin = np.empty(documents, np.float32), 0
        with open(unfinished / "features.npy", "wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (documents, width)}
            np.lib.format.write_array_header_1_0(file, header)
            for part in parts:
                for first, last in _blocks(part.starts, width):
                    block, labels_of_block, _ = _made(parameters, seed, part, first, last)
                    block.astype("<f4", copy=False).tofile(file)
                    labels[begin : begin + labels_of_block.size] = labels_of_block
                    begin += labels_of_block.size
        np.save(unfinished / "labels.npy", labels)
        (unfinished / "recipe.json").write_text(recipe + "\n")


def _blocks(starts: NDArray[np.int64], width: int) -> list[tuple[int, int]]:
    """Return the first and last query of blocks of about equal size."""
    most = max(1, BLOCK_BYTES // (4 * width))
    rows = math.ceil(starts[-1] / math.ceil(starts[-1] / most))
    cuts = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]), rows)))
    bounds = [*cuts.tolist(), starts.size - 1] if cuts[-1] != starts.size - 1 else cuts.tolist()
    return list(itertools.pairwise(bounds))
