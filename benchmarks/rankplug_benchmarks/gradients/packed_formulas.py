"""Losses on packed documents as a good engineer writes them in PyTorch: pairs by index, sums by ``index_add``.

No list is padded, so no work is done for documents that are not there. All take the scores of all documents in single
precision and what :class:`PackedLists` knows of the lists, and return one value a query.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray


class PackedLists:
    """Lists one after another, with the indices that packed formulas need, computed once.

    Args:
        labels: of all documents.
        starts: where each list starts, and where the last one ends.
    """

    def __init__(self, labels: NDArray[np.float64], starts: NDArray[np.int64]) -> None:
        lengths = np.diff(starts)
        self.lists = lengths.size
        self.labels = torch.from_numpy(labels).float()
        self.owners = torch.from_numpy(np.repeat(np.arange(self.lists), lengths))
        self.starts = torch.from_numpy(starts)
        self.places = torch.arange(labels.size) - self.starts[self.owners]
        self.gains = torch.exp2(self.labels) - 1.0
        self.ideal = self.sums(self.gains[self.order_by(self.labels)] / torch.log2(2.0 + self.places))

    def sums(self, values: torch.Tensor, owners: torch.Tensor | None = None) -> torch.Tensor:
        """Return the sum of the values of each list."""
        owners = self.owners if owners is None else owners
        return torch.zeros(self.lists, dtype=values.dtype).index_add(0, owners, values)

    def order_by(self, values: torch.Tensor) -> torch.Tensor:
        """Return the documents of all lists, those of each list by their values, the largest first."""
        order = torch.argsort(values, descending=True, stable=True)
        return order[torch.argsort(self.owners[order], stable=True)]

    @cached_property
    def pairs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """All pairs of two documents of a list."""
        lengths = torch.diff(self.starts)
        first = torch.repeat_interleave(torch.arange(self.labels.numel()), lengths[self.owners])
        begins = torch.cumsum(lengths[self.owners], 0) - lengths[self.owners]
        second = torch.arange(first.numel()) - begins[first] + self.starts[self.owners[first]]
        apart = first != second
        return first[apart], second[apart]

    @cached_property
    def better(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Pairs of a document and one with a smaller label."""
        first, second = self.pairs
        chosen = self.labels[first] > self.labels[second]
        return first[chosen], second[chosen]

    @cached_property
    def better_owners(self) -> torch.Tensor:
        """The list of each pair of a document and one with a smaller label."""
        return self.owners[self.better[0]]


def approx_ndcg(scores: torch.Tensor, lists: PackedLists, eta: float = 10.0) -> torch.Tensor:
    """Compute Eq. 15-18 of the stochastic paper."""
    first, second = lists.pairs
    beaten = torch.sigmoid(eta * (scores[second] - scores[first]))
    ranks = torch.ones_like(scores).index_add(0, first, beaten)
    dcg = lists.sums(lists.gains * math.log(2.0) / torch.log1p(ranks))
    return -dcg / lists.ideal.clamp_min(1e-10)


def urank(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Compute Algorithm 1 of the unique-rating paper, with a log-sum-exp for its exponentials."""
    first, second = lists.better
    highest = _highest(scores, lists)
    grown = torch.exp(scores - highest)
    rivals = torch.zeros_like(scores).index_add(0, first, grown[second])
    counts = torch.zeros_like(scores).index_add(0, first, torch.ones_like(first, dtype=scores.dtype)) > 0
    terms = torch.where(counts, lists.gains * (torch.log(grown + rivals) + highest - scores), 0.0)
    present = torch.zeros(lists.lists, int(lists.labels.max()) + 1)
    present[lists.owners, lists.labels.long()] = 1.0
    return lists.sums(terms) / (present.sum(1) - 1).clamp_min(1)


def cross_entropy(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Compute softmax cross entropy against the labels' shares."""
    return _softmax_cross_entropy(scores, lists.labels, lists)


def xe_ndcg(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Compute softmax cross entropy against gains blurred at random."""
    return _softmax_cross_entropy(scores, torch.exp2(lists.labels) - torch.rand_like(lists.labels), lists)


def _softmax_cross_entropy(scores: torch.Tensor, masses: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    moved = scores - _highest(scores, lists)
    logs = moved - torch.log(lists.sums(torch.exp(moved)))[lists.owners]
    return -lists.sums(masses * logs) / lists.sums(masses).clamp_min(1e-10)


def lambdaloss(scores: torch.Tensor, lists: PackedLists, mu: float = 10.0) -> torch.Tensor:
    """Compute NDCG-Loss2++."""
    first, second = lists.better
    ranks = torch.empty_like(lists.places)
    ranks[lists.order_by(scores.detach())] = lists.places
    gains = lists.gains / lists.ideal.clamp_min(1e-10)[lists.owners]
    apart = (ranks[first] - ranks[second]).abs()
    delta = (1.0 / torch.log2(1.0 + apart) - 1.0 / torch.log2(2.0 + apart)).abs()
    discounts = 1.0 / torch.log2(2.0 + ranks)
    weights = (discounts[first] - discounts[second]).abs() + mu * delta
    pairs = weights * (gains[first] - gains[second]).abs() * _log_odds(scores, lists)
    return lists.sums(pairs, lists.better_owners) / math.log(2.0)


def ranknet(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Compute the logistic loss of every pair."""
    return lists.sums(_log_odds(scores, lists), lists.better_owners)


def listmle(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Compute the likelihood of the order of the labels, ties shuffled.

    The sums of a list's rest are differences of one running sum over all lists, in double precision.
    """
    order = lists.order_by(lists.labels + 0.5 * torch.rand_like(lists.labels))
    ranked = (scores - _highest(scores, lists))[order]
    grown = torch.exp(ranked.double())
    before = torch.cumsum(grown, 0)
    left = before[lists.starts[1:] - 1][lists.owners] - before + grown
    return lists.sums(torch.log(left).to(scores.dtype) - ranked)


def _highest(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    """Return the highest score of each document's list, as a constant."""
    highest = torch.full((lists.lists,), -torch.inf).scatter_reduce(0, lists.owners, scores.detach(), "amax")
    return highest[lists.owners]


def _log_odds(scores: torch.Tensor, lists: PackedLists) -> torch.Tensor:
    first, second = lists.better
    return torch.nn.functional.softplus(scores[second] - scores[first])
