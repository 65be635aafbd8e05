"""Losses as padded n x n tensors, the way allRank, TF-Ranking and the papers' own code compute them.

All take scores, labels and mask of shape [queries, longest] in single precision and return one value a query.
"""

from __future__ import annotations

import math

import torch


def _gains(labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.where(mask, torch.exp2(labels) - 1.0, 0.0)


def approx_ndcg(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor, eta: float = 10.0) -> torch.Tensor:
    """Compute Eq. 15-18 of the stochastic paper."""
    beaten = torch.sigmoid(eta * (scores[:, None, :] - scores[:, :, None]))
    others = mask[:, None, :] & ~torch.eye(scores.shape[1], dtype=torch.bool)
    ranks = 1.0 + torch.where(others, beaten, 0.0).sum(2)
    gains = _gains(labels, mask)
    discounts = math.log(2.0) / torch.log1p(torch.arange(1, scores.shape[1] + 1))
    ideal = (gains.sort(1, descending=True).values * discounts).sum(1)
    dcg = (gains * math.log(2.0) / torch.log1p(ranks)).sum(1)
    return -dcg / ideal.clamp_min(1e-10)


def urank(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute Algorithm 1 of the unique-rating paper, with a log-sum-exp for its exponentials."""
    lower = (labels[:, None, :] < labels[:, :, None]) & mask[:, None, :]
    rivals = torch.where(lower, scores[:, None, :], -torch.inf)
    joint = torch.logsumexp(torch.cat((rivals, scores[:, :, None]), 2), 2)
    counts = mask & lower.any(2)
    terms = torch.where(counts, _gains(labels, mask) * (joint - scores), 0.0)
    present = torch.stack([((labels == label) & mask).any(1) for label in labels[mask].unique()], 1)
    return terms.sum(1) / (present.sum(1) - 1).clamp_min(1)


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute softmax cross entropy against the labels' shares."""
    return _softmax_cross_entropy(scores, torch.where(mask, labels, 0.0), mask)


def xe_ndcg(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute softmax cross entropy against gains blurred at random."""
    return _softmax_cross_entropy(scores, torch.where(mask, torch.exp2(labels) - torch.rand_like(labels), 0.0), mask)


def _softmax_cross_entropy(scores: torch.Tensor, masses: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    logs = torch.log_softmax(torch.where(mask, scores, -1e9), 1)
    return -(masses * logs).sum(1) / masses.sum(1).clamp_min(1e-10)


def lambdaloss(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor, mu: float = 10.0) -> torch.Tensor:
    """Compute NDCG-Loss2++ with allRank's n x n weights."""
    order = torch.where(mask, scores.detach(), -torch.inf).argsort(dim=1, descending=True)
    scores, labels, mask = scores.gather(1, order), labels.gather(1, order), mask.gather(1, order)
    gains, ranks = _gains(labels, mask), torch.arange(1, scores.shape[1] + 1)
    discounts = 1.0 / torch.log2(1.0 + ranks)
    ideal = (gains.sort(1, descending=True).values * discounts).sum(1)
    gains = gains / ideal.clamp_min(1e-10)[:, None]
    apart = (ranks[:, None] - ranks).abs()
    delta = (1.0 / torch.log2(1.0 + apart.clamp_min(1)) - 1.0 / torch.log2(2.0 + apart.clamp_min(1))).abs()
    weights = (discounts[:, None] - discounts).abs() + mu * delta
    weights = weights * (gains[:, :, None] - gains[:, None, :]).abs()
    return (_better(labels, mask) * weights * _log_odds(scores)).sum((1, 2)) / math.log(2.0)


def ranknet(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the logistic loss of every pair."""
    return (_better(labels, mask) * _log_odds(scores)).sum((1, 2))


def listmle(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the likelihood of the order of the labels, ties shuffled, as allRank has it."""
    shuffled = torch.randperm(scores.shape[1])
    scores, labels, mask = scores[:, shuffled], labels[:, shuffled], mask[:, shuffled]
    order = torch.where(mask, labels, -1.0).argsort(dim=1, descending=True, stable=True)
    ranked = torch.where(mask, scores, -1e9).gather(1, order)
    left = torch.logcumsumexp(ranked.flip(1), 1).flip(1)
    return torch.where(mask.gather(1, order), left - ranked, 0.0).sum(1)


def _better(labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]


def _log_odds(scores: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softplus(scores[:, None, :] - scores[:, :, None])
