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

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

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
from rankplug.errors import BrokenPluginError, DataError
from rankplug.registry import Parameters
from rankplug.samplers import ListSampler
from rankplug.system import threads, workers

if TYPE_CHECKING:
    from rankplug.losses.objectives import Evaluation, Objective, ScoredLists

Cost = Literal["documents", "pairs"]
COST_IN_LONG_LISTS = 1_000.0
"""Cost of a document in the function for long lists, in looks at a pair."""


def check_cost(cost: str) -> None:
    """Raise an error if a loss's cost is an unknown word."""
    if cost not in ("documents", "pairs"):
        raise BrokenPluginError(f"cost={cost!r} is not possible: documents, pairs")


class ListConstants(ListFunction):
    """Fills what a loss computes of one list before training."""

    supplied = frozenset({"constants", "labels", "list_key", "seed", "query"})

    def of_lists(
        self,
        labels: NDArray[np.float64],
        starts: Integers,
        offsets: Integers,
        parameters: Parameters,
        seed: int,
        first: int = 0,
    ) -> NDArray[np.float64]:
        """Return the constants of some lists in one array; those of a list start at its offset.

        Args:
            labels: labels of all lists.
            starts: position of each list's first label, and the end of the last list.
            offsets: position of each list's first constant, and the end of the last list's.
            parameters: parameters of the loss.
            seed: seed of the noise.
            first: first list that gets constants.
        """
        constants = np.zeros(int(offsets[-1]))
        fill = make(CONSTANTS.format(arguments=call_of_list(self, "parameters")), {"one_list": self})
        with explained_compile_errors(self):
            fill(
                first,
                starts.size - 1,
                starts=starts,
                labels=labels,
                constant_starts=offsets,
                constants=constants,
                seed=seed,
                parameters=self.numbers(parameters),
            )
        return constants


def list_constants(function: Callable[..., Any]) -> ListConstants:
    """Make a function that computes constants of one list before training; a decorator."""
    return ListConstants(function)


@dataclass(frozen=True)
class LongLists:
    """A second function of a loss, for its long lists; it is compiled where there is such a list.

    Args:
        function: loss of one list that computes the same; it gets the constants and parameters of the loss.
        is_faster: whether it is faster, from a list's labels and the parameters.
        longer_than: number of documents of the longest list that the loss's own function computes in any case.
    """

    function: ListLoss
    is_faster: Callable[[NDArray[np.float64], Any], bool]
    longer_than: int = LONGEST_WITH_PAIRS

    def among(self, labels: NDArray[np.float64], starts: Integers, parameters: Parameters) -> NDArray[np.bool_]:
        """Return which lists the function is for."""
        is_long = np.diff(starts) > self.longer_than
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
        constants: Callable[..., Any] | None,
        constants_length: Callable[[Integers, Any], Any] | None,
        cost: Cost,
        long_lists: LongLists | None,
        fastmath: frozenset[str] | bool,
    ) -> None:
        super().__init__(function, fastmath)
        check_cost(cost)
        self.constants = (
            constants if constants is None or isinstance(constants, ListConstants) else list_constants(constants)
        )
        self.constants_length = constants_length
        self.cost = cost
        self.long_lists = long_lists

    def prepared_constants(
        self, labels: NDArray[np.float64], starts: Integers, parameters: Parameters, seed: int
    ) -> tuple[NDArray[np.float64], Integers]:
        """Return the constants of all lists in one array, and the offsets at which those of each list start."""
        lists = starts.size - 1
        if self.constants is None or self.constants_length is None:
            return np.empty(0), np.zeros(lists + 1, np.int64)
        lengths = np.broadcast_to(np.asarray(self.constants_length(np.diff(starts), parameters)), (lists,))
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        if offsets[-1] == 0:
            return np.empty(0), offsets
        constants = self.constants.of_lists(labels, starts, offsets, parameters, seed)
        if np.isinf(constants).any():
            raise DataError(f"labels of up to {labels.max():g} are too large for {self.__name__}: its gains overflow")
        return constants, offsets

    def bind(self, objective: Objective) -> Callable[[ScoredLists, Evaluation], None]:
        """Return what computes the loss over the lists of an objective."""
        return _BoundLoss(self, objective)


class _BoundLoss:
    """A compiled loss over lists, on all threads.

    Args:
        function: the loss of one list.
        objective: the labels, weights, sampler and seed it is bound to.
    """

    def __init__(self, function: ListLoss, objective: Objective) -> None:
        loss, sampler = objective.loss, objective.sampler
        constants, constant_starts = function.prepared_constants(
            objective.labels, objective.starts, loss.parameters, objective.seed
        )
        positions = np.arange(objective.labels.size) - np.repeat(objective.starts[:-1], objective.lengths)
        self.objective, self.function = objective, function
        self.samples = 1 if sampler is None else sampler.samples
        self.fixed = {
            "data_starts": objective.starts,
            "labels": objective.labels,
            "constant_starts": constant_starts,
            "constants": constants,
            "order": positions.astype(np.int32),
            "weights": objective.list_weights,
            "seed": objective.seed,
            "newton": objective.step == "newton",
            "samples": self.samples,
            "parameters": function.numbers(loss.parameters),
            "sampler_parameters": () if sampler is None else sampler.numbers,
        }
        lengths = objective.lengths.astype(np.float64)
        self.cost = self.samples * (lengths**2 if function.cost == "pairs" else 20.0 * lengths)
        noise, shift_invariant = None if sampler is None else sampler.function, loss.specification.shift_invariant
        self.compiled = lifted_loss(function, noise, shift_invariant)
        self.long = np.zeros(lengths.size, np.bool_)
        if function.long_lists is not None:
            self.long = function.long_lists.among(objective.labels, objective.starts, loss.parameters)
        if function.long_lists is not None and self.long.any():
            self.cost[self.long] = self.samples * COST_IN_LONG_LISTS * lengths[self.long]
            self.compiled_for_long = lifted_loss(function.long_lists.function, noise, shift_invariant)
            self.parameters_for_long = function.long_lists.function.numbers(loss.parameters)

    def __call__(self, scored: ScoredLists, out: Evaluation) -> None:
        arguments = {**self.fixed, **scored._asdict(), **_outputs(out)}
        compute: Callable[[int, int], object] = lambda begin, end: self.compiled(begin, end, **arguments)  # noqa: E731
        if self.long.any():
            compute = self._by_length(scored.lists, arguments)
        with explained_compile_errors(self.function):
            if threads() == 1:
                compute(0, scored.lists.size)
            else:
                chunks = workers.chunks_of(self.cost[scored.lists], threads(), self.objective.worth_threads)
                workers.run(compute, chunks)

    def _by_length(self, lists: Integers, arguments: dict[str, Any]) -> Callable[[int, int], None]:
        """Return a call that computes each list of a range by the function for its length."""
        for_long = {**arguments, "parameters": self.parameters_for_long}
        long = self.long[lists]

        def compute(begin: int, end: int) -> None:
            for is_long, positions in itertools.groupby(range(begin, end), long.__getitem__):
                run = list(positions)
                if is_long:
                    self.compiled_for_long(run[0], run[-1] + 1, **for_long)
                else:
                    self.compiled(run[0], run[-1] + 1, **arguments)

        return compute


def _outputs(out: Evaluation) -> dict[str, Any]:
    """Return the arrays to fill by argument: of one precision those asked for, of the other none.

    The loop takes both, so that it is compiled once for networks, which want doubles, and boosting, which wants single
    precision.
    """
    single = out.gradient.dtype == np.float32
    doubles, singles = (np.empty(0), np.empty(0, np.float32))
    return {
        "value": out.value,
        "single": single,
        "gradient": doubles if single else out.gradient,
        "curvature": doubles if single else out.curvature,
        "single_gradient": out.gradient if single else singles,
        "single_curvature": out.curvature if single else singles,
    }


@overload
def list_loss(function: Callable[..., Any]) -> ListLoss: ...


@overload
def list_loss(
    function: None = None,
    *,
    constants: Callable[..., Any] | None = None,
    constants_length: Callable[[Integers, Any], Any] | None = None,
    cost: Cost = "pairs",
    long_lists: LongLists | None = None,
    fastmath: frozenset[str] | bool = FASTMATH,
) -> Callable[[Callable[..., Any]], ListLoss]: ...


def list_loss(
    function: Callable[..., Any] | None = None,
    *,
    constants: Callable[..., Any] | None = None,
    constants_length: Callable[[Integers, Any], Any] | None = None,
    cost: Cost = "pairs",
    long_lists: LongLists | None = None,
    fastmath: frozenset[str] | bool = FASTMATH,
) -> ListLoss | Callable[[Callable[..., Any]], ListLoss]:
    """Make a loss from a function of one list; a decorator, with or without arguments."""

    def decorate(function: Callable[..., Any]) -> ListLoss:
        return ListLoss(function, constants, constants_length, cost, long_lists, fastmath)

    return decorate if function is None else decorate(function)


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
def lifted(begin, end, starts, labels, constant_starts, constants, seed, parameters):
    for q in range(begin, end):
        d = starts[q]
        n = starts[q + 1] - d
        one_list({arguments})
"""
