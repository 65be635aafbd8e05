"""Contract of samplers: noise that is repeatable, each document's own, and followed by the right chain rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankplug.samplers import Sampler, sampler, samples_of
from rankplug.testing._checks import CheckInput, Contract, Floats

TIMES = 400
"""Draws by which an average is judged."""


@dataclass(frozen=True)
class Case:
    """A sampler under test."""

    name: str
    seed: int = 20

    def __str__(self) -> str:
        return self.name

    @cached_property
    def sampler(self) -> Sampler:
        return sampler(self.name)

    def lists(self, *lengths: int) -> CheckInput:
        """Make scores of lists of some lengths."""
        starts = np.concatenate(([0], np.cumsum(lengths)))
        scores = np.random.default_rng(self.seed).normal(size=int(starts[-1]))
        return CheckInput(scores, np.zeros(scores.size), starts)

    def draws(self, given: CheckInput, seed: int = 3, iteration: int = 0) -> Floats:
        return self.sampler.draw(given.scores, given.starts, seed=seed, iteration=iteration)


CONTRACT = Contract("sampler", Case, "rp.sampler({name!r}).draw(scores, starts)")


def _lists(*lengths: int) -> Callable[[Case], Iterator[CheckInput]]:
    def inputs(case: Case) -> Iterator[CheckInput]:
        yield case.lists(*lengths)

    return inputs


@CONTRACT.check(
    means="nothing says how many draws an expected loss is averaged over",
    fix="give the parameters a field samples, a whole number of 1 or more",
)
def parameters_say_how_many_draws(case: Case) -> str | None:
    """Check that the sampler has a parameter ``samples``."""
    parameters = case.sampler.parameters
    if not hasattr(parameters, "samples"):
        return f"{type(parameters).__name__} has no field samples"
    drawn = len(case.draws(CheckInput.of([0.3, -1.0])))
    return None if drawn == samples_of(parameters) else f"{samples_of(parameters)} draws were asked for, {drawn} came"


def _extreme(case: Case) -> Iterator[CheckInput]:
    yield CheckInput.of([1e3, -1e3, 0.0, 5e2])
    yield CheckInput.of([0.0, 0.0, 0.0])
    yield CheckInput.of([0.7])
    yield case.lists(2000)


@CONTRACT.check(
    inputs=_extreme,
    means="expected losses are nan",
    fix="keep uniform numbers away from 0 and 1 before taking logarithms",
)
def perturbed_scores_are_finite(case: Case, given: CheckInput) -> str | None:
    """Draw for scores far apart, equal, alone and many, over many iterations."""
    for iteration in range(20):
        draws = case.draws(given, iteration=iteration)
        if not np.isfinite(draws).all():
            return f"{(~np.isfinite(draws)).sum()} perturbed scores are not finite in iteration {iteration}"
    return None


@CONTRACT.check(
    inputs=_lists(5, 3),
    means="gradients through the noise point the wrong way",
    fix="return the derivative of a perturbed score with respect to its score",
)
def what_it_returns_is_the_derivative(case: Case, given: CheckInput) -> str | None:
    """Compare with central differences of the gaps between perturbed scores, with the noise held fixed."""
    lists = np.arange(len(given.starts) - 1)
    _, slopes = case.sampler.draws_and_slopes(given.scores, given.starts, lists, 3, 0)
    step = 1e-6
    for query in lists:
        first, last = given.starts[query], given.starts[query + 1]
        if last - first < 2:
            continue
        moved = [given.scores.copy() for _ in range(2)]
        moved[0][first] += step
        moved[1][first] -= step
        above, below = (case.draws(CheckInput(scores, given.labels, given.starts)) for scores in moved)
        gaps = (above - below)[:, first] - (above - below)[:, first + 1]
        if np.abs(gaps / (2 * step) - slopes[:, query]).max() > 1e-4 * max(1.0, np.abs(slopes[:, query]).max()):
            return f"it returns {slopes[0, query]:.6g}, finite differences give {gaps[0] / (2 * step):.6g}"
    return None


@CONTRACT.check(
    inputs=_lists(6, 4),
    means="noise depends on how high a model's scores happen to lie",
    fix="add noise to the scores, or scale their gaps, but do not use their height",
)
def adding_a_constant_changes_nothing(case: Case, given: CheckInput) -> str | None:
    """Check that draws are log-probabilities, which depend on gaps only."""
    moved = CheckInput(given.scores + 64.0, given.labels, given.starts)
    here, there = case.draws(given), case.draws(moved)
    return None if np.allclose(here, there, atol=1e-8) else "adding 64 to all scores changes the draws"


@CONTRACT.check(
    inputs=_lists(9, 6),
    means="runs cannot be repeated, or see the same noise again and again",
    fix="draw from rankplug.compiled.uniform(key, document) only",
)
def noise_is_repeated_by_seed_and_iteration(case: Case, given: CheckInput) -> str | None:
    """Check that the same seed and iteration give the same noise, and others other noise."""
    if (case.draws(given) != case.draws(given)).any():
        return "two draws with one seed and iteration differ"
    if given.scores.size > 2:
        for seed, iteration in ((4, 0), (3, 1)):
            if (case.draws(given) == case.draws(given, seed, iteration)).all():
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
    if (draws[:, :4] == draws[:, 4:]).all():
        return "two lists have the same noise"
    return None


@CONTRACT.check(
    inputs=_lists(7, 2, 11),
    means="mini-batches train on something else than all lists do",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, given: CheckInput) -> str | None:
    """Check that each list alone is perturbed as among others."""
    together, _ = case.sampler.draws_and_slopes(given.scores, given.starts, np.arange(len(given.starts) - 1), 3, 0)
    for query in range(len(given.starts) - 1):
        part = slice(given.starts[query], given.starts[query + 1])
        offsets = np.array([0, part.stop - part.start])
        alone, _ = case.sampler.draws_and_slopes(given.scores[part].copy(), offsets, np.array([query]), 3, 0)
        if np.abs(alone - together[:, part]).max() > 1e-12:
            return f"list {query} alone is perturbed in another way than among others"
    return None


@CONTRACT.check(
    means="what the model has learnt is turned upside down",
    fix="the derivative with respect to the score must be positive",
)
def the_better_document_comes_first_more_often(case: Case) -> str | None:
    """Check that the better of two documents comes first in more draws than chance explains."""
    given = CheckInput.of([1.0, 0.0])
    draws = np.concatenate([case.draws(given, iteration=t) for t in range(TIMES)])
    share = float((draws[:, 0] > draws[:, 1]).mean())
    least = 0.5 - 4 * 0.5 / np.sqrt(len(draws))
    return f"it comes first in {share:.0%} of {len(draws)} draws" if share < least else None


CHECKS = tuple(CONTRACT.checks)
