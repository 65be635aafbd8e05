"""A loss under test, the inputs it is tried on, and how two results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field

from rankplug.compiled import log, uniform
from rankplug.losses import Evaluation, Loss, loss
from rankplug.registry import Parameters, Reference, SamplerSpecification
from rankplug.samplers import Sampler, list_sampler
from rankplug.testing.check_input import CheckInput, Floats
from rankplug.testing.checks import Contract


@dataclass(frozen=True)
class Case:
    """A loss under test.

    Args:
        name: the loss with its parameters.
        largest_label: labels are drawn from 0 to this; what the loss says it takes, or 4.
        zero_cases: where the gradient must be zero, of ``one document``, ``equal labels``, ``no relevant document``;
            what the loss says of itself.
        equal_labels_by_position: documents of equal label are told apart by their position.
        tolerance: of finite differences, relative to the largest derivative.
        longest: of the lists of the size check.
    """

    name: str
    largest_label: int | None = None
    zero_cases: frozenset[str] | None = None
    equal_labels_by_position: bool = False
    tolerance: float = 1e-5
    longest: int = 10_000
    seed: int = 20

    def __str__(self) -> str:
        return self.name

    @cached_property
    def loss(self) -> Loss:
        return loss(self.name)

    @property
    def noisy(self) -> bool:
        return bool({"noise", "sampled rankings"} & self.loss.specification.needs)

    @property
    def silent_on(self) -> frozenset[str]:
        return self.loss.specification.zero_gradient if self.zero_cases is None else self.zero_cases

    @property
    def highest_label(self) -> int:
        declared = self.loss.specification
        if self.largest_label is not None or declared.largest_label is not None:
            return self.largest_label or declared.largest_label or 1
        return 1 if "binary labels" in declared.needs else 4

    def shorter(self, length: int) -> int:
        """Return the length, or that of the longest list the loss can take."""
        return min(length, self.loss.specification.longest or length)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Return labels of which at least two differ, if there are two documents."""
        labels = generator.integers(0, self.highest_label + 1, documents).astype(float)
        if documents > 1:
            labels[0], labels[1] = self.highest_label, 0.0
        return labels

    def lists(self, *lengths: int) -> CheckInput:
        """Make lists of some lengths with scores that differ."""
        generator = np.random.default_rng(self.seed)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        labels = np.concatenate([self.labels(length, generator) for length in lengths])
        return CheckInput(generator.normal(size=int(starts[-1])), labels, starts)

    def evaluate(self, given: CheckInput, **options: Any) -> Evaluation:
        return self.loss.evaluate(given.scores, given.labels, given.starts, **options)


CONTRACT = Contract("loss", Case, "rp.loss({name!r}).evaluate(scores, labels, starts)")


def lists_of(*lengths: int) -> Callable[[Case], Iterator[CheckInput]]:
    """Make inputs of lists of some lengths, shorter where the loss says so."""

    def inputs(case: Case) -> Iterator[CheckInput]:
        yield case.lists(*(case.shorter(length) for length in lengths))

    return inputs


def same(here: Evaluation, there: Evaluation, tolerance: float) -> str | None:
    """Return the complaint that two results differ, or are not finite."""
    if complaint := not_finite(here) or not_finite(there):
        return complaint
    for name, first, other in zip(Evaluation._fields, here, there, strict=True):
        if not np.abs(first - other).max() <= tolerance * max(1.0, np.abs(first).max()):
            return f"the {name} differs, {shown(first)} and {shown(other)}"
    return None


def not_finite(result: Evaluation) -> str | None:
    """Return the complaint that a result is not finite."""
    for name, array in zip(Evaluation._fields, result, strict=True):
        if not np.isfinite(array).all():
            return f"the {name} is not finite, {shown(array)}"
    return None


def shown(array: Any) -> str:
    """Format numbers as a complaint shows them."""
    numbers = [float(f"{value:.6g}") for value in array[:12]]
    return f"[{', '.join(map(str, numbers))}{', ...' if len(array) > 12 else ''}]"


@list_sampler
def logistic(scores, key, perturbed, temperature):  # type: ignore[no-untyped-def]
    """Compute ``(f_i + log(U_i / (1 - U_i)) / 2) / temperature``; return the derivative, one over the temperature."""
    for i in range(scores.size):
        draw = uniform(key, i)
        perturbed[i] = (scores[i] + 0.5 * log(draw / (1.0 - draw))) / temperature
    return 1.0 / temperature


class NoiseParameters(Parameters):
    """Parameters of the contracts' noise."""

    samples: int = Field(2, ge=1, description="draws of each list")
    temperature: float = Field(1.25, gt=0, description="divisor of the perturbed scores")


class Noise(Sampler):
    """Logistic noise that no plugin offers.

    Args:
        samples: number of draws.
    """

    def __init__(self, samples: int = 2) -> None:
        self.reference = Reference("noise_of_contracts", {"samples": samples})
        self.parameters = NoiseParameters.model_validate({"samples": samples})
        self.specification = SamplerSpecification(
            name="noise_of_contracts", summary="logistic noise", implementation=logistic, parameters=NoiseParameters
        )
        self.function = logistic

    def __reduce__(self) -> tuple[Any, ...]:
        return Noise, (self.samples,)
