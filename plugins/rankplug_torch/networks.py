"""Networks that score each document by itself."""

from __future__ import annotations

from typing import Literal, Protocol

import torch
from torch import nn

from rankplug.registry import Parameters
from rankplug_torch.plugin import Network

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "elu": nn.ELU, "tanh": nn.Tanh, "none": nn.Identity}


class OneColumn(nn.Module):
    """The last layer: a column of scores as a row."""

    def forward(self, column: torch.Tensor) -> torch.Tensor:
        return column.squeeze(-1)


class Score(nn.Linear):
    """The layer of scores, in float32 where matrix products are in bfloat16 too, which would make many scores equal."""

    def forward(self, documents: torch.Tensor) -> torch.Tensor:
        if not torch.is_autocast_enabled(documents.device.type):
            return super().forward(documents)
        with torch.autocast(documents.device.type, enabled=False):
            return super().forward(documents.float())


def linear(parameters: Parameters, features: int) -> nn.Module:
    """Build ``w x``, starting from zero; a constant would change no ranking."""
    layer = Score(features, 1, bias=False)
    nn.init.zeros_(layer.weight)
    return nn.Sequential(layer, OneColumn())


class Layers(Protocol):
    """The parameters of hidden layers."""

    layers: tuple[int, ...]
    activation: Literal["relu", "elu", "tanh"]
    batch_norm: bool
    input_batch_norm: bool
    momentum: float

    @property
    def dropout(self) -> float | tuple[float, ...]: ...


def hidden_layers(network: Layers, features: int) -> tuple[list[nn.Module], int]:
    """Build all of an ``mlp`` but its output, and return it with the width it ends with."""
    last_only = (0.0,) * (len(network.layers) - 1)
    dropout = network.dropout if isinstance(network.dropout, tuple) else (*last_only, network.dropout)
    modules: list[nn.Module] = []
    if network.input_batch_norm:
        modules.append(nn.BatchNorm1d(features, momentum=network.momentum))
    width = features
    for units, left_out in zip(network.layers, dropout, strict=True):
        modules.append(nn.Linear(width, units))
        if network.batch_norm:
            modules.append(nn.BatchNorm1d(units, momentum=network.momentum))
        modules.append(ACTIVATIONS[network.activation]())
        if left_out:
            modules.append(nn.Dropout(left_out))
        width = units
    return modules, width


def mlp(network: Network, features: int) -> nn.Module:
    """Build hidden layers with their activation, and a linear score."""
    modules, width = hidden_layers(network, features)
    output = [Score(width, 1), ACTIVATIONS[network.output_activation](), OneColumn()]
    return initialised(nn.Sequential(*modules, *output), network.initialisation)


def initialised(module: nn.Module, law: str) -> nn.Module:
    """Initialise the weights of a module by a law, unless that is PyTorch's own."""
    if law == "glorot":
        for layer in module.modules():
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
    return module
