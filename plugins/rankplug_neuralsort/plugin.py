"""Specifications of this package: the losses of NeuralSort."""

from __future__ import annotations

from rankplug import LossSpecification, Parameters, hookimpl
from rankplug_neuralsort import parameters

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
            parameters.NeuralSort,
        ),
        _loss(
            "neural_ndcg",
            "NDCG of a relaxed permutation whose rows and columns add up to 1",
            "NeuralNDCG, Pobrotyn and Bialobrzeski 2021",
            r"-\frac1{\mathrm{IDCG}}\sum_{r \le k} \frac{\sum_i S(\hat P)_{ri} (2^{y_i} - 1)}{\log_2(1 + r)}",
            parameters.NeuralNDCG,
        ),
        _loss(
            "pirank",
            "1 - NDCG of a relaxed permutation; without the paper's division of long lists",
            "PiRank, Swezey et al. 2021",
            r"1 - \frac1{\mathrm{IDCG}}\sum_{r \le k} \frac{\sum_i \hat P_{ri} (2^{y_i} - 1)}{\log_2(1 + r)}",
            parameters.PiRank,
        ),
    ]
