"""Specifications of this package: the losses of NeuralSort."""

from __future__ import annotations

from pydantic import Field

from rankplug import LossSpecification, PaddedParameters, Parameters, hookimpl

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


PERMUTATION = (
    r"\hat P_{r\cdot} = \mathrm{softmax}\left[\left((n + 1 - 2r) f - \textstyle\sum_j |f - f_j|\right) / \tau\right]"
)


def _loss(name: str, summary: str, paper: str, formula: str, parameters: type[Parameters]) -> LossSpecification:
    return LossSpecification(
        name=name,
        summary=summary,
        paper=paper,
        formula=f"{formula},\\quad {PERMUTATION}",
        parameters=parameters,
        implementation=f"rankplug_neuralsort.relaxed_sorting:{name}",
        longest=1500,
    )


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        _loss(
            "neural_sort",
            "cross entropy of a relaxed permutation against the order of the labels",
            "NeuralSort, Grover et al. 2019",
            r"-\frac1n\sum_{r,i} P^*_{ri} \log \hat P_{ri}",
            NeuralSort,
        ),
        _loss(
            "neural_ndcg",
            "NDCG of a relaxed permutation whose rows and columns add up to 1",
            "NeuralNDCG, Pobrotyn and Bialobrzeski 2021",
            r"-\frac1{\mathrm{IDCG}}\sum_{r \le k} \frac{\sum_i S(\hat P)_{ri} (2^{y_i} - 1)}{\log_2(1 + r)}",
            NeuralNDCG,
        ),
        _loss(
            "pirank",
            "1 - NDCG of a relaxed permutation; without the paper's division of long lists",
            "PiRank, Swezey et al. 2021",
            r"1 - \frac1{\mathrm{IDCG}}\sum_{r \le k} \frac{\sum_i \hat P_{ri} (2^{y_i} - 1)}{\log_2(1 + r)}",
            PiRank,
        ),
    ]
