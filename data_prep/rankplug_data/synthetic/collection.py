"""A made collection as a split: in memory when small, else written to the cache block by block and memory-mapped."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from rankplug.data import Lists, Split
from rankplug.system import places, seeds
from rankplug_data.mapped_arrays import map_array
from rankplug_data.synthetic.generate import World, fill, list_lengths, true_relevance
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import SHAPES

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


def world_of(parameters: SyntheticParameters) -> World:
    """The collection that the queries are drawn from."""
    return World(SHAPES[parameters.shape], parameters.noise, parameters.documents)


def oracle(parameters: SyntheticParameters, seed: int) -> tuple[NDArray[np.float64], ...]:
    """The relevance function of the documents of each part, which ranks them as well as anything can."""
    key = _key(parameters, seed)
    return tuple(
        true_relevance(world_of(parameters), key, part.number, part.starts) for part in _parts(parameters, seed)
    )


def _key(parameters: SyntheticParameters, seed: int) -> int:
    sample = seed if parameters.sample is None else parameters.sample
    return seeds.stream(sample, "synthetic", parameters.shape)


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
        source = f"synthetic {parameters.shape} {part.name}"
        lists.append(Lists(features[rows], labels[rows], part.starts, names, source=source))
        document, query = rows.stop, query + queries
    return Split(*lists)


def _open_or_write(
    parameters: SyntheticParameters, seed: int, parts: list[_Part]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    recipe = {"version": VERSION, "key": _key(parameters, seed), **parameters.model_dump(exclude={"sample"})}
    text = json.dumps(recipe, sort_keys=True)
    name = f"synthetic-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
    folder = places.cache_folder() / "data" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not folder.exists():
                _write(folder, text, parameters, seed, parts)
    return map_array(folder / "features.npy"), map_array(folder / "labels.npy")


def _write(folder: Path, recipe: str, parameters: SyntheticParameters, seed: int, parts: list[_Part]) -> None:
    """Writes beside the folder and renames, so that what is there is complete."""
    key, width = _key(parameters, seed), world_of(parameters).shape.features
    documents = sum(part.documents for part in parts)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        labels, begin = np.empty(documents, np.float32), 0
        with open(unfinished / "features.npy", "wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (documents, width)}
            np.lib.format.write_array_header_1_0(file, header)
            for part in parts:
                for first, last in _blocks(part.starts, width):
                    offsets = part.starts[first : last + 1] - part.starts[first]
                    block, size = np.empty((int(offsets[-1]), width), np.float32), int(offsets[-1])
                    fill(world_of(parameters), key, part.number, first, offsets, block, labels[begin : begin + size])
                    block.astype("<f4", copy=False).tofile(file)
                    begin += size
        np.save(unfinished / "labels.npy", labels)
        (unfinished / "recipe.json").write_text(recipe + "\n")
        os.replace(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _blocks(starts: NDArray[np.int64], width: int) -> list[tuple[int, int]]:
    rows = max(1, BLOCK_BYTES // (4 * width))
    cuts = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]), rows)))
    bounds = [*cuts.tolist(), starts.size - 1] if cuts[-1] != starts.size - 1 else cuts.tolist()
    return list(itertools.pairwise(bounds))
