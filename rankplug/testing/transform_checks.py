"""Contract of transforms: a pure function of split, parameters and generator, whose lists stay lists."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from rankplug.data import Lists, Split, load
from rankplug.errors import DataError, NothingLeftError
from rankplug.registry import Parameters, TransformSpecification, registry
from rankplug.system import generator, use_threads
from rankplug.testing import _checks
from rankplug.testing._checks import (
    Contract,
    NotApplicableError,
    PluginContract,
    moves_global_random_state,
    other_global_random_numbers,
)
from rankplug.testing.dataset_checks import parts_problem

QUERIES = {"train": 24, "valid": 10, "test": 12}
FEATURES = 5


@dataclass(frozen=True)
class Case(_checks.Case):
    """A transform under test.

    Args:
        dataset: name of a data set, where the transform is made for special data; small synthetic lists otherwise.
    """

    dataset: str = ""

    @cached_property
    def resolved(self) -> tuple[TransformSpecification, Parameters]:
        return registry().resolve("transform", self.name)

    def split(self) -> Split:
        """Return the data in arrays that nothing else has."""
        if self.dataset:
            return copy.deepcopy(load(self.dataset, seed=self.seed))
        return Split(*(_synthetic(part, self.seed) for part in Split._fields))

    def apply(self, split: Split) -> Split:
        """Return the data after the transform, with a fresh generator of the seed."""
        specification, parameters = self.resolved
        transformed: Split = specification.load()(split, parameters, generator(self.seed, "transform", self.name))
        return transformed

    @cached_property
    def transformed(self) -> Split:
        return self.apply(self.split())


CONTRACT = Contract(Case)


class TransformContract(PluginContract):
    """The contract of a transform; ``dataset`` names what it is tried on, where it is made for special data."""

    contract, kind = CONTRACT, "transform"
    transform: ClassVar[str]
    dataset: ClassVar[str] = ""


@CONTRACT.check(
    means="nothing can be trained on what it makes",
    fix="return rankplug.Split(train, valid, test), each of them rankplug.Lists, or split._replace(train=...)",
    stage=0,
)
def it_returns_three_parts_with_the_same_features(case: Case) -> str | None:
    """Check that there are training, validation and test lists with equal features."""
    return parts_problem(case.transformed)


@CONTRACT.check(
    means="a loss or a metric is computed on something that is no list of a query",
    fix="keep features finite, labels zero or more and query ids different, and raise rankplug.errors.NothingLeftError"
    " where no query would be left",
)
def lists_stay_lists(case: Case) -> str | None:
    """Check that each part has a query, finite features, labels of zero or more, and no query twice."""
    for name, part in zip(Split._fields, case.transformed, strict=True):
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
    split = case.split()
    case.apply(split)
    changed = _differences(case.split(), split)
    return f"it writes into {', '.join(changed)}" if changed else None


@CONTRACT.check(
    means="it fails on prepared data, which are memory-mapped and cannot be written",
    fix="compute new arrays; no function with out= or in-place operator on what it was given",
)
def arrays_that_cannot_be_written_are_enough(case: Case) -> str | None:
    """Apply the transform to features and labels that are read-only."""
    split = case.split()
    for part in split:
        part.features.flags.writeable = part.labels.flags.writeable = False
    changed = _differences(case.transformed, case.apply(split))
    return f"{', '.join(changed)} are others than from arrays that can be written" if changed else None


@CONTRACT.check(
    means="results cannot be repeated",
    fix="draw from the generator it is given, and keep nothing from one call to the next",
)
def a_seed_gives_the_same_again(case: Case) -> str | None:
    """Compare to the bit, with other global random numbers, on one thread as on two."""
    with other_global_random_numbers(), use_threads(1):
        changed = _differences(case.transformed, case.apply(case.split()))
    return f"applied again with the same seed, {', '.join(changed)} are others" if changed else None


@CONTRACT.check(
    means="other plugins draw other numbers after it was applied",
    fix="draw from the generator it is given",
)
def global_random_numbers_are_left_alone(case: Case) -> str | None:
    """Check the generators of Python, NumPy and PyTorch."""
    split = case.split()
    case.apply(case.split())
    moved = moves_global_random_state(lambda: case.apply(split))
    return "applying it moves the global random state" if moved else None


@CONTRACT.check(
    means="results are recorded under a name that does not say what was done to the data",
    fix="take everything that changes what it does from its parameters, as fields of plain values with defaults",
)
def it_is_recorded_with_all_its_parameters(case: Case) -> str | None:
    """Check that the parameters, defaults included, can be stored as plain values and read back."""
    _, parameters = case.resolved
    plain = parameters.model_dump(mode="json")
    restored = type(parameters).model_validate(plain)
    return None if restored == parameters else f"its parameters, stored as {plain}, are read back as {restored}"


@CONTRACT.check(
    means="test numbers are of other data than the reader thinks",
    fix="change only the parts that the specification's parts, or the parameter parts, name",
)
def parts_it_does_not_name_are_left_alone(case: Case) -> str | None:
    """Check that a transform that declares to change the training part only leaves validation and test data alone."""
    specification, parameters = case.resolved
    declared = getattr(parameters, "parts", specification.parts)
    if set(declared) == set(Split._fields):
        raise NotApplicableError("it says that it changes all parts")
    changes = _differences(case.split(), case.transformed)
    changed = [change for change in changes if change.partition(".")[0] not in declared]
    return f"it says that it changes {', '.join(declared)}, and changes {', '.join(changed)}" if changed else None


@CONTRACT.check(
    means="what is learnt depends on test data, or test data that come in blocks are changed otherwise than at once",
    fix="learn from the training part only and treat each test query by itself, or declare by_query=False",
)
def test_queries_do_not_see_each_other(case: Case) -> str | None:
    """Apply a transform with ``by_query`` to each half of the test part, which gives the same as the whole."""
    if not case.resolved[0].by_query:
        raise NotApplicableError("it does not say that it goes by query")
    split = case.split()
    half = len(split.test) // 2
    pieces: list[Lists] = []
    for piece in (split.test[:half], split.test[half:]):
        try:
            transformed = case.apply(split._replace(test=piece))
        except NothingLeftError:
            continue
        others = _differences(case.transformed, transformed._replace(test=case.transformed.test))
        if others:
            return f"without some of the test queries the {others[0].partition('.')[0]} part is another"
        pieces.append(transformed.test)
    changed = _differences(case.transformed, case.transformed._replace(test=Lists.concatenate(pieces)))
    return f"in two halves {', '.join(changed)} are others than at once" if changed else None


def _synthetic(part: str, seed: int) -> Lists:
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


def _differences(split: Split, other: Split) -> list[str]:
    """Return part and array, such as ``train.labels``, wherever two splits differ in a bit."""
    arrays = ("features", "labels", "starts", "query_ids", "document_ids")
    return [
        f"{part}.{array}"
        for part, mine, theirs in zip(Split._fields, split, other, strict=True)
        for array in arrays
        if not _same(getattr(mine, array), getattr(theirs, array))
    ]


def _same(first: np.ndarray | None, other: np.ndarray | None) -> bool:
    if first is None or other is None:
        return first is other
    if first.dtype.kind == "f":
        return first.shape == other.shape and first.tobytes() == other.tobytes()
    return bool(np.array_equal(first, other))
