"""Noise on the scores for contracts, so that they need no installed sampler."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rankplug.compiled import log, uniform
from rankplug.registry import Parameters, Reference, SamplerSpecification
from rankplug.samplers import Sampler, list_sampler


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
