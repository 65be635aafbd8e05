r"""Softmax cross entropy against a target distribution, and its second-order step for boosting (section 4.3).

With scores ``f``, target ``phi`` and ``rho_i = exp(f_i) / (sum_j exp(f_j) + eps)`` the loss is
``-sum phi f + log(sum exp f + eps)``, its gradient ``rho - phi`` and its Hessian ``diag(rho) - rho rho'``. Written as
``H = D (I - S)`` with the diagonal ``D_ii = rho_i (1 - rho_i)``, the Newton step is ``(I + S + S^2 + ...) D^-1`` times
the gradient. Boosting engines divide a gradient by a curvature in every leaf; they get ``D`` as the curvature and

========== ====================================================================================================
``series``   the first three terms of the series times ``D``, as in the paper and in LightGBM
``exact``    the whole series times ``D``: with eps > 0 the step is ``-phi / rho``, with eps = 0 (where the Hessian is
           singular) the same less its mean
``diagonal`` the gradient itself
========== ====================================================================================================
"""

from __future__ import annotations

import math

from rankplug.compiled import building_block, exp, largest, log, scratch

SERIES, EXACT = 0, 1
SMALLEST_SHARE = 1e-15
SMALLEST_CURVATURE = 1e-16


@building_block
def cross_entropy_with_step(scores, target, gradient, curvature, eps, step, newton):
    """Fill gradient and curvature of one list, and return its loss; with ``newton``, the pair for boosting."""
    n = scores.size
    top, best = 0, largest(scores)
    while scores[top] < best:
        top += 1
    peak = best if eps == 0.0 else max(best, math.log(eps))
    rho, inverse_rest = scratch(n), scratch(n)
    for i in range(n):
        rho[i] = exp(scores[i] - peak)
    # All but the largest are added up alone: one minus its share would be 0 long before the others vanish.
    dominant, rho[top] = rho[top], 0.0
    others = 0.0 if eps == 0.0 else exp(math.log(eps) - peak)
    for i in range(n):
        others += rho[i]
    rho[top] = dominant
    total = others + dominant
    value = log(total)
    for i in range(n):
        share = rho[i] / total
        value += target[i] * (peak - scores[i])
        rho[i] = share
        inverse_rest[i] = 1.0 / (1.0 - share)
        gradient[i] = share - target[i]
        curvature[i] = max(share * (1.0 - share), SMALLEST_CURVATURE)
    rest = max(others / total, SMALLEST_SHARE)
    inverse_rest[top] = 1.0 / rest
    curvature[top] = max(rho[top] * rest, SMALLEST_CURVATURE)
    if newton and step == SERIES:
        _add_two_terms(rho, inverse_rest, gradient)
    if newton and step == EXACT:
        _make_exact(rho, target, curvature, eps, gradient)
    return value


@building_block
def _add_two_terms(rho, inverse_rest, gradient):
    """Turn the gradient into ``D (I + S + S^2) D^-1 gradient``, in time linear in the documents."""
    first, second = 0.0, 0.0
    term = scratch(rho.size)
    for i in range(rho.size):
        term[i] = gradient[i] * inverse_rest[i]
        first += term[i]
    for i in range(rho.size):
        added = rho[i] * (first - term[i])
        gradient[i] += added
        term[i] = added * inverse_rest[i]
        second += term[i]
    for i in range(rho.size):
        gradient[i] += rho[i] * (second - term[i])


@building_block
def _make_exact(rho, target, curvature, eps, gradient):
    """Turn the gradient into the curvature times the exact Newton step."""
    mean = 0.0
    for i in range(rho.size):
        gradient[i] = -target[i] / max(rho[i], SMALLEST_SHARE)
        mean += gradient[i] / rho.size
    for i in range(rho.size):
        gradient[i] = (gradient[i] - (mean if eps == 0.0 else 0.0)) * curvature[i]
