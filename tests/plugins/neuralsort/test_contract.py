"""The contract of the losses over NeuralSort's relaxed permutation matrix."""

from __future__ import annotations

import pytest

from rankplug.testing import LossContract


class TestNeuralSort(LossContract):
    loss = "neural_sort"


class TestNeuralNDCG(LossContract):
    loss = "neural_ndcg"


class TestNeuralNDCGCutOff(LossContract):
    loss = "neural_ndcg[k=3,temperature=0.5,scalings=5]"


class TestPiRank(LossContract):
    loss = "pirank"


@pytest.mark.slow
class TestPiRankWithItsWholeDiagonal(LossContract):
    loss = "pirank[k=3,curvature=diagonal]"
    longest = 200
