"""Networks that score each document by itself, and self-attention between the documents of a list."""

from __future__ import annotations

import itertools
from typing import Literal, Protocol

import numpy as np
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from rankplug.data import Integers
from rankplug.errors import ParameterError
from rankplug.registry import Parameters
from rankplug_torch.plugin import Attention, Network

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


class Block(nn.Module):
    """Attention inside each list and a feed-forward layer, both with a residual and a normalisation before them."""

    def __init__(self, settings: Attention) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.heads
        self.before_attention, self.before_layer = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.layer = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, documents: torch.Tensor, starts: Integers) -> torch.Tensor:
        documents = documents + self.dropout(self.out(self._attend(self.before_attention(documents), starts)))
        documents = documents + self.dropout(self.layer(self.before_layer(documents)))
        return documents

    def _attend(self, documents: torch.Tensor, starts: Integers) -> torch.Tensor:
        parts = self.queries_keys_values(documents).unflatten(-1, (3, self.heads, -1)).permute(1, 2, 0, 3)
        attended = [
            scaled_dot_product_attention(*(part[None, :, begin:end] for part in parts))[0]
            for begin, end in itertools.pairwise(starts.tolist())
        ]
        return torch.cat(attended, dim=1).transpose(0, 1).flatten(1)


class AttentionScorer(nn.Module):
    """An embedding of each document, attention blocks, and a linear score."""

    sees_lists = True

    def __init__(self, settings: Attention, features: int) -> None:
        super().__init__()
        if settings.width % settings.heads:
            raise ParameterError(f"scorer attention: width={settings.width} is no multiple of heads={settings.heads}")
        self.embedding = nn.Linear(features, settings.width)
        self.blocks = nn.ModuleList(Block(settings) for _ in range(settings.blocks))
        self.score = Score(settings.width, 1)

    def forward(self, features: torch.Tensor, starts: Integers) -> torch.Tensor:
        documents = self.embedding(features)
        for block in self.blocks:
            documents = block(documents, np.asarray(starts))
        scores: torch.Tensor = self.score(documents).squeeze(-1)
        return scores
