"""Parameters of the losses over NeuralSort's relaxed permutation matrix."""

from __future__ import annotations

from pydantic import Field

from rankplug import PaddedParameters

NO_CUTOFF = 1 << 40


class NeuralSort(PaddedParameters):
    """Parameters of ``neural_sort``."""

    temperature: float = Field(1.0, gt=0, description="tau; the permutation is hard where it goes to 0")


class PiRank(NeuralSort):
    """Parameters of ``pirank``."""

    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k


class NeuralNDCG(PiRank):
    """Parameters of ``neural_ndcg``."""

    scalings: int = Field(30, ge=0, description="Sinkhorn's scalings of columns and rows, each of all lists")
