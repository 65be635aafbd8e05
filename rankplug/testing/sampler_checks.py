"""Contract of samplers: noise that is repeatable, each document's own, and followed by the right chain rule."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from rankplug.samplers import Sampler, sampler, samples_of
from rankplug.testing import _checks
from rankplug.testing._checks import CheckInput, Contract, Floats, PluginContract, lists_of

TIMES = 400
"""Iterations over which an average is taken."""


class Case(_checks.Case):
    """A sampler under test."""

    @cached_property
    def sampler(self) -> Sampler:
        return sampler(self.name)

    def draws(self, lists: CheckInput, seed: int = 3, iteration: int = 0) -> Floats:
        return self.sampler.draw(lists.scores, lists.starts, seed=seed, iteration=iteration)


CONTRACT = Contract(Case, "rp.sampler({name!r}).draw(scores, starts)")


class SamplerContract(PluginContract):
    """The contract of a sampler."""

    contract, kind = CONTRACT, "sampler"
    sampler: ClassVar[str]


@CONTRACT.check(
    means="nothing says how many draws an expected loss is averaged over",
    fix="give the parameters a field samples, a whole number of 1 or more",
)
def parameters_say_how_many_draws(case: Case) -> str | None:
    """Check that the sampler has a parameter ``samples``."""
    parameters = case.sampler.parameters
    if not hasattr(parameters, "samples"):
        return f"{type(parameters).__name__} has no field samples"
    rows = len(case.draws(CheckInput.of([0.3, -1.0])))
    return None if rows == samples_of(parameters) else f"{samples_of(parameters)} draws were asked for, {rows} came"


@CONTRACT.check(
    inputs=lambda case: [*map(CheckInput.of, ([1e3, -1e3, 0.0, 5e2], [0.0, 0.0, 0.0], [0.7])), case.lists(2000)],
    means="expected losses are nan",
    fix="keep uniform numbers away from 0 and 1 before taking logarithms",
)
def perturbed_scores_are_finite(case: Case, lists: CheckInput) -> str | None:
    """Draw for scores far apart, equal, alone and many, over many iterations."""
    for iteration in range(20):
        finite = np.isfinite(case.draws(lists, iteration=iteration))
        if not finite.all():
            return f"{(~finite).sum()} perturbed scores are not finite in iteration {iteration}"
    return None


@CONTRACT.check(
    inputs=lists_of(5, 3),
    means="gradients through the noise point the wrong way",
    fix="return the derivative of a perturbed score with respect to its score",
)
def what_it_returns_is_the_derivative(case: Case, lists: CheckInput) -> str | None:
    """Compare with central differences of the gaps between perturbed scores, with the noise held fixed."""
    _, slopes = case.sampler.draws_and_slopes(lists.scores, lists.starts, np.arange(len(lists.starts) - 1), 3, 0)
    step = 1e-6
    for query, part in enumerate(lists.slices()):
        if part.stop - part.start < 2:
            continue
        moved = step * (np.arange(lists.scores.size) == part.start)
        above, below = (
            case.draws(CheckInput(lists.scores + sign * moved, lists.labels, lists.starts)) for sign in (1, -1)
        )
        gaps = (above - below)[:, part.start] - (above - below)[:, part.start + 1]
        if np.abs(gaps / (2 * step) - slopes[:, query]).max() > 1e-4 * max(1.0, np.abs(slopes[:, query]).max()):
            return f"it returns {slopes[0, query]:.6g}, finite differences give {gaps[0] / (2 * step):.6g}"
    return None


@CONTRACT.check(
    inputs=lists_of(6, 4),
    means="noise depends on how high a model's scores happen to lie",
    fix="add noise to the scores, or scale their gaps, but do not use their height",
)
def adding_a_constant_changes_nothing(case: Case, lists: CheckInput) -> str | None:
    """Check that draws are log-probabilities, which depend on gaps only."""
    moved = CheckInput(lists.scores + 64.0, lists.labels, lists.starts)
    same = np.allclose(case.draws(lists), case.draws(moved), atol=1e-8)
    return None if same else "adding 64 to all scores changes the draws"


@CONTRACT.check(
    inputs=lists_of(9, 6),
    means="runs cannot be repeated, or see the same noise again and again",
    fix="draw from rankplug.compiled.uniform(key, document) only",
)
def noise_is_repeated_by_seed_and_iteration(case: Case, lists: CheckInput) -> str | None:
    """Check that the same seed and iteration give the same noise, and others other noise."""
    if (case.draws(lists) != case.draws(lists)).any():
        return "two draws with one seed and iteration differ"
    for seed, iteration in ((4, 0), (3, 1)) if lists.scores.size > 2 else ():
        if (case.draws(lists) == case.draws(lists, seed, iteration)).all():
            return f"seed {seed} and iteration {iteration} draw the same as seed 3 and iteration 0"
    return None


@CONTRACT.check(
    means="the noise changes no order, or that of some documents only",
    fix="draw a number of its own for each document: uniform(key, document)",
)
def every_document_and_list_has_noise_of_its_own(case: Case) -> str | None:
    """Check that equal scores are told apart, and that two equal lists differ."""
    draws = np.concatenate([case.draws(CheckInput.of(np.zeros(8), None, [0, 4, 8]), iteration=t) for t in range(20)])
    if any(np.unique(row[:4]).size < 4 for row in draws):
        return "two of four documents with equal scores have the same perturbed score"
    return "two lists have the same noise" if (draws[:, :4] == draws[:, 4:]).all() else None


@CONTRACT.check(
    inputs=lists_of(7, 2, 11),
    means="mini-batches train on something else than all lists do",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, lists: CheckInput) -> str | None:
    """Check that each list alone is perturbed as among others."""
    together = case.draws(lists)
    for query, part in enumerate(lists.slices()):
        scores, starts = lists.scores[part].copy(), np.array([0, part.stop - part.start])
        alone, _ = case.sampler.draws_and_slopes(scores, starts, np.array([query]), 3, 0)
        if np.abs(alone - together[:, part]).max() > 1e-12:
            return f"list {query} alone is perturbed in another way than among others"
    return None


@CONTRACT.check(
    means="what the model has learnt is turned upside down",
    fix="the derivative with respect to the score must be positive",
)
def the_better_document_comes_first_more_often(case: Case) -> str | None:
    """Check that the better of two documents comes first in more draws than chance explains."""
    draws = np.concatenate([case.draws(CheckInput.of([1.0, 0.0]), iteration=t) for t in range(TIMES)])
    share = float((draws[:, 0] > draws[:, 1]).mean())
    least = 0.5 - 4 * 0.5 / np.sqrt(len(draws))
    return f"it comes first in {share:.0%} of {len(draws)} draws" if share < least else None
