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

Gains are ``2^y - 1``. A list whose labels are all equal is silent. Time and memory grow with the square of a list's
length: ``neural_ndcg`` takes about 0.1 seconds for a list of 700 documents, so that boosting on a hundred such lists
takes 10 seconds a tree on one core; ``pirank`` takes a quarter of that.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

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
    """Return the matrix after Sinkhorn's scalings, each of columns and then of rows.

    Factors of the rows and columns take the place of scaled matrices: a scaling is two products of the matrix with a
    vector, and the derivative one product of matrices, where autograd would store and pass every scaled matrix.
    """
    return _sinkhorn().apply(matrix, scalings)


Factors = list[tuple["torch.Tensor", "torch.Tensor"]]
"""Factors before the first scaling and after each, with which of them a sum near 0 bounded."""


def _scaling_factors(matrix: torch.Tensor, scalings: int) -> tuple[Factors, Factors]:
    """Return the factors of the rows and of the columns."""
    import torch

    rows: Factors = [(torch.ones_like(matrix[:, :, 0]), matrix.new_zeros((), dtype=torch.bool))]
    columns: Factors = [(torch.ones_like(matrix[:, 0]), matrix.new_zeros((), dtype=torch.bool))]
    for _ in range(scalings):
        columns.append(_next_factors(columns[-1][0], torch.einsum("lij,li->lj", matrix, rows[-1][0])))
        rows.append(_next_factors(rows[-1][0], torch.einsum("lij,lj->li", matrix, columns[-1][0])))
    return rows, columns


def _next_factors(factors: torch.Tensor, sums: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    scaled_sums = factors * sums
    # Rows and columns of padding have no mass, and must not grow beyond all bounds.
    divided = torch.where(scaled_sums > 0, factors / scaled_sums.clamp(min=SMALLEST_SUM), factors)
    return divided, scaled_sums < SMALLEST_SUM


@functools.cache
def _sinkhorn() -> Any:
    import torch

    class Sinkhorn(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, matrix: torch.Tensor, scalings: int) -> torch.Tensor:
            rows, columns = _scaling_factors(matrix, scalings)
            ctx.save_for_backward(matrix)
            ctx.factors = rows, columns
            return rows[-1][0][:, :, None] * matrix * columns[-1][0][:, None, :]

        @staticmethod
        def backward(ctx: Any, above: torch.Tensor) -> Any:
            (matrix,) = ctx.saved_tensors
            rows, columns = ctx.factors
            if torch.is_grad_enabled():
                # For second derivatives, by autograd alone.
                last_rows, last_columns = (factors[-1][0] for factors in _scaling_factors(matrix, len(rows) - 1))
                result = last_rows[:, :, None] * matrix * last_columns[:, None, :]
                return torch.autograd.grad(result, matrix, above, create_graph=True)[0], None
            last_rows, last_columns = rows[-1][0], columns[-1][0]
            weighted = above * matrix
            by_row = torch.einsum("lij,lj->li", weighted, last_columns)
            by_column = torch.einsum("lij,li->lj", weighted, last_rows)
            lefts, rights = [0 * last_rows], [0 * last_columns]
            for (row, _), next_row, (column, _), next_column in reversed(
                list(zip(rows[:-1], rows[1:], columns[:-1], columns[1:], strict=True))
            ):
                by_sums, by_row = _through_factors(row, next_row, by_row)
                lefts.append(by_sums)
                rights.append(next_column[0])
                by_column = by_column + torch.einsum("lij,li->lj", matrix, by_sums)
                by_sums, by_column = _through_factors(column, next_column, by_column)
                lefts.append(row)
                rights.append(by_sums)
                by_row = by_row + torch.einsum("lij,lj->li", matrix, by_sums)
            products = torch.bmm(torch.stack(lefts, 2), torch.stack(rights, 1))
            return products.addcmul_(last_rows[:, :, None] * last_columns[:, None, :], above), None

    return Sinkhorn


def _through_factors(
    before: torch.Tensor, scaling: tuple[torch.Tensor, torch.Tensor], derivative: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the derivative by the sums that factors are one over, and by the factors before where they are not."""
    after, bounded = scaling
    by_sums = (-derivative * after.square()).masked_fill(bounded, 0.0)
    return by_sums, (derivative * after / before).masked_fill(~bounded, 0.0)


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
