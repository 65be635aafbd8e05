"""Sums over all pairs of a long list, of functions of the gap of their scores, without looking at pairs.

With documents in the order of their scores, ``t = exp(-gap)`` of any two lies between 0 and 1. The sigmoid's tail
``t / (1 + t)``, its derivatives and ``log(1 + t)`` are ``t`` times a function whose next singularity is at -1, so that
a polynomial in ``t`` comes as close to each as doubles do to numbers: the error of Chebyshev's falls by
``3 + sqrt(8)`` with every term. A sum of ``t^k = exp(-k gap)`` over all documents above one follows from that over
those above its neighbour, as gaps add up. One pass down the list and one up it give every document its sums over all
others, in a time that grows with the documents, and tell apart exactly who stands above whom.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from rankplug.compiled.arithmetic import exp, scratch, zeros
from rankplug.compiled.functions import part

Doubles = NDArray[np.float64]
Levels = NDArray[np.int64]

TERMS = 20
LONGEST_WITH_PAIRS = 2_000
"""Documents of a list up to which all pairs are visited; measured, and on the safe side.

Sums have a relative error of 1e-13. Those of the bend, which changes its sign, are off by up to a hundred times that,
beside sums of the slope.
"""
WORTH_A_DOCUMENT, WORTH_A_SUM = 300.0, 100.0
"""Pairs visited in the time of a document, and of one sum over one level for it; measured, and on the safe side."""

TAIL, SLOPE, SOFTPLUS, BEND = 0, 1, 2, 3
"""Rows of the coefficients: ``p = t / (1 + t)``, ``p (1 - p)``, ``log(1 + t)`` and ``p (1 - p) (1 - 2 p)``."""


def _coefficients() -> Doubles:
    """Return the coefficients of ``t``, ``t^2``, ... of the four functions, a row each."""
    over_t = (
        lambda t: 1.0 / (1.0 + t),
        lambda t: 1.0 / (1.0 + t) ** 2,
        lambda t: np.log1p(t) / t,
        lambda t: (1.0 - t) / (1.0 + t) ** 3,
    )
    fitted = [Chebyshev.interpolate(function, TERMS - 1, domain=[0.0, 1.0]) for function in over_t]
    return np.array([polynomial.convert(kind=Polynomial).coef for polynomial in fitted])


COEFFICIENTS = _coefficients()


def worth_sums(documents: int, levels: int, columns: int, pairs: float) -> bool:
    """Tell whether sums are faster than a visit to each pair.

    Args:
        documents: of the list.
        levels: of labels.
        columns: rows of weights, of all calls of :func:`sum_over_pairs` together.
        pairs: that would be visited.
    """
    if documents <= LONGEST_WITH_PAIRS:
        return False
    return (WORTH_A_DOCUMENT + WORTH_A_SUM * levels * columns) * documents < pairs


@part(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract", "arcp"})
def _pass_over(
    exponents: Doubles,
    level_of: Levels,
    weights: Doubles,
    matching: Doubles,
    kernels: Doubles,
    upwards: bool,
    sums: Doubles,
    inversions: Doubles,
) -> None:
    """Fill the sums over the documents that a pass down, or up, the list has met before each."""
    documents, levels, columns = exponents.size, matching.shape[0], weights.shape[0]
    held, powers, unweighted = zeros(levels * columns * TERMS), scratch(TERMS), zeros(levels * columns)
    for turn in range(documents):
        i = documents - 1 - turn if upwards else turn
        own = level_of[i]
        for column in range(columns):
            row = held[(own * columns + column) * TERMS : (own * columns + column + 1) * TERMS]
            for kernel in range(kernels.shape[0]):
                total = 0.0
                for term in range(TERMS):
                    total += kernels[kernel, term] * row[term]
                sums[kernel, column, i] = total
            inversions[column, i] = unweighted[own * columns + column]
        if turn == documents - 1:
            break
        ratio = exp(-abs(exponents[i] - exponents[i - 1 if upwards else i + 1]))
        power = 1.0
        for term in range(TERMS):
            power *= ratio
            powers[term] = power
        for level in range(levels):
            inverted = level < own if upwards else level > own
            for column in range(columns):
                amount = matching[level, own] * weights[column, i]
                slot = level * columns + column
                if inverted:
                    unweighted[slot] += amount
                row = held[slot * TERMS : (slot + 1) * TERMS]
                for term in range(TERMS):
                    row[term] = (row[term] + amount) * powers[term]


@part(nogil=True, error_model="numpy")
def sum_over_pairs(
    exponents: Doubles, level_of: Levels, weights: Doubles, matching: Doubles, kernels: int
) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return for each document its sums over the documents above it and over those below it.

    Args:
        exponents: of the documents, best first; the gap of two is their difference.
        level_of: the level of each document's label, counted from 0, the lowest.
        weights: rows of weights of the other document, of which each has a sum.
        matching: by the two levels of a pair, what its weights are multiplied by.
        kernels: how many of the functions of the gap, in the order of :data:`COEFFICIENTS`.

    Returns:
        The sums over the documents above, by function and row of weights; the sums of the plain weights of those above
        that are of a lower level; the sums over the documents below; and the plain ones over those below that are of
        a higher level.
    """
    documents, columns = exponents.size, weights.shape[0]
    above, below = np.empty((kernels, columns, documents)), np.empty((kernels, columns, documents))
    lower_above, higher_below = np.empty((columns, documents)), np.empty((columns, documents))
    _pass_over(exponents, level_of, weights, matching, COEFFICIENTS[:kernels], False, above, lower_above)
    _pass_over(exponents, level_of, weights, matching, COEFFICIENTS[:kernels], True, below, higher_below)
    return above, lower_above, below, higher_below


@part(nogil=True, error_model="numpy")
def different_levels(levels: int) -> Doubles:
    """Return 1 for each two levels that differ, 0 for equal ones."""
    matching = np.ones((levels, levels))
    for level in range(levels):
        matching[level, level] = 0.0
    return matching
