"""Samplers: noise on the scores of one list, written as a compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import ListFunction, call_of_list, explained_compile_errors, make, writable
from rankplug.data import Integers, check_starts
from rankplug.registry import Named, Parameters, parse, registry
from rankplug.system import LARGEST_SEED, whole_number


class ListSampler(ListFunction):
    """Noise on the scores of one list.

    The function fills ``perturbed`` and returns the derivative of a perturbed score with respect to its score.
    """

    supplied = frozenset({"scores", "key", "perturbed"})


def list_sampler(function: Callable[..., Any]) -> ListSampler:
    """Make a sampler from a function of one list; a decorator."""
    return ListSampler(function)


class Sampler:
    """A sampler with its parameters.

    Args:
        reference: its name, such as ``"gumbel[beta=0.25,samples=8]"``.
    """

    def __init__(self, reference: Named) -> None:
        self.reference = parse(reference)
        self.specification, self.parameters = registry().resolve("sampler", self.reference)
        self.function: ListSampler = self.specification.load()

    @staticmethod
    def named(reference: Named | Sampler) -> Sampler:
        """Return the sampler of a name, or the sampler itself."""
        return reference if isinstance(reference, Sampler) else Sampler(reference)

    def __str__(self) -> str:
        return str(self.reference)

    def __repr__(self) -> str:
        return f"<sampler {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Sampler, (self.reference,)

    @property
    def samples(self) -> int:
        """Number of samples."""
        return samples_of(self.parameters)

    @property
    def numbers(self) -> tuple[float | int | bool, ...]:
        """Its parameters, as the compiled function takes them."""
        return self.function.numbers(self.parameters)

    def draw(self, scores: ArrayLike, starts: ArrayLike, *, seed: int = 0, iteration: int = 0) -> NDArray[np.float64]:
        """Return perturbed scores, one row a sample, each list normalised to log-probabilities."""
        packed = writable(scores, "scores")
        offsets = check_starts(starts, packed.size)
        noise = whole_number(seed, "seed", most=LARGEST_SEED), whole_number(iteration, "iteration", most=LARGEST_SEED)
        return self.draws_and_slopes(packed, offsets, np.arange(offsets.size - 1), *noise)[0]

    def draws_and_slopes(
        self, scores: NDArray[np.float64], starts: Integers, lists: Integers, seed: int, iteration: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return perturbed scores of some lists, and of each sample the derivative of perturbed scores to scores."""
        draws, slopes = np.empty((self.samples, scores.size)), np.empty((self.samples, lists.size))
        with explained_compile_errors(self.function):
            _lifted(self.function)(
                0,
                lists.size,
                lists=lists,
                starts=starts,
                scores=scores,
                seed=seed,
                iteration=iteration,
                samples=self.samples,
                sampler_parameters=self.numbers,
                draws=draws,
                slopes=slopes,
            )
        return draws, slopes


def samples_of(parameters: Parameters) -> int:
    """Return the number of samples among a sampler's parameters."""
    return int(parameters.samples)  # type: ignore[attr-defined]


def sampler(reference: Named | Sampler) -> Sampler:
    """Return the sampler of a name, such as ``"gumbel[beta=0.25,samples=8]"``."""
    return Sampler.named(reference)


def _lifted(sampler: ListSampler) -> Any:
    """Compile a sampler over lists: samples as log-probabilities, and the derivative of each to its score."""
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
