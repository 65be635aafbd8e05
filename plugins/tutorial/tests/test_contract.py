"""The loss keeps rankplug's contract."""

from rankplug.testing import LossContract


class TestPermutahedron(LossContract):
    loss = "permutahedron"
