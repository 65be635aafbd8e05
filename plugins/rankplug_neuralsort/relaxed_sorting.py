r"""Losses over NeuralSort's relaxed permutation matrix (Grover, Wang, Zweig, Ermon, ICLR 2019).

Row r of the matrix says which document stands at rank r,

.. math:: \hat P_{r\cdot} = \mathrm{softmax}\left[\left((n + 1 - 2r) f - \sum_j |f - f_j|\right) / \tau\right],

and is the permutation that sorts the scores where :math:`\tau` goes to 0. Three losses are made of it:

* ``neural_sort``, NeuralSort's own for sorting: the cross entropy against the permutation that sorts the labels. Where
  labels tie, several do; the loss is then its mean over them.
* ``pirank`` (Swezey, Grover, Charron, Ermon, NeurIPS 2021): 1 - NDCG with the relaxed gains ``P G``. The paper's
  division of long lists into parts, and its straight-through estimate, are left out.
* ``neural_ndcg`` (Pobrotyn and Bialobrzeski, 2021): the matrix is first made doubly stochastic by Sinkhorn's scalings,
  columns before rows, so that no document counts twice. The authors stop when all sums are within a tolerance; here
  every list gets the same number of scalings, so that its loss does not depend on its batch. The paper's stochastic
  variant is this loss under the sampler ``gumbel``.

Gains are ``2^y - 1``. A list whose labels are all equal is silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankplug.losses import padded_loss

if TYPE_CHECKING:
    import torch

SMALLEST_SUM = 1e-10


def relaxed_order(scores: torch.Tensor, mask: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return the logarithm of NeuralSort's matrix: lists x ranks x documents; -inf at documents that are padding."""
    import torch

    spread = ((scores[:, :, None] - scores[:, None, :]).abs() * mask[:, None, :]).sum(2)
    ranks = torch.arange(scores.shape[1], dtype=scores.dtype)
    slopes = mask.sum(1, dtype=scores.dtype)[:, None] - 1 - 2 * ranks
    logits = (slopes[:, :, None] * scores[:, None, :] - spread[:, None, :]) / temperature
    return logits.masked_fill(~mask[:, None, :], -torch.inf).log_softmax(2)


def scaled(matrix: torch.Tensor, scalings: int) -> torch.Tensor:
    """Return the matrix after Sinkhorn's scalings, each of columns and then of rows."""
    for _ in range(scalings):
        matrix = matrix / matrix.sum(1, keepdim=True).clamp(min=SMALLEST_SUM)
        matrix = matrix / matrix.sum(2, keepdim=True).clamp(min=SMALLEST_SUM)
    return matrix


def relaxed_ndcg(matrix: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor, deepest: int) -> torch.Tensor:
    """Return NDCG where rank r has the gains of all documents, as row r of the matrix mixes them."""
    import torch

    gains = (torch.exp2(labels) - 1) * mask
    ranks = torch.arange(labels.shape[1], dtype=labels.dtype)
    discounts = (ranks < deepest) / torch.log2(2 + ranks)
    ideal = (gains.sort(1, descending=True).values * discounts).sum(1)
    mixed = (matrix * gains[:, None, :]).sum(2)
    return (mixed * discounts).sum(1) / ideal.clamp(min=torch.finfo(ideal.dtype).tiny)


def unless_equal(value: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the value, or 0 without a derivative where all labels of a list are equal."""
    import torch

    lowest = labels.masked_fill(~mask, torch.inf).min(1).values
    highest = labels.masked_fill(~mask, -torch.inf).max(1).values
    return torch.where(highest > lowest, value, 0 * value)


@padded_loss
def neural_sort(scores, labels, mask, temperature):
    """Compute the cross entropy of the relaxed permutation against those that sort the labels."""
    import torch

    pairs = mask[:, :, None] & mask[:, None, :]
    above = ((labels[:, None, :] > labels[:, :, None]) & pairs).sum(2)
    alike = ((labels[:, None, :] == labels[:, :, None]) & pairs).sum(2)
    ranks = torch.arange(scores.shape[1])[None, :, None]
    there = (ranks >= above[:, None, :]) & (ranks < (above + alike)[:, None, :]) & pairs
    sorting = there / alike.clamp(min=1)[:, None, :]
    logarithms = relaxed_order(scores, mask, temperature).masked_fill(~there, 0.0)
    return unless_equal(-(sorting * logarithms).sum((1, 2)) / mask.sum(1), labels, mask)


@padded_loss
def neural_ndcg(scores, labels, mask, temperature, scalings, deepest):
    """Compute minus NDCG under the scaled relaxed permutation."""
    matrix = scaled(relaxed_order(scores, mask, temperature).exp() * mask[:, :, None], scalings)
    return unless_equal(-relaxed_ndcg(matrix, labels, mask, deepest), labels, mask)


@padded_loss
def pirank(scores, labels, mask, temperature, deepest):
    """Compute 1 - NDCG under the relaxed permutation."""
    matrix = relaxed_order(scores, mask, temperature).exp() * mask[:, :, None]
    return unless_equal(1 - relaxed_ndcg(matrix, labels, mask, deepest), labels, mask)
