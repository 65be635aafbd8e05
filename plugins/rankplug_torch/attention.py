"""Self-attention between the documents of a list, on packed documents."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from rankplug.data import Integers
from rankplug.errors import ParameterError
from rankplug_torch.networks import Score
from rankplug_torch.plugin import Attention


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
