"""Runs of the study: the release's baselines that are here, on its five folds, chosen by MAP on validation parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankplug.studies import Profile, Runs

GROUP = "LETOR 2.0 OHSUMED"
DATASET = "ohsumed-letor2"
MEASURES = {
    "NDCG@1": "ndcg@1[discount=jk,empty=0]",
    "NDCG@3": "ndcg@3[discount=jk,empty=0]",
    "NDCG@5": "ndcg@5[discount=jk,empty=0]",
    "NDCG@10": "ndcg@10[discount=jk,empty=0]",
    "MAP": "map[empty=0]",
}
"""The release's measures by the conventions that give all numbers of its single features."""
WITHIN_LISTS = "RankBoost, a law for each list"
"""Our variant whose pair weights add up to 1 within each list; the release has no such row."""
OFFICIAL = {
    "RankSVM": "RankSVM",
    "ListNet": "ListNet",
    "RankBoost": "RankBoost",
    "FRank": "FRank",
    WITHIN_LISTS: "RankBoost",
    "AdaRank.MAP": "AdaRank.MAP",
    "AdaRank.NDCG": "AdaRank.NDCG",
}
"""Models that are run, each with the official row it stands beside."""
MEASURED_AT = 5
"""Cut-off of the NDCG that AdaRank.NDCG trains by, as in its paper; the release does not tell its own."""
NOT_HERE = {
    "MHR-BC": "the release names it and prints its numbers; what it minimises and how is in no source at hand",
}
"""Rows of the release without a run, each with the reason."""


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        dataset: the data.
        folds: folds of the data.
        rounds: weak rankers of RankBoost, FRank and AdaRank.
        iterations: steps of L-BFGS and planes of the cutting planes for each C.
        C: regularisation that validation data choose from: RankSVM's, of the sum over all pairs, and ListNet's.
    """

    dataset: str
    folds: tuple[int, ...] = (1,)
    rounds: int = 30
    iterations: int = 20
    C: tuple[tuple[float, ...], tuple[float, ...]] = ((1e-3, 1e-1), (1e-1, 10.0))


REAL = Size(
    DATASET,
    folds=(1, 2, 3, 4, 5),
    rounds=300,
    iterations=200,
    C=((1e-5, 1e-4, 1e-3, 1e-2, 1e-1), (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
)
SIZES: Mapping[Profile, Size] = {
    "smoke": Size("synthetic[shape=ohsumed,queries=25,documents=10]", rounds=3, iterations=3),
    "quick": Size("synthetic[shape=ohsumed,queries=100,documents=20]"),
    "full": Size("synthetic[shape=ohsumed,queries=200,documents=40]", rounds=100, iterations=60),
    "real": REAL,
    "paper": REAL,
}


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the one group of runs.

    Args:
        profile: size of the runs; synthetic data take the release's place below ``real``.
        data: a data set in place of the profile's own.
    """
    size = SIZES[profile]
    shared = {
        "dataset": data or size.dataset,
        "transforms": [],
        "metrics": list(MEASURES.values()),
        "selection": [MEASURES["MAP"]],
    }
    yield Runs(GROUP, models_of(size), shared, size.folds)


def models_of(size: Size) -> dict[str, dict[str, Any]]:
    """Return each model's parts; linear ones see features scaled within each query, thresholds need no scale."""
    of_pairs, of_lists = (f"({','.join(f'{choice:g}' for choice in choices)})" for choices in size.C)
    svm = f"cutting_planes[C={of_pairs},planes={size.iterations},scaling=none]"
    listnet = f"lbfgs[C={of_lists},iterations={size.iterations},scaling=none]"
    scaled = {"scorer": "linear", "transforms": ["query_minmax"]}
    stumps = {"backend": "rankboost", "scorer": f"stumps[rounds={size.rounds}]"}
    features = {
        "backend": "adarank",
        "scorer": f"single_features[rounds={size.rounds}]",
        "transforms": ["query_minmax"],
    }
    return {
        "RankSVM": {"backend": svm, "loss": "ranksvm", **scaled},
        "ListNet": {"backend": listnet, "loss": "listnet", **scaled},
        "RankBoost": {**stumps, "loss": "rankboost"},
        "FRank": {**stumps, "backend": "frank", "loss": "fidelity"},
        WITHIN_LISTS: {**stumps, "loss": "rankboost[pairs=list]"},
        "AdaRank.MAP": {**features, "loss": "adarank[measure=map]"},
        "AdaRank.NDCG": {**features, "loss": f"adarank[measure=ndcg,at={MEASURED_AT},discount=jk]"},
    }
