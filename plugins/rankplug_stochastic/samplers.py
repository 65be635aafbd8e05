"""Noise on the scores (Algorithm 1): Gumbel, and the laws the paper's outlook names."""

from __future__ import annotations

import math

from rankplug.compiled import log, uniform
from rankplug.samplers import list_sampler

CLIP = 1e-10


@list_sampler
def gumbel(scores, key, perturbed, beta, tau):
    """Compute ``(f_i - beta log(-log U_i)) / tau``; sorted, a Plackett-Luce draw with weights exp(f / beta)."""
    for i in range(scores.size):
        draw = min(max(uniform(key, i), CLIP), 1.0 - CLIP)
        perturbed[i] = (scores[i] - beta * log(-log(draw))) / tau
    return 1.0 / tau


@list_sampler
def logistic(scores, key, perturbed, beta, tau):
    """Compute ``(f_i + beta log(U_i / (1 - U_i))) / tau``, with heavier tails than a Gaussian on both sides."""
    for i in range(scores.size):
        draw = min(max(uniform(key, i), CLIP), 1.0 - CLIP)
        perturbed[i] = (scores[i] + beta * log(draw / (1.0 - draw))) / tau
    return 1.0 / tau


@list_sampler
def gaussian(scores, key, perturbed, beta, tau):
    """Compute ``(f_i + beta N_i) / tau`` with standard normal ``N_i`` by Box and Muller's transform of two uniforms."""
    for i in range(scores.size):
        radius = math.sqrt(-2.0 * log(uniform(key, 2 * i)))
        perturbed[i] = (scores[i] + beta * radius * math.cos(2.0 * math.pi * uniform(key, 2 * i + 1))) / tau
    return 1.0 / tau
