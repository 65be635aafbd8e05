"""Samplers by name: laws of noise on the scores, see :mod:`rankplug.samplers.list_samplers` for how one is written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import explained_compile_errors, writable
from rankplug.data import Integers, check_starts
from rankplug.registry import Named, Parameters, parse, registry
from rankplug.samplers.list_samplers import ListSampler, lifted_sampler
from rankplug.system import LARGEST_SEED, whole_number


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
        """Number of draws."""
        return samples_of(self.parameters)

    @property
    def numbers(self) -> tuple[float | int | bool, ...]:
        """Its parameters, as the compiled function takes them."""
        return self.function.numbers(self.parameters)

    def draw(self, scores: ArrayLike, starts: ArrayLike, *, seed: int = 0, iteration: int = 0) -> NDArray[np.float64]:
        """Draw perturbed scores, one row a sample, each list normalised to log-probabilities."""
        packed = writable(scores, "scores")
        offsets = check_starts(starts, packed.size)
        noise = whole_number(seed, "seed", most=LARGEST_SEED), whole_number(iteration, "iteration", most=LARGEST_SEED)
        return self.draws_and_slopes(packed, offsets, np.arange(offsets.size - 1), *noise)[0]

    def draws_and_slopes(
        self, scores: NDArray[np.float64], starts: Integers, lists: Integers, seed: int, iteration: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw for the named lists, and return with each draw the derivative of a perturbed score to its score."""
        draws, slopes = np.empty((self.samples, scores.size)), np.empty((self.samples, lists.size))
        with explained_compile_errors(self.function):
            lifted_sampler(self.function)(
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
    """Return the number of draws among a sampler's parameters."""
    return int(parameters.samples)  # type: ignore[attr-defined]


def sampler(reference: Named | Sampler) -> Sampler:
    """Return the sampler of a name, such as ``"gumbel[beta=0.25,samples=8]"``."""
    return Sampler.named(reference)
