"""Training protocol of the paper (Section 6.2) at five sizes.

Setting A, *fixed*: a baseline and its expected loss share all settings. Setting B, *tuned*: the expected losses of the
networks have a smaller network, dropout and Adam; those of the trees stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankplug.studies import Profile, Runs

WEB30K, YAHOO = "MSLR-WEB30K Fold1", "Yahoo LTRC Set1"
MODELS = ("CrossEntropy", "E[CrossEntropy]", "ApproxNDCG", "E[ApproxNDCG]", "lambdaMART", "E[lambdaMART]")
FIXED_LAYERS = (1024, 512, 256, 128, 64, 32, 16)
TUNED_LAYERS = (1024, 512, 256)
ADAM_GRID = "[0.0001,0.0005,0.001,0.005]"
METRICS = ("ndcg@1", "ndcg@5", "ndcg@10")
NOISE_OF_NETWORKS = "gumbel[beta=1.0,samples=8]"
NOISE_OF_TREES = "gumbel[beta=0.25,samples=8]"


@dataclass(frozen=True)
class Collection:
    """A data set, and the settings that depend on it.

    Args:
        dataset: its name.
        min_data: documents of a leaf at least.
        min_hessian: sum of curvatures of a leaf at least.
        momentum: share of a batch in the running mean of batch normalisation, 1 - TensorFlow's.
        transforms: of the data.
    """

    dataset: str
    min_data: int
    min_hessian: float
    momentum: float = 0.2
    transforms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: in the place of Web30K and of Yahoo.
        trials: repetitions.
        folds: of the data set.
        divisor: by which the paper's widths of layers are divided; none falls below 8.
        batch: queries a step.
        epochs: of the networks.
        rounds: trees at most.
        leaves: of a tree.
        patience: of the networks and of the trees, in epochs and trees.
        adam: learning rates to choose from in setting B.
    """

    collections: tuple[Collection, ...]
    trials: int
    folds: tuple[int, ...] = (1,)
    divisor: int = 1
    batch: int = 128
    epochs: int = 300
    rounds: int = 1000
    leaves: int = 400
    patience: tuple[int | None, int | None] = (None, None)
    adam: str = "0.001"


SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        (
            Collection("synthetic[shape=mslr,queries=40,documents=12]", 5, 0.0),
            Collection("synthetic[shape=yahoo,queries=40,documents=8]", 5, 0.0),
        ),
        trials=2,
        divisor=64,
        batch=8,
        epochs=4,
        rounds=8,
        leaves=4,
    ),
    "quick": Size(
        (
            Collection("synthetic[shape=mslr,queries=600,documents=20,valid_queries=300,test_queries=2000]", 20, 1.0),
            Collection("synthetic[shape=yahoo,queries=600,documents=10,valid_queries=300,test_queries=2000]", 20, 0.1),
        ),
        trials=10,
        divisor=8,
        batch=16,
        epochs=25,
        rounds=100,
        leaves=15,
    ),
    "full": Size(
        (
            Collection("synthetic[shape=mslr,queries=1500,documents=60,valid_queries=500,test_queries=3000]", 20, 1.0),
            Collection("synthetic[shape=yahoo,queries=1500,valid_queries=500,test_queries=3000]", 20, 0.1),
        ),
        trials=10,
        divisor=8,
        batch=32,
        epochs=30,
        rounds=150,
        leaves=31,
    ),
    "real": Size(
        (Collection("ohsumed", 20, 1.0), Collection("mq2008", 20, 1.0)),
        trials=5,
        folds=(1, 2, 3, 4, 5),
        divisor=8,
        batch=16,
        epochs=100,
        rounds=300,
        leaves=31,
        patience=(30, 100),
        adam=ADAM_GRID,
    ),
    "paper": Size(
        (Collection("mslr-web30k", 50, 200.0, 0.2), Collection("yahoo-c14", 100, 10.0, 0.01)),
        trials=10,
        patience=(30, 200),
        adam=ADAM_GRID,
    ),
}


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the groups ``fixed`` and ``tuned`` of each collection, named as ``fixed MSLR-WEB30K Fold1``.

    Args:
        profile: how large.
        data: a data set in the place of Web30K; Yahoo's place then stays empty.
    """
    size = SIZES[profile]
    collections = size.collections
    if data is not None:
        first = collections[0]
        collections = (Collection(data, first.min_data, first.min_hessian, first.momentum),)
    for place, collection in zip((WEB30K, YAHOO), collections, strict=False):
        models = MODELS if place == WEB30K else MODELS[2:]
        shared = {"dataset": collection.dataset, "transforms": list(collection.transforms), "metrics": list(METRICS)}
        for setting in ("fixed", "tuned"):
            parts = {model: parts_of(model, size, collection, setting == "tuned") for model in models}
            yield Runs(f"{setting} {place}", parts, shared, size.folds, size.trials)


def parts_of(model: str, size: Size, collection: Collection, tuned: bool) -> dict[str, Any]:
    """Return the parts of a model's combination beside its data."""
    expected, trees = model.startswith("E["), "lambdaMART" in model
    if trees:
        return {
            "backend": "lightgbm",
            "scorer": f"trees[leaves={size.leaves},learning_rate=0.05,rounds={size.rounds},"
            f"min_data={collection.min_data},min_hessian={collection.min_hessian},bagging=0.9]",
            "loss": "lambdarank[sigma=2.0]",
            "sampler": NOISE_OF_TREES if expected else "",
            "patience": size.patience[1],
        }
    loss = "cross_entropy" if "CrossEntropy" in model else "approx_ndcg[eta=10.0]"
    widths = TUNED_LAYERS if tuned and expected else FIXED_LAYERS
    layers = ",".join(str(max(8, width // size.divisor)) for width in widths)
    steps = f"batch={size.batch},epochs={size.epochs}"
    network = f"layers=({layers}),batch_norm=true,input_batch_norm=true"
    if tuned and expected:
        backend = f"torch[optimiser=adam,lr={size.adam},reduction=mean,{steps}]"
        scorer = f"mlp[{network},momentum=0.6,dropout=0.5]"
    else:
        backend = f"torch[optimiser=adagrad,lr=0.005,reduction=sum,{steps}]"
        scorer = f"mlp[{network},momentum={collection.momentum}]"
    return {
        "backend": backend,
        "scorer": scorer,
        "loss": loss,
        "sampler": NOISE_OF_NETWORKS if expected else "",
        "patience": size.patience[0],
    }
