"""Contract of data sets: sound parts that do not overlap, and the same data again for the same seed."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from rankplug.data import Lists, Split, load
from rankplug.errors import DataError
from rankplug.registry import DatasetSpecification, registry
from rankplug.testing import _checks
from rankplug.testing._checks import (
    Contract,
    NotApplicableError,
    PluginContract,
    moves_global_random_state,
    other_global_random_numbers,
)


class Case(_checks.Case):
    """A data set under test."""

    @cached_property
    def specification(self) -> DatasetSpecification:
        return registry().specification("dataset", self.name)

    @cached_property
    def split(self) -> Split:
        """Its first fold."""
        return self.load()

    def load(self, fold: int = 1) -> Split:
        return load(self.name, fold=fold, seed=self.seed)


CONTRACT = Contract(Case)


class DatasetContract(PluginContract):
    """The contract of a data set."""

    contract, kind = CONTRACT, "dataset"
    dataset: ClassVar[str]


def parts_problem(split: object) -> str | None:
    """Return the complaint that a split is not one of three parts with the same features."""
    if not (isinstance(split, Split) and all(isinstance(part, Lists) for part in split)):
        parts = [type(part).__name__ for part in split] if isinstance(split, tuple) else []
        return f"it gives {type(split).__name__} of {parts}, not a Split of Lists"
    widths = [part.features.shape[1] for part in split]
    return f"the parts have {widths} features" if len(set(widths)) > 1 else None


@CONTRACT.check(
    means="nothing can be trained on it",
    fix="return rankplug.Split(train, valid, test), each of them rankplug.Lists",
)
def it_gives_three_parts_with_the_same_features(case: Case) -> str | None:
    """Check that there are training, validation and test lists with equal features."""
    return parts_problem(case.split) or (None if len(case.split.train) else "the training part is empty")


@CONTRACT.check(
    means="a backend that takes no missing values refuses it, or a metric counts nonsense",
    fix="replace infinite features, and see that labels are finite and zero or more and query ids stand once",
)
def values_are_sound(case: Case) -> str | None:
    """Check that labels are zero or more, no feature is infinite, and no query occurs twice; features may be nan."""
    for name, part in zip(Split._fields, case.split, strict=True):
        if np.isinf(part.features).any():
            return f"the {name} part has infinite features"
        try:
            Lists(np.zeros((part.documents, 1), np.float32), part.labels, part.starts, part.query_ids).validate()
        except DataError as error:
            return f"the {name} part is not sound: {error}"
    return None


@CONTRACT.check(
    means="every loss is silent on it",
    fix="see that the labels are read from the right column",
)
def some_lists_tell_documents_apart(case: Case) -> str | None:
    """Check that a training list has two different labels, and so teaches an order."""
    different = any(np.ptp(query.labels) > 0 for query in case.split.train)
    return None if different else "in each training list all labels are equal"


@CONTRACT.check(
    means="results cannot be repeated",
    fix="draw from np.random.default_rng(seed) only",
)
def a_seed_gives_the_same_data_again(case: Case) -> str | None:
    """Compare fingerprints of two loads, with other global random numbers for the second."""
    with other_global_random_numbers():
        pairs = zip(Split._fields, case.split, case.load(), strict=True)
    different = [name for name, here, there in pairs if here.fingerprint != there.fingerprint]
    return f"loaded again, the parts {', '.join(different)} are others" if different else None


@CONTRACT.check(
    means="other plugins draw other numbers after it is loaded",
    fix="use a generator of your own: np.random.default_rng(seed)",
)
def global_random_numbers_are_left_alone(case: Case) -> str | None:
    """Check the generators of Python, NumPy and PyTorch."""
    case.load()
    return "loading it moves the global random state" if moves_global_random_state(case.load) else None


@CONTRACT.check(
    means="test results tell what was learnt by heart",
    fix="split by query before anything else",
)
def no_list_is_in_two_parts(case: Case) -> str | None:
    """Check that no test or validation list has the same features and labels as one that is trained on."""
    train = _contents(case.split.train)
    for name in ("valid", "test"):
        if again := train & _contents(getattr(case.split, name)):
            return f"{len(again)} lists of the training part are in the {name} part too"
    return None


@CONTRACT.check(
    means="cross-validation repeats one measurement",
    fix="use the fold, or declare folds=1",
)
def folds_differ_and_all_can_be_loaded(case: Case) -> str | None:
    """Load each fold that the specification declares."""
    folds = case.specification.folds
    if folds == 1:
        raise NotApplicableError("it has one fold")
    tests = {case.load(fold).test.fingerprint for fold in range(1, folds + 1)}
    return None if len(tests) == folds else f"the {folds} folds have only {len(tests)} different test parts"


def _contents(lists: Lists) -> set[bytes]:
    """Return each list with at least two different documents, as bytes."""
    return {
        query.features.tobytes() + query.labels.tobytes()
        for query in lists
        if len(np.unique(query.features, axis=0)) > 1
    }
