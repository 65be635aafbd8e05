"""A step of the stochastic paper's network on packed documents, beside the same on padded ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from rankplug_torch.networks import mlp

import rankplug as rp
from rankplug.registry import registry
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, at_most, measured
from rankplug_benchmarks.harness.rounds import Contestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import FEATURES, whole_lists

BATCH = 128
LAYERS = "(1024,512,256,128,64,32,16)"


def measure_step(effort: Effort, threads: int) -> Measurement:
    """Measure forward, loss, backward and Adagrad of one mini-batch."""
    lists = whole_lists(effort.size(BATCH, 4))
    layers = "(8,4)" if effort.quick else LAYERS
    _, parameters = registry().resolve("scorer", f"mlp[layers={layers},batch_norm=true,input_batch_norm=true]")
    objective = rp.loss("cross_entropy").on(lists.labels, lists.starts)
    mask = torch.arange(int(lists.lengths.max())) < torch.from_numpy(lists.lengths)[:, None]
    packed = torch.from_numpy(lists.features)
    padded = torch.zeros(*mask.shape, FEATURES)
    padded[mask] = packed

    def step(features: torch.Tensor, select: Callable[[torch.Tensor], torch.Tensor]) -> Contestant:
        torch.manual_seed(0)
        network: Any = mlp(parameters, FEATURES)  # type: ignore[arg-type]
        optimiser, turns = torch.optim.Adagrad(network.parameters(), 0.005), itertools.count()

        def run() -> None:
            scores = select(network(features))
            gradient = objective(scores.detach().numpy(), iteration=next(turns)).gradient
            optimiser.zero_grad(set_to_none=True)
            scores.backward(torch.from_numpy(gradient).float())
            optimiser.step()

        return run

    contestants = {
        "packed": step(packed, lambda scores: scores),
        "padded": step(padded.flatten(0, 1), lambda scores: scores.view(mask.shape)[mask]),
    }
    with use_threads(threads):
        rounds = by_turns(contestants, effort.rounds)
    return measured(
        f"step of a network with {layers.count(',') + 1} hidden layers on {len(lists)} lists: packed over padded",
        rounds,
        lambda seconds: seconds["packed"] / seconds["padded"],
        threads=threads,
        target=at_most(0.40),
    )


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure on one thread and on all."""
    yield from (measure_step(effort, threads) for threads in effort.threads)
