"""Promises of a transform: a pure function of split, parameters and generator, whose lists stay lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankplug.data import Lists, Split, load
from rankplug.errors import DataError, NothingLeftError
from rankplug.registry import TransformSpecification, registry
from rankplug.system import generator, use_threads
from rankplug.testing._checks import Contract, NotApplicableError, global_random_state, other_global_random_numbers

QUERIES = {"train": 24, "valid": 10, "test": 12}
FEATURES = 5


@dataclass(frozen=True)
class Case:
    """A transform under test.

    Args:
        name: with its parameters.
        dataset: it is tried on, where it is made for special data; small made lists otherwise.
        seed: of the data and of the transform's own draws.
    """

    name: str
    dataset: str = ""
    seed: int = 20

    def __str__(self) -> str:
        return self.name

    @cached_property
    def specification(self) -> TransformSpecification:
        return registry().specification("transform", self.name)

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Parts that it says it changes."""
        _, parameters = registry().resolve("transform", self.name)
        return tuple(getattr(parameters, "parts", self.specification.parts))

    def split(self) -> Split:
        """Return the data anew, in arrays that nothing else has."""
        if self.dataset:
            return Split(*(_copied(part) for part in load(self.dataset, seed=self.seed)))
        return Split(*(_made(part, self.seed) for part in Split._fields))

    def apply(self, split: Split, seed: int | None = None) -> Split:
        """Return what it makes of a split, with a fresh generator of the seed."""
        specification, parameters = registry().resolve("transform", self.name)
        noise = generator(self.seed if seed is None else seed, "transform", self.name)
        changed: Split = specification.load()(split, parameters, noise)
        return changed

    @cached_property
    def found(self) -> Split:
        """The data after the transform."""
        return self.apply(self.split())


CONTRACT = Contract("transform", Case)


@CONTRACT.check(
    means="nothing can be trained on what it makes",
    fix="return rankplug.Split(train, valid, test), each of them rankplug.Lists, or split._replace(train=...)",
    stage=0,
)
def it_returns_three_parts_with_the_same_features(case: Case) -> str | None:
    """Check that there are training, validation and test lists with equal features."""
    result = case.found
    if not isinstance(result, Split):
        return f"it returns {type(result).__name__}, not a Split"
    if not all(isinstance(part, Lists) for part in result):
        return f"it returns parts that are {', '.join(type(part).__name__ for part in result)}, not Lists"
    widths = [part.features.shape[1] for part in result]
    return f"the parts have {widths} features" if len(set(widths)) > 1 else None


@CONTRACT.check(
    means="a loss or a metric is computed on something that is no list of a query",
    fix="keep features finite, labels zero or more and query ids different, and raise rankplug.errors.NothingLeftError"
    " where no query would be left",
)
def lists_stay_lists(case: Case) -> str | None:
    """Check that each part has a query, finite features, labels of zero or more, and no query twice."""
    for name, part in _named(case.found):
        if not len(part):
            return f"the {name} part has no query"
        try:
            part.validate()
        except DataError as error:
            return f"the {name} part is not sound: {error}"
    return None


@CONTRACT.check(
    means="a transform after it, or the next trial, sees data that it spoilt",
    fix="write into copies: dataclasses.replace(part, features=...) with a new array",
)
def data_are_left_as_they_were(case: Case) -> str | None:
    """Check every array of every part."""
    given, before = case.split(), case.split()
    case.apply(given)
    changed = [f"{part}.{array}" for part, array in _differences(before, given)]
    return f"it writes into {', '.join(changed)}" if changed else None


@CONTRACT.check(
    means="it fails on prepared data, which are memory-mapped and cannot be written",
    fix="compute new arrays; no function with out= or in-place operator on what it was given",
)
def arrays_that_cannot_be_written_are_enough(case: Case) -> str | None:
    """Apply the transform to features and labels that are read-only."""
    given = case.split()
    for part in given:
        part.features.flags.writeable = part.labels.flags.writeable = False
    changed = [f"{part}.{array}" for part, array in _differences(case.found, case.apply(given))]
    return f"{', '.join(changed)} are others than from arrays that can be written" if changed else None


@CONTRACT.check(
    means="results cannot be repeated",
    fix="draw from the generator it is given, and keep nothing from one call to the next",
)
def a_seed_gives_the_same_again(case: Case) -> str | None:
    """Compare to the bit, with other global random numbers, on one thread as on two."""
    with other_global_random_numbers(), use_threads(1):
        again = case.apply(case.split())
    changed = [f"{part}.{array}" for part, array in _differences(case.found, again)]
    return f"applied again with the same seed, {', '.join(changed)} are others" if changed else None


@CONTRACT.check(
    means="other plugins draw other numbers after it was applied",
    fix="draw from the generator it is given",
)
def global_random_numbers_are_left_alone(case: Case) -> str | None:
    """Check the generators of Python, NumPy and PyTorch."""
    case.apply(case.split())
    before = global_random_state()
    case.apply(case.split())
    return None if before == global_random_state() else "applying it moves the global random state"


@CONTRACT.check(
    means="results are recorded under a name that does not say what was done to the data",
    fix="take everything that changes what it does from its parameters, as fields of plain values with defaults",
)
def it_is_recorded_with_all_its_parameters(case: Case) -> str | None:
    """Check that the parameters, defaults included, can be kept as plain values and read back."""
    _, parameters = registry().resolve("transform", case.name)
    plain = parameters.model_dump(mode="json")
    restored = type(parameters).model_validate(plain)
    return None if restored == parameters else f"its parameters, kept as {plain}, are read back as {restored}"


@CONTRACT.check(
    means="test numbers are of other data than the reader thinks",
    fix="change only the parts that the specification's parts, or the parameter parts, name",
)
def parts_it_does_not_name_are_left_alone(case: Case) -> str | None:
    """Check that a transform that declares to change the training part only leaves validation and test data alone."""
    kept = set(Split._fields) - set(case.changed)
    if not kept:
        raise NotApplicableError("it says that it changes all parts")
    changed = [f"{part}.{array}" for part, array in _differences(case.split(), case.found) if part in kept]
    return f"it says that it changes {', '.join(case.changed)}, and changes {', '.join(changed)}" if changed else None


@CONTRACT.check(
    means="what is learnt depends on test data, or test data that come in blocks are changed otherwise than at once",
    fix="learn from the training part only and treat each test query by itself, or declare by_query=False",
)
def test_queries_do_not_see_each_other(case: Case) -> str | None:
    """Apply a transform with ``by_query`` to each half of the test part, which gives the same as the whole."""
    if not case.specification.by_query:
        raise NotApplicableError("it does not say that it goes by query")
    split = case.split()
    half = len(split.test) // 2
    pieces: list[Lists] = []
    for piece in (split.test[:half], split.test[half:]):
        try:
            transformed = case.apply(split._replace(test=piece))
        except NothingLeftError:
            continue
        changed = [part for part, _ in _differences(case.found, transformed) if part != "test"]
        if changed:
            return f"without some of the test queries the {changed[0]} part is another"
        pieces.append(transformed.test)
    joined = Split(case.found.train, case.found.valid, Lists.concatenate(pieces))
    changed = [array for _, array in _differences(case.found, joined)]
    return f"in two halves the test part has other {', '.join(changed)} than at once" if changed else None


CHECKS = tuple(CONTRACT.checks)


def _named(split: Split) -> Iterator[tuple[str, Lists]]:
    return zip(Split._fields, split, strict=True)


def _made(part: str, seed: int) -> Lists:
    """Return lists of one to nine documents, of which some teach nothing, with a constant feature and document ids."""
    draws = np.random.default_rng([seed, *part.encode()])
    lengths = draws.integers(2, 10, QUERIES[part])
    lengths[0] = 1
    documents = int(lengths.sum())
    features = draws.normal(size=(documents, FEATURES)).astype(np.float32) * [1.0, 10.0, 0.1, 1.0, 0.0]
    labels = draws.integers(0, 5, documents)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    labels[starts[1] : starts[2]] = 0
    queries = np.array([f"{part}-{number}" for number in range(len(lengths))])
    names = np.array([f"{part}-document-{number}" for number in range(documents)])
    return Lists(np.ascontiguousarray(features, np.float32), labels.astype(np.float32), starts, queries, names)


def _copied(lists: Lists) -> Lists:
    """Return lists that share no memory with others."""
    names = None if lists.document_ids is None else lists.document_ids.copy()
    features, labels, starts = np.array(lists.features), np.array(lists.labels), np.array(lists.starts)
    return Lists(features, labels, starts, np.array(lists.query_ids), names, lists.source)


def _differences(split: Split, other: Split) -> Iterator[tuple[str, str]]:
    """Yield part and array wherever two splits differ."""
    for part, (mine, theirs) in zip(Split._fields, zip(split, other, strict=True), strict=True):
        for array in ("features", "labels", "starts", "query_ids", "document_ids"):
            if not _alike(getattr(mine, array), getattr(theirs, array)):
                yield part, array


def _alike(first: Any, other: Any) -> bool:
    if first is None or other is None:
        return first is other
    if first.dtype.kind == "f":
        return bool(first.shape == other.shape and first.tobytes() == other.tobytes())
    return bool(np.array_equal(first, other))
