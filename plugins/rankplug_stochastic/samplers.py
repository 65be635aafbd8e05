"""Noise on the scores (Algorithm 1): Gumbel, and the laws the paper's outlook names."""

from __future__ import annotations

import math

from rankplug.list_losses import list_sampler
from rankplug.noise import uniform

CLIP = 1e-10


@list_sampler
def gumbel(scores, key, perturbed, beta, tau):
    """``(f_i - beta log(-log U_i)) / tau``; sorted, a draw of the Plackett-Luce law with weights exp(f / beta)."""
    for i in range(scores.size):
        draw = min(max(uniform(key, i), CLIP), 1.0 - CLIP)
        perturbed[i] = (scores[i] - beta * math.log(-math.log(draw))) / tau
    return 1.0 / tau
