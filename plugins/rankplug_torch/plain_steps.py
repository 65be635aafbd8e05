"""Adam's steps of a network that is nothing but plain layers, without PyTorch's record of operations.

With one list a step, as papers have it, recording operations, walking them back and the checks of an optimiser take as
long as the arithmetic. Here the same operations are called in the same order, so that weights are equal bit for bit;
a network of other modules, and another optimiser, go PyTorch's usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from rankplug_torch.networks import OneColumn, Score
from rankplug_torch.plugin import TorchParameters

aten = torch.ops.aten
BETAS, EPSILON = (0.9, 0.999), 1e-8
"""PyTorch's numbers of Adam."""
LINEAR = (nn.Linear, Score)
PULLED_BACK: Mapping[type[nn.Module], Callable[[Any, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    nn.ELU: lambda layer, gradient, before, after: aten.elu_backward(gradient, layer.alpha, 1.0, 1.0, False, before),
    nn.ReLU: lambda layer, gradient, before, after: aten.threshold_backward(gradient, after, 0.0),
    nn.Tanh: lambda layer, gradient, before, after: aten.tanh_backward(gradient, after),
    nn.Identity: lambda layer, gradient, before, after: gradient,
    OneColumn: lambda layer, gradient, before, after: gradient.unsqueeze(-1),
}
"""Kind of a layer without weights -> the gradient with respect to its input, from that of its output."""


class PlainSteps:
    """A network's scores of a step, and Adam's step from their gradient.

    Args:
        network: layers that :func:`are_plain`.
        settings: clip and weight decay of the steps.
    """

    def __init__(self, network: nn.Sequential, settings: TorchParameters) -> None:
        self.network, self.settings = network, settings
        self.weights = [weight.data for weight in network.parameters()]
        self.means = [torch.zeros_like(weight) for weight in self.weights]
        self.squares = [torch.zeros_like(weight) for weight in self.weights]
        self.step_count = [torch.zeros(())] * len(self.weights)
        self.passed: list[torch.Tensor] = []

    @torch.no_grad()
    def scores(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores of some documents; what passes between layers is stored for the step."""
        self.passed = [features]
        for layer in self.network:
            self.passed.append(layer(self.passed[-1]))
        return self.passed[-1]

    @torch.no_grad()
    def step(self, gradient: torch.Tensor, rate: float) -> None:
        """Take a step from the gradient of the last scores."""
        gradients = self._of_weights(gradient)
        if self.settings.clip is not None:
            norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients, 2.0)), 2.0)
            torch._foreach_mul_(gradients, torch.clamp(self.settings.clip / (norm + 1e-6), max=1.0))
        self.step_count[0].add_(1.0)
        torch._fused_adam_(
            self.weights, gradients, self.means, self.squares, [], self.step_count, lr=rate, beta1=BETAS[0],
            beta2=BETAS[1], weight_decay=self.settings.l2, eps=EPSILON, amsgrad=False, maximize=False,
        )  # fmt: skip

    def _of_weights(self, gradient: torch.Tensor) -> list[torch.Tensor]:
        """Return the gradients of the weights, in the order of the network's parameters."""
        backwards: list[torch.Tensor] = []
        for number in range(len(self.network) - 1, -1, -1):
            layer, before, after = self.network[number], self.passed[number], self.passed[number + 1]
            if not isinstance(layer, nn.Linear):
                gradient = PULLED_BACK[type(layer)](layer, gradient, before, after)
                continue
            if layer.bias is not None:
                backwards.append(gradient.sum(0))
            backwards.append(gradient.t().mm(before))
            if number:
                gradient = gradient.mm(layer.weight)
        return backwards[::-1]


def plain_steps_of(network: nn.Module, settings: TorchParameters) -> PlainSteps | None:
    """Return the steps of a network and optimiser that are plain, of others None."""
    if settings.optimiser != "adam" or settings.autocast or torch.device(settings.device).type != "cpu":
        return None
    return PlainSteps(network, settings) if isinstance(network, nn.Sequential) and are_plain(network) else None


def are_plain(network: nn.Sequential) -> bool:
    """Tell whether a network is only linear layers and activations, each with weights of its own that are trained."""
    weights = [weight for layer in network for weight in layer.parameters()]
    return (
        type(network) is nn.Sequential
        and all(type(layer) in LINEAR or type(layer) in PULLED_BACK for layer in network)
        and not any(getattr(layer, "inplace", False) or _has_hooks(layer) for layer in (network, *network))
        and all(weight.requires_grad and weight.dtype == torch.float32 for weight in weights)
        and len(list(network.parameters())) == len(weights) > 0
    )


def _has_hooks(layer: nn.Module) -> bool:
    return any(value for name, value in vars(layer).items() if name.endswith(("ward_hooks", "ward_pre_hooks")))
