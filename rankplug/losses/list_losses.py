"""Losses written as a compiled function of one list.

The function receives some of ``scores, labels, gradient, curvature, constants, order, key, list_key, seed, query,
iteration, newton, valued`` (see :mod:`rankplug.compiled.functions`) and the plugin's parameters by name; it fills
``gradient`` and ``curvature`` with derivatives with respect to the scores and returns the loss of the list.

>>> @list_loss(cost="documents")
... def squared(scores, labels, gradient, curvature, scale):
...     total = 0.0
...     for i in range(scores.size):
...         gap = scores[i] - labels[i]
...         gradient[i] = 2 * scale * gap
...         curvature[i] = 2 * scale
...         total += scale * gap * gap
...     return total
>>> squared.wants
('scale',)
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import (
    FASTMATH,
    LONGEST_WITH_PAIRS,
    ListFunction,
    call_of_list,
    explained_compile_errors,
    make,
)
from rankplug.data import Integers
from rankplug.errors import DataError
from rankplug.registry import Parameters
from rankplug.samplers import ListSampler
from rankplug.system import threads, workers

if TYPE_CHECKING:
    from rankplug.losses.objectives import Evaluation, Objective, ScoredLists

Cost = Literal["documents", "pairs"]
COST_IN_LONG_LISTS = 1_000.0
"""Cost of a document in the function for long lists, in looks at a pair."""


class ListConstants(ListFunction):
    """Fills what a loss computes of one list before training."""

    supplied = frozenset({"constants", "labels", "list_key", "seed", "query"})


def list_constants(function: Callable[..., Any]) -> ListConstants:
    """Make a function that computes constants of one list before training; a decorator."""
    return ListConstants(function)


@dataclass(frozen=True)
class LongLists:
    """A second function of a loss, for its long lists; it is compiled where there is such a list.

    Args:
        function: loss of one list that computes the same; it gets the constants and parameters of the loss.
        is_faster: whether it is faster, from a list's labels and the parameters.
    """

    function: ListLoss
    is_faster: Callable[[NDArray[np.float64], Any], bool]

    def among(self, labels: NDArray[np.float64], starts: Integers, parameters: Parameters) -> NDArray[np.bool_]:
        """Return which lists the function is for."""
        is_long = np.diff(starts) > LONGEST_WITH_PAIRS
        for query in np.flatnonzero(is_long):
            is_long[query] = self.is_faster(labels[starts[query] : starts[query + 1]], parameters)
        return is_long


class ListLoss(ListFunction):
    """A loss of one list, and how to prepare it.

    Args:
        function: fills the gradient and the curvature and returns the loss.
        constants: fills a list's constants, which the loss then receives.
        constants_length: how many numbers they are, from the lists' lengths.
        cost: whether time grows with the documents or with the pairs of a list; only for sharing out work.
        long_lists: how long lists are computed, if not by the function.
        fastmath: LLVM's flags; the default assumes neither finite nor associative numbers away, only order.
    """

    supplied = frozenset(
        {"scores", "labels", "gradient", "curvature", "constants", "order", "key", "list_key", "seed", "query"}
        | {"iteration", "newton", "valued"}
    )

    def __init__(
        self,
        function: Callable[..., Any],
        constants: Callable[..., Any] | None = None,
        constants_length: Callable[[Integers, Any], Any] | None = None,
        cost: Cost = "pairs",
        long_lists: LongLists | None = None,
        fastmath: frozenset[str] | bool = FASTMATH,
    ) -> None:
        super().__init__(function, fastmath)
        self.constants = (
            constants if constants is None or isinstance(constants, ListConstants) else ListConstants(constants)
        )
        self.constants_length = constants_length
        self.cost = cost
        self.long_lists = long_lists

    def prepared_constants(
        self, labels: NDArray[np.float64], starts: Integers, parameters: Parameters, seed: int
    ) -> tuple[NDArray[np.float64], Integers]:
        """Return the constants of all lists in one array, and the offsets at which those of each list start."""
        offsets = np.zeros(starts.size, np.int64)
        if self.constants is None or self.constants_length is None:
            return np.empty(0), offsets
        offsets[1:] = self.constants_length(starts[1:] - starts[:-1], parameters)
        np.add.accumulate(offsets, out=offsets)
        constants = np.zeros(int(offsets[-1]))
        if not constants.size:
            return constants, offsets
        with explained_compile_errors(self.constants):
            _lifted_constants(self.constants)(
                starts.size - 1,
                starts=starts,
                labels=labels,
                constant_starts=offsets,
                constants=constants,
                seed=seed,
                parameters=self.constants.numbers(parameters),
            )
        if np.maximum.reduce(constants) == np.inf:
            raise DataError(f"labels of up to {labels.max():g} are too large for {self.__name__}: its gains overflow")
        return constants, offsets

    def bind(self, objective: Objective) -> Callable[[ScoredLists, Evaluation], None]:
        """Return what computes the loss over the lists of an objective."""
        return _BoundLoss(self, objective)


class _BoundLoss:
    """A compiled loss over the lists of an objective, on all threads."""

    def __init__(self, function: ListLoss, objective: Objective) -> None:
        loss, sampler = objective.loss, objective.sampler
        parameters = loss.parameters
        constants, constant_starts = function.prepared_constants(
            objective.labels, objective.starts, parameters, objective.seed
        )
        self.objective, self.function = objective, function
        self.samples = 1 if sampler is None else sampler.samples
        self.fixed = {
            "data_starts": objective.starts,
            "labels": objective.labels,
            "constant_starts": constant_starts,
            "constants": constants,
            "order": objective.positions() if "order" in function.arguments else np.empty(0, np.int32),
            "weights": objective.list_weights,
            "seed": objective.seed,
            "newton": objective.step == "newton",
            "samples": self.samples,
            "parameters": function.numbers(parameters),
            "sampler_parameters": () if sampler is None else sampler.numbers,
        }
        noise = None if sampler is None else sampler.function
        lifted = functools.partial(lifted_loss, sampler=noise, shift_invariant=loss.specification.shift_invariant)
        self.compiled = lifted(function)
        self.long: NDArray[np.bool_] | None = None
        if function.long_lists is not None and objective.lengths.max(initial=0) > LONGEST_WITH_PAIRS:
            long_function = function.long_lists.function
            self.long = function.long_lists.among(objective.labels, objective.starts, parameters)
            self.compiled_for_long = lifted(long_function)
            self.fixed_for_long = {
                **self.fixed,
                "order": objective.positions(),
                "parameters": long_function.numbers(parameters),
            }

    @functools.cached_property
    def cost(self) -> NDArray[np.float64]:
        """Cost of each list, in looks at a pair."""
        lengths = self.objective.lengths.astype(np.float64)
        cost = lengths**2 if self.function.cost == "pairs" else 20.0 * lengths
        if self.long is not None:
            cost = np.where(self.long, COST_IN_LONG_LISTS * lengths, cost)
        return self.samples * cost

    def __call__(self, scored: ScoredLists, out: Evaluation) -> None:
        varying = {**scored._asdict(), **_outputs(out)}

        def compute(begin: int, end: int) -> None:
            if self.long is None:
                self.compiled(begin, end, **self.fixed, **varying)
                return
            for is_long, members in itertools.groupby(range(begin, end), self.long[scored.lists].__getitem__):
                run = list(members)
                if is_long:
                    self.compiled_for_long(run[0], run[-1] + 1, **self.fixed_for_long, **varying)
                else:
                    self.compiled(run[0], run[-1] + 1, **self.fixed, **varying)

        with explained_compile_errors(self.function):
            if threads() == 1:
                compute(0, scored.lists.size)
            else:
                chunks = workers.chunks_of(self.cost[scored.lists], threads(), self.objective.worth_threads)
                workers.run(compute, chunks)


def _outputs(out: Evaluation) -> dict[str, Any]:
    """Return the arrays to fill by argument: of one precision those asked for, of the other none.

    The loop takes both, so that it is compiled once for networks, which want doubles, and boosting, which wants single
    precision.
    """
    single = out.gradient.dtype == np.float32
    doubles, singles = np.empty(0), np.empty(0, np.float32)
    return {
        "value": out.value,
        "single": single,
        "gradient": doubles if single else out.gradient,
        "curvature": doubles if single else out.curvature,
        "single_gradient": out.gradient if single else singles,
        "single_curvature": out.curvature if single else singles,
    }


def list_loss(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a loss from a function of one list; a decorator, with or without the options of :class:`ListLoss`."""
    if function is None:
        return functools.partial(ListLoss, **options)
    return ListLoss(function, **options)


@functools.lru_cache(maxsize=512)
def lifted_loss(loss: ListFunction, sampler: ListSampler | None, shift_invariant: bool) -> Any:
    """Compile the loss over all lists, averaged over a sampler's samples if there is one."""
    parts: dict[str, ListFunction] = {"one_list": loss}
    if sampler is not None:
        parts["perturb"] = sampler
    body = PLAIN if sampler is None else EXPECTED
    text = LOSS.format(
        body=body.format(
            arguments=call_of_list(loss, "parameters", scores="a" if sampler else None),
            sampled=call_of_list(sampler, "sampler_parameters") if sampler else "",
            normalise="" if shift_invariant else NORMALISE,
            chain="" if shift_invariant else CHAIN,
        )
    )
    return make(text, parts)


@functools.lru_cache(maxsize=512)
def _lifted_constants(constants: ListConstants) -> Any:
    return make(CONSTANTS.format(arguments=call_of_list(constants, "parameters")), {"one_list": constants})


LOSS = """
def lifted(
    begin, end, lists, starts, scores, data_starts, labels, constant_starts, constants, order, weights, seed,
    iteration, newton, valued, samples, parameters, sampler_parameters, value, single,
    gradient, curvature, single_gradient, single_curvature,
):
    longest = 0
    for b in range(begin, end):
        longest = max(longest, starts[b + 1] - starts[b])
    all_g = scratch(longest)
    all_h = scratch(longest)
    for b in range(begin, end):
        q = lists[b]
        d = data_starts[q]
        first = starts[b]
        n = starts[b + 1] - first
        f = scores[first:first + n]
        g = all_g[:n]
        h = all_h[:n]
        weight = weights[q]
        {body}
        if single:
            for i in range(n):
                single_gradient[first + i] = g[i]
                single_curvature[first + i] = h[i]
        else:
            for i in range(n):
                gradient[first + i] = g[i]
                curvature[first + i] = h[i]
"""

PLAIN = """
        key = key_of(seed, iteration, q, 0)
        g[:] = 0.0
        h[:] = 1.0
        value[b] = weight * one_list({arguments})
        for i in range(n):
            g[i] *= weight
            h[i] *= weight
"""

EXPECTED = """
        a = scratch(n)
        total_g = zeros(n)
        total_h = zeros(n)
        total = 0.0
        for t in range(samples):
            key = key_of(seed, iteration, q, 2 * t + 1)
            slope = perturb({sampled})
            {normalise}
            key = key_of(seed, iteration, q, 2 * t)
            g[:] = 0.0
            h[:] = 1.0
            total += one_list({arguments})
            {chain}
            for i in range(n):
                total_g[i] += slope * g[i]
                total_h[i] += slope * slope * h[i]
        value[b] = weight * total / samples
        for i in range(n):
            g[i] = weight * total_g[i] / samples
            h[i] = weight * total_h[i] / samples
"""

NORMALISE = "make_log_probabilities(a)"

# Through the log-softmax: J'g = g - p sum(g); of the curvature, the diagonal of J'HJ, which is never negative.
CHAIN = """
            sum_g = g.sum()
            sum_h = h.sum()
            for i in range(n):
                p = exp(a[i])
                g[i] -= p * sum_g
                h[i] = h[i] * (1.0 - 2.0 * p) + p * p * sum_h
"""

CONSTANTS = """
def lifted(lists, starts, labels, constant_starts, constants, seed, parameters):
    for q in range(lists):
        d = starts[q]
        n = starts[q + 1] - d
        one_list({arguments})
"""
