"""The loss is what its formula says, found without sorting or pooling."""

import itertools

import numpy as np
import pytest
import rankplug as rp
from scipy.optimize import minimize


def nearest_point(scores, softness):
    """Return the point of the permutahedron nearest to ``scores / softness``, as a mixture of all its corners."""
    n = len(scores)
    corners = np.array(list(itertools.permutations(np.arange(1, n + 1) / n)))
    wanted = np.asarray(scores) / softness

    def distance(logits):
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        gap = shares @ corners - wanted
        slope = corners @ gap
        return 0.5 * gap @ gap, shares * (slope - shares @ slope)

    optimum = minimize(distance, np.zeros(len(corners)), jac=True, method="L-BFGS-B", options={"maxiter": 5000})
    shares = np.exp(optimum.x - optimum.x.max())
    return shares @ corners / shares.sum()


@pytest.mark.parametrize("softness", [0.5, 2.0])
def test_gradient_and_value_follow_the_definition(softness):
    scores, labels = np.array([0.2, -0.4, 0.9, 0.1]), [0, 2, 1, 1]
    ranks = np.array([1, 4, 2.5, 2.5]) / 4
    evaluation = rp.loss(f"permutahedron[softness={softness}]").evaluate(scores, labels, [0, 4])
    soft = nearest_point(scores, softness)
    np.testing.assert_allclose(evaluation.gradient, soft - ranks, atol=2e-3)
    value = soft @ scores - softness / 2 * soft @ soft - (ranks @ scores - softness / 2 * ranks @ ranks)
    np.testing.assert_allclose(evaluation.value, [value], atol=1e-4)


def test_it_is_zero_where_scores_are_well_ordered():
    evaluation = rp.loss("permutahedron").evaluate([10.0, 0.0, 5.0], [2, 0, 1], [0, 3])
    np.testing.assert_allclose(evaluation.value, [0.0], atol=1e-12)
    np.testing.assert_allclose(evaluation.gradient, 0.0, atol=1e-12)


def test_it_is_never_negative():
    generator = np.random.default_rng(0)
    starts = np.arange(0, 601, 6)
    evaluation = rp.loss("permutahedron[softness=0.3]").evaluate(
        generator.normal(size=600), np.resize([0, 1, 2], 600), starts
    )
    assert evaluation.value.min() >= -1e-12
