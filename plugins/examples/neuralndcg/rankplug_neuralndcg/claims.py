"""The claims of the paper's abstract, each with the statistic that gives evidence on it."""

import rankplug as rp
from rankplug.studies import Check, Checks, Claim, Evidence, Margin, Results, alike, greater

from rankplug_neuralndcg.protocol import DIRECT, OURS, STRONG

POINT = Margin(0.01, "One point of NDCG.", scale=100, unit="points")
METRICS = ("ndcg@5", "ndcg@10")
SCORES, LABELS, STARTS = [0.3, 1.4, -0.8, 0.9, 2.1], [2.0, 0.0, 1.0, 4.0, 1.0], [0, 5]
"""A list without ties, on which the relaxation is compared with the metric itself."""


def outperforms_direct_optimisation(results: Results) -> Evidence:
    """Compare NDCG with that of ApproxNDCG, which approximates the metric too."""
    data = results.collection("quality")
    return greater({f"{data} {metric}": results.difference("quality", metric, OURS, DIRECT) for metric in METRICS})


def is_competitive(results: Results) -> Evidence:
    """Compare NDCG with that of LambdaRank: no difference that would matter."""
    data = results.collection("quality")
    return alike({f"{data} {metric}": results.difference("quality", metric, OURS, STRONG) for metric in METRICS})


def gap_to_ndcg(temperature: float) -> float:
    """Return how far the loss is from minus NDCG, up to the constant that a loss may have."""
    reference = f"neural_ndcg[temperature={temperature:g}]"
    ndcg = float(rp.metric("ndcg")(SCORES, LABELS, STARTS)[0])
    value = float(rp.loss(reference).evaluate(SCORES, LABELS, STARTS).value[0])
    return min(abs(value + ndcg), abs(value - (1.0 - ndcg)))


def is_arbitrarily_accurate(results: Results) -> Evidence:
    """Compare the loss with the metric at a small temperature, and for control at a large one."""
    check = Check(
        "distance from NDCG at temperature 0.001",
        gap_to_ndcg(0.001),
        at_most=1e-3,
        control=gap_to_ndcg(10.0),
        control_of="temperature 10",
    )
    return Checks({"one list": check})


CLAIMS = (
    Claim(
        "beats-direct-optimisation",
        f"{OURS} outperforms {DIRECT}.",
        outperforms_direct_optimisation,
        "Table 1",
        POINT,
        section="Abstract",
        role="main",
    ),
    Claim(
        "is-competitive",
        f"{OURS} is competitive with {STRONG}.",
        is_competitive,
        "Table 1",
        POINT,
        section="Abstract",
        role="main",
    ),
    Claim(
        "is-arbitrarily-accurate",
        f"{OURS} approximates NDCG with any accuracy.",
        is_arbitrarily_accurate,
        section="Abstract",
        role="main",
    ),
)
