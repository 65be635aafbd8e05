"""Metrics by name: one value a query, and every convention a recorded parameter.

>>> quality = metric("ndcg@5[empty=skip]")
>>> quality([0.2, 0.5, -0.1, 0.3, 0.5, 1.0], labels=[3, 0, 1, 2, 0, 0], starts=[0, 5, 6]).round(6)
array([0.521846,      nan])
>>> quality.canonical
'ndcg@5[ties=stable,tie_seed=0,gain=exponential,discount=log2,empty=skip]'

A metric is written as a compiled function of one list, which receives some of the arguments below, by name, and the
metric's parameters. It returns the metric of the list, or nan where it is undefined; the parameter ``empty`` says what
such a list counts.

=========== ==================================================================================
``scores``  the list's scores, float64
``labels``  the list's labels, float64
``order``   the documents best first, under the metric's rule for ties
``ranked``  the labels in that order, as far as the cut-off
``ideal``   the labels in the best possible order, as far as the cut-off
=========== ==================================================================================

>>> @list_metric
... def relevant_at_the_top(ranked, threshold):
...     return float(ranked[0] >= threshold)
>>> relevant_at_the_top.wants
('threshold',)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import (
    LONGEST_SELECTION,
    RANDOM,
    STABLE,
    WORST,
    ListFunction,
    explained_compile_errors,
    make,
    writable,
)
from rankplug.data import Integers, Lists, check_labels, check_starts
from rankplug.errors import BrokenPluginError, DataError
from rankplug.metrics.metric_parameters import WHOLE_LIST, MetricParameters
from rankplug.registry import Named, Reference, parse, registry
from rankplug.system import numbers, threads, workers

if TYPE_CHECKING:
    import pandas as pd

COST_OF_A_DOCUMENT = 40.0
RULES_FOR_TIES = {"stable": STABLE, "worst": WORST, "random": RANDOM}


class ListMetric(ListFunction):
    """A metric of one list."""

    supplied = frozenset({"scores", "labels", "order", "ranked", "ideal"})

    def over_lists(
        self,
        scores: NDArray[np.float64],
        labels: NDArray[np.float64],
        starts: Integers,
        parameters: MetricParameters,
        retrieved: Integers | None = None,
    ) -> NDArray[np.float64]:
        """Compute the metric of every list, nan where it is undefined.

        Of each list only the first ``retrieved`` documents are ranked; the others count in ``labels`` and ``ideal``.
        """
        ties = RULES_FOR_TIES.get(getattr(parameters, "ties", "stable"), STABLE)
        depth = getattr(parameters, "cutoff", WHOLE_LIST)
        compiled = lifted_metric(self, ties == STABLE and depth <= LONGEST_SELECTION and "order" not in self.arguments)
        value, sound = np.empty(starts.size - 1), np.empty(starts.size - 1, np.bool_)
        arguments = {
            "starts": starts,
            "all_scores": scores,
            "all_labels": labels,
            "ties": ties,
            "tie_seed": getattr(parameters, "tie_seed", 0),
            "depth": depth,
            "parameters": self.numbers(parameters),
            "retrieved": np.diff(starts) if retrieved is None else retrieved,
            "value": value,
            "sound": sound,
        }
        with explained_compile_errors(self):
            workers.run(
                lambda begin, end: compiled(begin, end, **arguments),
                workers.chunks_of(COST_OF_A_DOCUMENT * np.diff(starts), threads()),
            )
        if not sound.all():
            check_values(scores, labels)
        return value


def check_values(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> None:
    """Raise an error if a score is nan, which has no rank, or a label is negative or not finite."""
    unordered = np.flatnonzero(np.isnan(scores))
    if unordered.size:
        raise DataError(f"the score of document {unordered[0]} is nan, so it has no rank ({unordered.size} such)")
    check_labels(labels)


def list_metric(function: Callable[..., Any]) -> ListMetric:
    """Make a metric from a function of one list; a decorator."""
    return ListMetric(function)


@runtime_checkable
class Predicts(Protocol):
    """Interface that :func:`evaluate` needs of a model."""

    def predict(self, features: Any) -> ArrayLike:
        """Return one score for each document."""


class Metric:
    """A metric with its parameters; called with scores, labels and starts it returns one value a list.

    A list where the metric is undefined is nan, unless the parameter ``empty`` says what it counts.

    Args:
        reference: its name, such as ``"ndcg@10"`` or ``"err@5[ymax=4]"``.
    """

    def __init__(self, reference: Named) -> None:
        self.reference = parse(reference)
        self.specification, parameters = registry().resolve("metric", self.reference)
        if not isinstance(parameters, MetricParameters):
            raise BrokenPluginError(
                f"{self.specification}: its parameters must be a subclass of rankplug.MetricParameters"
            )
        self.parameters = parameters
        self.function = self.specification.load()
        if not callable(self.function):
            raise BrokenPluginError(
                f"{self.specification} is implemented by {self.function!r}, which is neither a @list_metric nor a"
                " function"
            )

    @staticmethod
    def named(reference: Named | Metric) -> Metric:
        """Return the metric of a name, or the metric itself."""
        return reference if isinstance(reference, Metric) else Metric(reference)

    def __str__(self) -> str:
        return str(self.reference)

    def __repr__(self) -> str:
        return f"<metric {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric, (self.reference,)

    @property
    def canonical(self) -> str:
        """Its text with every parameter spelt out, the defaults included."""
        values = {name: getattr(self.parameters, name) for name in type(self.parameters).model_fields}
        conventions = {name: values[name] for name in sorted(values, key=MetricParameters.model_fields.__contains__)}
        return str(Reference(self.reference.name, conventions, self.reference.distribution))

    def __call__(
        self, scores: ArrayLike, labels: ArrayLike, starts: ArrayLike, *, retrieved: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Compute the metric of every list.

        Args:
            scores: one a document, lists one after another.
            labels: one a document.
            starts: where each list starts, and the number of documents last.
            retrieved: number of documents of each list, its first ones, that were ranked; all of them when absent. The
                others count only in what could have been found.
        """
        relevance = writable(labels, "labels").reshape(-1)
        offsets = check_starts(starts, relevance.size)
        packed = writable(scores, "scores").reshape(-1)
        if packed.size != relevance.size:
            raise DataError(f"{relevance.size} labels, but {packed.size} scores")
        self.parameters.check_labels(relevance)
        value = self._of_lists(packed, relevance, offsets, self._checked(retrieved, offsets))
        if self.parameters.empty != "skip":
            value[np.isnan(value)] = self.parameters.empty
        return value

    def mean(self, scores: ArrayLike, labels: ArrayLike, starts: ArrayLike) -> float:
        """Return the mean over the lists on which the metric is defined; nan if there are none."""
        value = self(scores, labels, starts)
        counted = value[~np.isnan(value)]
        return float(counted.mean()) if counted.size else float("nan")

    def _checked(self, retrieved: ArrayLike | None, starts: Integers) -> Integers | None:
        if retrieved is None:
            return None
        counts = numbers(retrieved, "retrieved", "int64")
        lengths = np.diff(starts)
        if counts.shape != lengths.shape or (counts < 0).any() or (counts > lengths).any():
            raise DataError("retrieved must be one number a list, from 0 to the number of its documents")
        ranks_only = isinstance(self.function, ListMetric) and not {"scores", "order"} & set(self.function.arguments)
        if not ranks_only and (counts < lengths).any():
            raise DataError(
                f"{self.specification} compares all documents of a list, and some were not retrieved; score them too,"
                " or take a metric of ranks"
            )
        return counts

    def _of_lists(
        self,
        scores: NDArray[np.float64],
        labels: NDArray[np.float64],
        starts: Integers,
        retrieved: Integers | None,
    ) -> NDArray[np.float64]:
        if isinstance(self.function, ListMetric):
            return self.function.over_lists(scores, labels, starts, self.parameters, retrieved)
        check_values(scores, labels)
        value = np.array(self.function(scores, labels, starts, self.parameters), dtype=np.float64)
        if value.shape != (starts.size - 1,):
            raise BrokenPluginError(
                f"{self.specification} must return one value a list ({starts.size - 1}), got shape {value.shape}"
            )
        return value


def metric(reference: Named | Metric) -> Metric:
    """Return the metric of a name, such as ``"ndcg@10"``."""
    return Metric.named(reference)


def evaluate(
    model_or_scores: Predicts | ArrayLike, lists: Any, metric: Named | Metric, **columns: str
) -> pd.Series[float]:
    """Compute one value a query, by query id; queries without a value are nan, which pandas' ``mean`` leaves out.

    Args:
        model_or_scores: a model with ``predict(features)``, or one score a document. A model of ours (or a Ranker that
            holds one) gets the lists, since some scorers compare the documents of a query.
        lists: the data, with labels: lists, or for a model of ours a data frame, a table or the path of its file.
        metric: its name.
        columns: ``query`` and ``label`` of a table; those of the training data by default.

    >>> lists = Lists(np.ones((4, 1), np.float32), labels=[0, 1, 0, 0], starts=[0, 2, 4], query_ids=[11, 12])
    >>> evaluate([0.1, 0.7, 0.5, 0.2], lists, "mrr").to_dict()
    {11: 1.0, 12: nan}
    """
    import pandas as pd

    quality = Metric.named(metric)
    fitted: Any = getattr(model_or_scores, "model_", model_or_scores)
    if not isinstance(lists, Lists) and hasattr(fitted, "lists_of"):
        lists = fitted.lists_of(lists, **columns)
    if not isinstance(lists, Lists):
        raise DataError(f"lists must be rankplug.Lists, got {type(lists).__name__}")
    scores: Any = model_or_scores
    if getattr(fitted, "scores_lists", False):
        scores = fitted.predict(lists)
    elif isinstance(scores, Predicts):
        scores = scores.predict(lists.features)
    value = quality(scores, lists.labels, lists.starts)
    series = pd.Series(value, index=pd.Index(lists.query_ids, name="query_id"), name=str(quality))
    series.attrs["metric"] = quality.canonical
    return series


def lifted_metric(metric: ListMetric, shallow: bool) -> Any:
    """Compile the metric over all lists; a shallow one, of the first few places, in a third of the time."""
    steps = [text for name, text in (SHALLOW_STEPS if shallow else STEPS).items() if name in metric.arguments]
    text = METRIC.format(
        ties="" if shallow else TIES, steps="".join(steps), arguments=metric.call(EXPRESSIONS, "parameters")
    )
    return make(text, {"one_list": metric})


EXPRESSIONS = {name: name for name in ListMetric.supplied}

METRIC = """
from rankplug.compiled import uniform
from rankplug.compiled import RANDOM, order_documents, rank_labels, select_labels, sort_labels, usable

def lifted(begin, end, starts, all_scores, all_labels, ties, tie_seed, depth, parameters, retrieved, value, sound):
    longest = 0
    for q in range(begin, end):
        longest = max(longest, starts[q + 1] - starts[q])
    all_order = np.empty(longest, np.int32)
    all_ranked = np.empty(longest)
    all_ideal = np.empty(longest)
    draws = np.empty(longest)
    for q in range(begin, end):
        scores = all_scores[starts[q]:starts[q] + retrieved[q]]
        labels = all_labels[starts[q]:starts[q + 1]]
        sound[q] = usable(scores, labels)
        if not sound[q]:
            continue
        order = all_order[:scores.size]
        ranked = all_ranked[:min(depth, scores.size)]
        ideal = all_ideal[:min(depth, labels.size)]
        {ties}
        {steps}
        value[q] = one_list({arguments})
"""

TIES = """
        tie_keys = labels
        if ties == RANDOM:
            key = key_of(tie_seed, 0, q, 0)
            for document in range(scores.size):
                draws[document] = uniform(key, document)
            tie_keys = draws[:scores.size]
"""

STEPS = {
    "order": """
        order_documents(scores, ties, tie_keys, order)
""",
    "ranked": """
        rank_labels(scores, labels, ties, tie_keys, order, ranked)
""",
    "ideal": """
        sort_labels(labels, ideal)
""",
}

SHALLOW_STEPS = {
    "ranked": """
        select_labels(scores, labels, order, ranked)
""",
    "ideal": """
        select_labels(labels, labels, all_order, ideal)
""",
}
