"""The paper's claims, each with the statistic that gives evidence on it and the difference that would matter."""

from rankplug.studies import Claim, Evidence, Margin, Results, greater

from rankplug_toy.protocol import BASELINE, OURS

POINT = Margin(0.01, "One point of NDCG, the rounding of the paper's table.", scale=100, unit="points")


def ranks_better(results: Results) -> Evidence:
    """Compare NDCG of the two models on test data, at both cut-offs."""
    data = results.collection("quality")
    return greater(
        {f"{data} {metric}": results.difference("quality", metric, OURS, BASELINE) for metric in ("ndcg@5", "ndcg@10")}
    )


def learns_faster(results: Results) -> Evidence:
    """Compare validation NDCG@5 of the two models, averaged over the numbers of trees."""
    lead = results.lead_in_training("quality", OURS, BASELINE, "valid", "ndcg@5")
    return greater({results.collection("quality"): results.sample("quality", lead.mean(), (OURS, BASELINE))})


CLAIMS = (
    Claim(
        "beats-baseline",
        f"{OURS} ranks better than {BASELINE}.",
        ranks_better,
        "Table 1",
        POINT,
        section="Section 4",
        role="main",
    ),
    Claim(
        "learns-faster",
        f"{OURS} learns faster than {BASELINE}.",
        learns_faster,
        "Figure 1",
        POINT,
        section="Section 4",
    ),
)
