"""Samplers written as a compiled function of one list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankplug.compiled import ListFunction, call_of_list, make


class ListSampler(ListFunction):
    """Noise on the scores of one list.

    The function fills ``perturbed`` and returns the derivative of a perturbed score with respect to its score.
    """

    supplied = frozenset({"scores", "key", "perturbed"})


def list_sampler(function: Callable[..., Any]) -> ListSampler:
    """Make a sampler from a function of one list; a decorator."""
    return ListSampler(function)


def lifted_sampler(sampler: ListSampler) -> Any:
    """Compile a sampler over lists: draws normalised to log-probabilities, and the derivative of each to its score."""
    return make(SAMPLER.format(sampled=call_of_list(sampler, "sampler_parameters")), {"perturb": sampler})


SAMPLER = """
def lifted(begin, end, lists, starts, scores, seed, iteration, samples, sampler_parameters, draws, slopes):
    for b in range(begin, end):
        q = lists[b]
        first = starts[b]
        n = starts[b + 1] - first
        f = scores[first:first + n]
        for t in range(samples):
            key = key_of(seed, iteration, q, 2 * t + 1)
            a = draws[t, first:first + n]
            slopes[t, b] = perturb({sampled})
            make_log_probabilities(a)
"""
