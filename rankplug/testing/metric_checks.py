"""Contract of metrics: one value a list, a function of the order alone, and highest for the best order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from rankplug.metrics import Metric, metric
from rankplug.system import use_threads
from rankplug.testing import _checks
from rankplug.testing._checks import CheckInput, Contract, Floats, NotApplicableError, PluginContract, lists_of

LARGEST_LABEL = 4


class Case(_checks.Case):
    """A metric under test."""

    @cached_property
    def metric(self) -> Metric:
        return metric(self.name)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        return generator.integers(0, LARGEST_LABEL + 1, documents).astype(float)

    def lists(self, *lengths: int) -> CheckInput:
        """Make lists of some lengths with scores that differ; one list in four has no relevant document."""
        lists = super().lists(*lengths)
        number = np.repeat(np.arange(len(lengths)), lengths)
        return replace(lists, labels=np.where(number % 4 == 3, 0.0, lists.labels))

    def values(self, lists: CheckInput) -> Floats:
        return self.metric(lists.scores, lists.labels, lists.starts)


CONTRACT = Contract(Case, "rp.metric({name!r})(scores, labels, starts)")


class MetricContract(PluginContract):
    """The contract of a metric."""

    contract, kind = CONTRACT, "metric"
    metric: ClassVar[str]


def _difference(here: Floats, there: Floats, change: str) -> str | None:
    if np.allclose(here, there, rtol=1e-12, atol=1e-12, equal_nan=True):
        return None
    return f"{change} changes the values from {here.round(6).tolist()} to {there.round(6).tolist()}"


def _awkward(case: Case) -> Iterator[CheckInput]:
    yield case.lists(7, 5, 1, 4, 30)
    yield CheckInput.of([0.3], [1.0])
    yield CheckInput.of([0.3], [0.0])
    yield CheckInput.of(np.zeros(4), [0, 1, 0, 1])
    yield CheckInput.of([1e300, -1e300, np.inf, -np.inf], [0, 1, 0, 1])
    yield CheckInput.of([0.2, 0.1, 0.3], [1, 1, 1])
    yield case.lists(5000)


@CONTRACT.check(
    inputs=_awkward,
    means="means over queries are wrong",
    fix="return nan where the metric is undefined, and declare lowest and highest in the specification",
)
def values_lie_between_lowest_and_highest(case: Case, lists: CheckInput) -> str | None:
    """Evaluate one document, ties, infinite scores and many documents; nan stands for undefined."""
    low, high = case.metric.specification.lowest, case.metric.specification.highest
    for value in case.values(lists):
        if np.isinf(value) or not (np.isnan(value) or low - 1e-12 <= value <= high + 1e-12):
            return f"the value {value:g} is not between {low:g} and {high:g}"
    return None


def _short(case: Case) -> Iterator[CheckInput]:
    generator = np.random.default_rng(case.seed)
    for _ in range(8):
        yield CheckInput.of(generator.normal(size=5), case.labels(5, generator))


@CONTRACT.check(
    inputs=_short,
    means="choosing the iteration by it keeps a worse model",
    fix="make higher values mean better rankings, as selection takes the highest",
)
def no_order_is_better_than_the_labels_order(case: Case, lists: CheckInput) -> str | None:
    """Compare all orders of a short list with the one that sorts by label."""
    best = case.values(replace(lists, scores=lists.labels))[0]
    for order in itertools.permutations(range(lists.scores.size)):
        value = case.values(replace(lists, scores=np.array(order, float)))[0]
        if value > best + 1e-12 or np.isnan(value) != np.isnan(best):
            return f"sorted by label it is {best:.6g}, with the scores {list(order)} it is {value:.6g}"
    return None


@CONTRACT.check(
    inputs=lists_of(7, 5, 9),
    means="models whose scores lie on other scales cannot be compared",
    fix="use order or ranked in place of the scores themselves",
)
def only_the_order_of_scores_counts(case: Case, lists: CheckInput) -> str | None:
    """Check that a growing function of the scores changes nothing."""
    moved = replace(lists, scores=np.exp(lists.scores) * 3.0 - 7.0)
    return _difference(case.values(lists), case.values(moved), "exp(scores) * 3 - 7 in place of the scores")


@CONTRACT.check(
    inputs=lists_of(8),
    means="the metric depends on the order of the file",
    fix="look at documents in the order of their scores only",
)
def order_of_documents_does_not_matter(case: Case, lists: CheckInput) -> str | None:
    """Check that permuting a list's documents changes nothing where no scores are tied."""
    permutation = np.random.default_rng(5).permutation(lists.scores.size)
    moved = CheckInput(lists.scores[permutation], lists.labels[permutation], lists.starts)
    return _difference(case.values(lists), case.values(moved), f"the documents in the order {permutation.tolist()}")


@CONTRACT.check(
    inputs=lists_of(7, 2, 11, 5),
    means="a query's value depends on which others are measured",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, lists: CheckInput) -> str | None:
    """Check that each list alone has the value that it has among others."""
    together = case.values(lists)
    if together.shape != (len(lists.starts) - 1,):
        return f"{len(lists.starts) - 1} lists, but values of shape {together.shape}"
    for query, part in enumerate(lists.slices()):
        alone = case.values(CheckInput.of(lists.scores[part], lists.labels[part]))
        if complaint := _difference(together[query : query + 1], alone, f"list {query} alone"):
            return complaint
    return None


@CONTRACT.check(
    inputs=lists_of(*[40, 3, 1, 200] * 20), means="results cannot be repeated", fix="keep nothing between lists"
)
def threads_do_not_change_values(case: Case, lists: CheckInput) -> str | None:
    """Compare bit for bit."""
    values = []
    for number in (1, 3):
        with use_threads(number):
            values.append(case.values(lists))
    return None if np.array_equal(values[0], values[1], equal_nan=True) else "1 and 3 threads differ"


@CONTRACT.check(
    inputs=lists_of(6, 4),
    means="metrics measured after it see other data",
    fix="copy scores and labels before changing them",
)
def scores_and_labels_are_left_as_they_are(case: Case, lists: CheckInput) -> str | None:
    """Check that a metric does not write into its arguments."""
    copy = replace(lists, scores=lists.scores.copy(), labels=lists.labels.copy())
    case.values(copy)
    same = np.array_equal(copy.scores, lists.scores) and np.array_equal(copy.labels, lists.labels)
    return None if same else "it writes into what it is given"


@CONTRACT.check(
    inputs=lists_of(6, 4),
    means="short lists count differently at a deep cut-off",
    fix="treat places beyond the list's end as empty",
)
def a_cut_off_beyond_the_end_is_none(case: Case, lists: CheckInput) -> str | None:
    """Check that a ``k`` beyond the end gives what no ``k`` gives, unless the parameters say that ``k`` divides."""
    fields = type(case.metric.parameters).model_fields
    if "k" not in fields or "divide_by" in fields:
        raise NotApplicableError("it has no cut-off that only limits the ranks it considers")
    name, plain = case.metric.reference.name, {**case.metric.reference.parameters}
    plain.pop("k", None)
    whole, deep = (
        metric({"name": name, **plain, **cut})(lists.scores, lists.labels, lists.starts) for cut in ({}, {"k": 1000})
    )
    return _difference(whole, deep, "a cut-off of 1000 in place of none")
