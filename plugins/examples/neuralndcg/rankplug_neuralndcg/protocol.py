"""Training protocol: one network, three losses, at five sizes.

The paper compares NeuralNDCG with ApproxNDCG, which is optimised directly too, and with LambdaRank among others.
"""

from collections.abc import Iterable

from rankplug.plotting import PALETTE
from rankplug.studies import Profile, Runs

OURS, DIRECT, STRONG = "NeuralNDCG", "ApproxNDCG", "LambdaRank"
MODELS = {OURS: {"loss": "neural_ndcg"}, DIRECT: {"loss": "approx_ndcg"}, STRONG: {"loss": "lambdarank"}}
COLOURS = dict(zip(MODELS, PALETTE, strict=False))
"""One colour for each model, the same in every figure."""
SIZES: dict[Profile, tuple[str, int, int]] = {
    "smoke": ("synthetic[queries=40,documents=10]", 3, 3),
    "quick": ("synthetic[queries=300,test_queries=2000]", 20, 5),
    "full": ("synthetic[queries=2000,test_queries=5000]", 50, 10),
    "real": ("ohsumed", 50, 1),
    "paper": ("mslr-web30k", 100, 1),
}
"""Data set, epochs and trials of each profile."""


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Return the runs that the paper needs at a profile."""
    dataset, epochs, trials = SIZES[profile]
    shared = {
        "dataset": data or dataset,
        "transforms": ["standardise"],
        "backend": f"torch[epochs={epochs},lr=0.001,batch=128,l2=0,schedule=constant,scaling=none]",
        "scorer": "mlp[layers=(32,)]",
        "metrics": ["ndcg@5", "ndcg@10"],
    }
    folds = tuple(range(1, 6)) if profile in ("real", "paper") and data is None else (1,)
    return [Runs("quality", MODELS, shared, folds=folds, trials=trials)]
