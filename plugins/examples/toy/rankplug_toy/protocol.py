"""Training protocol of the paper at five sizes: the same code from seconds to the published protocol."""

from collections.abc import Iterable

from rankplug.plotting import PALETTE
from rankplug.studies import Profile, Runs

OURS, BASELINE = "XE-NDCG", "lambdaMART"
MODELS = {BASELINE: {"loss": "lambdarank"}, OURS: {"loss": "xe_ndcg"}}
COLOURS = dict(zip(MODELS, PALETTE, strict=False))
"""One colour for each model, the same in every figure."""
SIZES: dict[Profile, tuple[str, int, int]] = {
    "smoke": ("synthetic[queries=40,documents=10]", 8, 3),
    "quick": ("synthetic[queries=300,test_queries=2000]", 60, 5),
    "full": ("synthetic[queries=2000,test_queries=5000]", 300, 10),
    "real": ("ohsumed", 300, 1),
    "paper": ("mslr-web30k", 500, 1),
}
"""Data set, trees and trials of each profile."""


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Return the runs that the paper needs at a profile."""
    dataset, trees, trials = SIZES[profile]
    leaves, smallest = (4, 2) if profile == "smoke" else (31, 20)
    shared = {
        "dataset": data or dataset,
        "backend": "lightgbm",
        "scorer": f"trees[rounds={trees},leaves={leaves},min_data={smallest}]",
        "metrics": ["ndcg@5", "ndcg@10"],
    }
    folds = tuple(range(1, 6)) if profile in ("real", "paper") and data is None else (1,)
    return [Runs("quality", MODELS, shared, folds=folds, trials=trials)]
