r"""The cross entropy between softmax scores and gains blurred at random (Definition 1).

Softmax cross entropy against a target distribution, and its second-order step for boosting (section 4.3).

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

import numpy as np

from rankplug.compiled import building_block, exp, gain, largest, log, scratch, uniform
from rankplug.losses import list_constants, list_loss

PER_ITERATION, ONCE = 0, 1
COUNTER, LIGHTGBM = 0, 1
_MULTIPLIER = np.uint32(214013)
_INCREMENT = np.uint32(2531011)


@building_block
def fill_gamma(out, key, list_key, source, fixed, generator, objective_seed, query, iteration):
    """Fill the numbers of one list in one iteration, drawn anew, drawn once, or all ``fixed``."""
    if source not in (PER_ITERATION, ONCE):
        out[:] = fixed
    elif generator == LIGHTGBM:
        _fill_as_lightgbm(out, objective_seed + query, iteration if source == PER_ITERATION else 0)
    else:
        own_key = key if source == PER_ITERATION else list_key
        for i in range(out.size):
            out[i] = uniform(own_key, i)


@building_block
def _fill_as_lightgbm(out, seed, iteration):
    """Draw as LightGBM does, on from its last iteration: bits 16 to 30 of x <- 214013 x + 2531011 (mod 2^32)."""
    state = np.uint32(seed)
    multiplier, increment, steps = _MULTIPLIER, _INCREMENT, iteration * out.size
    while steps > 0:  # jump ahead by squaring
        if steps & 1:
            state = np.uint32(state * multiplier + increment)
        increment = np.uint32(increment * multiplier + increment)
        multiplier = np.uint32(multiplier * multiplier)
        steps >>= 1
    for i in range(out.size):
        state = np.uint32(state * _MULTIPLIER + _INCREMENT)
        out[i] = np.float64((state >> np.uint32(16)) & np.uint32(0x7FFF)) / 32768.0


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


SMALLEST_MASS = 1e-15


@list_constants
def constants(constants, labels):
    """Fill ``2^y`` of each document."""
    for i in range(labels.size):
        constants[i] = gain(labels[i]) + 1.0


@list_loss(constants=constants, constants_length=lambda lengths, parameters: lengths, cost="documents")
def xe_ndcg(
    scores,
    gradient,
    curvature,
    constants,
    key,
    list_key,
    query,
    iteration,
    newton,
    gamma_source,
    fixed_gamma,
    gamma_rng,
    objective_seed,
    eps,
    step,
    skip_empty,
):
    """Compute XE-NDCG of one list, with the target ``phi_i = (2^y_i - gamma_i) / sum_j (2^y_j - gamma_j)``."""
    n = scores.size
    most = 0.0
    for i in range(n):
        most = max(most, constants[i])
    if n == 1 or (skip_empty and most == 1.0):
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    target = scratch(n)
    fill_gamma(target, key, list_key, gamma_source, fixed_gamma, gamma_rng, objective_seed, query, iteration)
    mass = 0.0
    for i in range(n):
        target[i] = constants[i] - target[i]
        mass += target[i]
    mass = max(mass, SMALLEST_MASS)
    for i in range(n):
        target[i] /= mass
    return cross_entropy_with_step(scores, target, gradient, curvature, eps, step, newton)


@list_loss(cost="documents")
def listnet(scores, labels, gradient, curvature, newton, eps, step):
    """Compute ListNet of one list."""
    n = scores.size
    highest = largest(labels)
    target, mass = scratch(n), 0.0
    for i in range(n):
        target[i] = exp(labels[i] - highest)
        mass += target[i]
    for i in range(n):
        target[i] /= mass
    return cross_entropy_with_step(scores, target, gradient, curvature, eps, step, newton)
