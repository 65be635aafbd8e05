"""The cross entropy between softmax scores and gains blurred at random (Definition 1)."""

from __future__ import annotations

from rankplug.compiled import gain, scratch
from rankplug.losses import list_constants, list_loss
from rankplug_xendcg.gamma import fill_gamma
from rankplug_xendcg.newton_step import cross_entropy_with_step

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
