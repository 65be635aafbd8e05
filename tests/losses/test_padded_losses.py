"""Losses written in PyTorch: the same numbers as compiled ones, whatever is padded, sampled or weighted."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import BrokenPluginError
from rankplug.losses import list_loss, padded_loss, padded_losses
from rankplug.registry import LossSpecification, registry

GENERATOR = np.random.default_rng(0)
STARTS = np.concatenate(([0], np.cumsum(GENERATOR.integers(1, 40, 30))))
LABELS = GENERATOR.integers(0, 5, STARTS[-1]).astype(float)
SCORES = GENERATOR.normal(size=STARTS[-1])


class Scaled(rp.PaddedParameters):
    scale: float = 1.5


@list_loss(cost="documents")
def compiled(scores, labels, gradient, curvature, scale):
    total = 0.0
    for i in range(scores.size):
        total += scale * np.exp(scores[i]) - labels[i] * scores[i]
        gradient[i] = scale * np.exp(scores[i]) - labels[i]
        curvature[i] = scale * np.exp(scores[i])
    return total


@padded_loss(cost="documents")
def expression(scores, labels, mask, scale):
    return ((scale * scores.exp() - labels * scores) * mask).sum(1)


@padded_loss
def products(scores, labels, mask):
    """Compute a loss whose Hessian is dense: the square of the sum of the scores, weighted by the labels."""
    return (scores * labels * mask).sum(1) ** 2


@padded_loss
def one_number(scores, labels, mask):
    return scores.sum()


@padded_loss
def of_something(scores, labels, mask, something):
    return scores.sum(1)


def bound(implementation, sampler=None, parameters="", **given):
    name = f"padded_{implementation.__name__}"
    specification = LossSpecification(
        name=name, summary="under test", implementation=implementation, parameters=Scaled, shift_invariant=False
    )
    registry().add(specification)
    return rp.loss(f"{name}[{parameters}]").on(LABELS, STARTS, sampler=sampler, **given)


@pytest.mark.parametrize("sampler", [None, "gumbel[samples=3,tau=2]"])
@pytest.mark.parametrize("lists", [None, [4, 0, 29]])
def test_a_torch_loss_and_a_compiled_one_agree_also_under_noise_that_is_not_shift_invariant(sampler, lists):
    chosen = np.arange(30) if lists is None else np.array(lists)
    rows = np.concatenate([np.arange(STARTS[one], STARTS[one + 1]) for one in chosen])
    weights = GENERATOR.uniform(size=30)
    ours, theirs = (
        bound(one, sampler, weights=weights, seed=2)(SCORES[rows], iteration=5, lists=chosen)
        for one in (expression, compiled)
    )
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-12)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, atol=1e-12)


@pytest.mark.parametrize("curvature", ["hutchinson", "diagonal"])
def test_curvature_without_interaction_is_exact_by_either_way(curvature):
    ours = bound(expression, parameters=f"curvature={curvature}")(SCORES)
    np.testing.assert_allclose(ours.curvature, bound(compiled)(SCORES).curvature, rtol=1e-12)


def test_the_diagonal_is_exact_where_documents_interact():
    ours = bound(products, parameters="curvature=diagonal")(SCORES)
    np.testing.assert_allclose(ours.curvature, 2 * LABELS**2, atol=1e-12)


def test_hutchinson_probes_average_to_the_diagonal():
    few, many = (
        np.abs(bound(products, parameters=f"curvature=hutchinson,probes={probes}")(SCORES).curvature - 2 * LABELS**2)
        for probes in (4, 400)
    )
    assert many.mean() < 0.3 * few.mean()


def test_ones_are_the_curvature_unless_another_is_asked_for():
    assert (bound(products)(SCORES).curvature == 1).all()


def test_shapes_of_tensors_do_not_change_results(monkeypatch):
    here = bound(expression, parameters="curvature=hutchinson")(SCORES)
    monkeypatch.setattr(padded_losses, "LARGEST_TENSOR", 1)
    there = bound(expression, parameters="curvature=hutchinson")(SCORES)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_uniform_numbers_are_keyed_by_list_and_document_not_by_place_in_a_batch():
    seen = {}

    @padded_loss
    def noisy(scores, labels, mask, uniform):
        drawn = uniform(2)
        for row in range(mask.shape[0]):
            length = int(mask[row].sum())
            seen.setdefault(length, []).append(drawn[:, row, :length].numpy())
        return (scores * drawn[0] * mask).sum(1)

    bound(noisy)(SCORES, iteration=1)
    lengths = np.diff(STARTS)
    alone = int(np.flatnonzero(lengths == max(lengths))[0])
    bound(noisy)(SCORES[STARTS[alone] : STARTS[alone + 1]], iteration=1, lists=[alone])
    first, *_, last = seen[int(max(lengths))]
    assert (first == last).all()
    assert not (first[0] == first[1]).any()


def test_mistakes_of_an_author_are_named():
    with pytest.raises(BrokenPluginError, match=r"one_number returned a tensor of shape \(\) for \d+ lists"):
        bound(one_number)(SCORES)
    with pytest.raises(BrokenPluginError, match="of_something has an argument something that is neither supplied"):
        bound(of_something)
