"""A loss of one list as a compiled loop over all lists, averaged over the draws of a sampler."""

from __future__ import annotations

from typing import Any

from rankplug.compiled import ListFunction, call_of_list, make
from rankplug.samplers import ListSampler


def lifted_loss(loss: ListFunction, sampler: ListSampler | None, shift_invariant: bool) -> Any:
    """Compile the loss over all lists, averaged over a sampler's draws if there is one."""
    parts: dict[str, ListFunction] = {"one_list": loss}
    if sampler is not None:
        parts["perturb"] = sampler
    body = PLAIN if sampler is None else EXPECTED
    text = LOSS.format(
        body=body.format(
            arguments=call_of_list(loss, "parameters", scores="a" if sampler else None),
            sampled=call_of_list(sampler, "sampler_parameters") if sampler else "",
            normalise="" if shift_invariant else NORMALISE,
            chain="" if shift_invariant else CHAIN,
        )
    )
    return make(text, parts)


LOSS = """
def lifted(
    begin, end, lists, starts, scores, data_starts, labels, constant_starts, constants, order, weights, seed,
    iteration, newton, valued, samples, parameters, sampler_parameters, value, single,
    gradient, curvature, single_gradient, single_curvature,
):
    longest = 0
    for b in range(begin, end):
        longest = max(longest, starts[b + 1] - starts[b])
    all_g = scratch(longest)
    all_h = scratch(longest)
    for b in range(begin, end):
        q = lists[b]
        d = data_starts[q]
        first = starts[b]
        n = starts[b + 1] - first
        f = scores[first:first + n]
        g = all_g[:n]
        h = all_h[:n]
        weight = weights[q]
        {body}
        if single:
            for i in range(n):
                single_gradient[first + i] = g[i]
                single_curvature[first + i] = h[i]
        else:
            for i in range(n):
                gradient[first + i] = g[i]
                curvature[first + i] = h[i]
"""

PLAIN = """
        key = key_of(seed, iteration, q, 0)
        g[:] = 0.0
        h[:] = 1.0
        value[b] = weight * one_list({arguments})
        for i in range(n):
            g[i] *= weight
            h[i] *= weight
"""

EXPECTED = """
        a = scratch(n)
        total_g = zeros(n)
        total_h = zeros(n)
        total = 0.0
        for t in range(samples):
            key = key_of(seed, iteration, q, 2 * t + 1)
            slope = perturb({sampled})
            {normalise}
            key = key_of(seed, iteration, q, 2 * t)
            g[:] = 0.0
            h[:] = 1.0
            total += one_list({arguments})
            {chain}
            for i in range(n):
                total_g[i] += slope * g[i]
                total_h[i] += slope * slope * h[i]
        value[b] = weight * total / samples
        for i in range(n):
            g[i] = weight * total_g[i] / samples
            h[i] = weight * total_h[i] / samples
"""

NORMALISE = "make_log_probabilities(a)"

# Through the log-softmax: J'g = g - p sum(g); of the curvature, the diagonal of J'HJ, which is never negative.
CHAIN = """
            sum_g = g.sum()
            sum_h = h.sum()
            for i in range(n):
                p = exp(a[i])
                g[i] -= p * sum_g
                h[i] = h[i] * (1.0 - 2.0 * p) + p * p * sum_h
"""
