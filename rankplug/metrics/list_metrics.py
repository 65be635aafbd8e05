"""Metrics written as a compiled function of one list.

The function receives some of the arguments below, by name, and the metric's parameters; it returns the metric of the
list, or nan where it is undefined. What undefined lists count is the framework's business (``empty``).

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import RANDOM, STABLE, WORST, ListFunction, explained_compile_errors, make
from rankplug.data import Integers, check_labels
from rankplug.errors import DataError
from rankplug.metrics.metric_parameters import WHOLE_LIST, MetricParameters
from rankplug.system import threads, workers

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
        compiled = lifted_metric(self)
        value, sound = np.empty(starts.size - 1), np.empty(starts.size - 1, np.bool_)
        arguments = {
            "starts": starts,
            "all_scores": scores,
            "all_labels": labels,
            "ties": RULES_FOR_TIES.get(getattr(parameters, "ties", "stable"), STABLE),
            "tie_seed": getattr(parameters, "tie_seed", 0),
            "depth": getattr(parameters, "cutoff", WHOLE_LIST),
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


def lifted_metric(metric: ListMetric) -> Any:
    """Compile the metric over all lists."""
    steps = [text for name, text in STEPS.items() if name in metric.arguments]
    text = METRIC.format(steps="".join(steps), arguments=metric.call(EXPRESSIONS, "parameters"))
    return make(text, {"one_list": metric})


EXPRESSIONS = {name: name for name in ListMetric.supplied}

METRIC = """
from rankplug.compiled import uniform
from rankplug.compiled import RANDOM, order_documents, rank_labels, sort_labels, usable

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
        places = min(depth, scores.size)
        best_places = min(depth, labels.size)
        tie_keys = labels
        if ties == RANDOM:
            key = key_of(tie_seed, 0, q, 0)
            for document in range(scores.size):
                draws[document] = uniform(key, document)
            tie_keys = draws[:scores.size]
        {steps}
        value[q] = one_list({arguments})
"""

STEPS = {
    "order": """
        order_documents(scores, ties, tie_keys, scores.size, order)
""",
    "ranked": """
        ranked = all_ranked[:places]
        rank_labels(scores, labels, ties, tie_keys, order, ranked)
""",
    "ideal": """
        ideal = all_ideal[:best_places]
        sort_labels(labels, ideal)
""",
}
