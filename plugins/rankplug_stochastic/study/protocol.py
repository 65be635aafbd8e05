"""Training protocol of the paper (Section 6.2) at five sizes, and comparisons that it lacks or only mentions.

Setting A, *fixed*: a baseline and its expected loss share all settings. Setting B, *tuned*: the expected losses of the
networks have a smaller network, dropout and Adam; those of the trees stay unchanged.

Validation data choose learning rates; at the profile ``paper``, which has ten trials, those of the first three do.

What the paper lacks: both losses of networks, plain and expected, with both networks and optimisers, all with equally
many learning rates to choose from; and the expected loss over scales of noise, numbers of samples and laws of noise.

What the paper mentions without numbers: ListMLE and RankNet, which it found weak; ApproxNDCG trained for longer. Beside
them setting B with dropout after the last hidden layer only, where the paper has it between all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankplug.plotting import PALETTE
from rankplug.registry import parse
from rankplug.studies import Profile, Runs

ADAM_GRID = "[0.0001,0.0005,0.001,0.005]"
ADAGRAD_GRID = "[0.001,0.005,0.02,0.1]"
"""Around the paper's 0.005, as many as there are for Adam."""


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
        layers: widths of the layers of networks A and B, as in the paper where a profile has no others.
        divisor: by which the widths are divided; none falls below 8.
        batch: queries a step.
        epochs: of the networks.
        rounds: trees at most.
        leaves: of a tree.
        patience: of the networks and of the trees, in epochs and trees.
        adam: learning rates to choose from in setting B.
        rates: learning rates to choose from where losses and networks are crossed, of A and of B, equally many.
        noise: repetitions of the comparison of scales, draws and laws of noise.
        mentioned: repetitions of what the paper only mentions.
        dropout_between: whether setting B has dropout after every hidden layer, as in the paper, or after the last.
        choosing: of how many first repetitions of every learning rate validation data choose; 0 for all.
        all_train_curves: whether there are curves on training data also of what no figure shows them of.
        bfloat16: whether the networks' matrix products are in bfloat16.
    """

    collections: tuple[Collection, ...]
    trials: int
    folds: tuple[int, ...] = (1,)
    layers: tuple[tuple[int, ...], tuple[int, ...]] = ((1024, 512, 256, 128, 64, 32, 16), (1024, 512, 256))
    divisor: int = 1
    batch: int = 128
    epochs: int = 300
    rounds: int = 1000
    leaves: int = 400
    patience: tuple[int | None, int | None] = (None, None)
    adam: str = "0.001"
    rates: tuple[str, str] = ("0.005", "0.001")
    noise: int = 0
    mentioned: int = 0
    dropout_between: bool = False
    choosing: int = 0
    all_train_curves: bool = True
    bfloat16: bool = False


COLOURS = {
    "lambdaMART": PALETTE[0],
    "E[lambdaMART]": PALETTE[4],
    "ApproxNDCG": PALETTE[3],
    "E[ApproxNDCG]": PALETTE[1],
    "CrossEntropy": PALETTE[7],
    "E[CrossEntropy]": PALETTE[5],
    "no noise": "black",
}
"""Colours of the models in all of the paper's figures."""
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
        noise=2,
        mentioned=2,
    ),
    # Five minutes for all studies: no claim needs seven layers. On pilot seeds most main claims then find half a point
    # with power .8 in 13 trials.
    "quick": Size(
        (
            Collection("synthetic[shape=mslr,queries=600,documents=20,valid_queries=600,test_queries=2000]", 20, 1.0),
            Collection(
                "synthetic[shape=yahoo,editions=1,queries=600,documents=10,valid_queries=600,test_queries=2000]",
                20,
                0.1,
            ),
        ),
        trials=13,
        layers=((512, 256, 128), (512, 256)),
        divisor=8,
        batch=16,
        epochs=15,
        rounds=60,
        leaves=15,
        all_train_curves=False,
    ),
    "full": Size(
        (
            Collection("synthetic[shape=mslr,queries=1500,documents=40,valid_queries=500,test_queries=3000]", 20, 1.0),
            Collection(
                "synthetic[shape=yahoo,editions=1,queries=1500,documents=15,valid_queries=500,test_queries=3000]",
                20,
                0.1,
            ),
        ),
        trials=28,
        divisor=8,
        batch=32,
        epochs=30,
        rounds=150,
        leaves=31,
        rates=("[0.005,0.02]", "[0.001,0.005]"),
        noise=40,
        mentioned=30,
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
        rates=(ADAGRAD_GRID, ADAM_GRID),
        noise=5,
        mentioned=5,
    ),
    "paper": Size(
        (Collection("mslr-web30k", 50, 200.0, 0.2), Collection("yahoo-c14", 100, 10.0, 0.01)),
        trials=10,
        patience=(30, 200),
        adam=ADAM_GRID,
        rates=(ADAGRAD_GRID, ADAM_GRID),
        noise=10,
        mentioned=10,
        dropout_between=True,
        choosing=3,
        all_train_curves=False,
        bfloat16=True,
    ),
}


WEB30K, YAHOO = "MSLR-WEB30K Fold1", "Yahoo LTRC Set1"
CROSSED, NOISE, MENTIONED = "crossed", "noise", "mentioned"
"""Groups of runs that the paper lacks: losses x networks, kinds of noise, and what it only mentions."""
WEAK = {"ListMLE": "listmle", "RankNet": "ranknet"}
LONGER, ELSEWHERE = "ApproxNDCG, three times the epochs", "E[ApproxNDCG], dropout elsewhere"
NETWORKS = ("A", "B")
"""The network and optimiser of setting A, and those that setting B gives the expected losses."""
NO_NOISE = "no noise"
SCALES, DRAWS, LAWS = (0.25, 0.5, 1.0, 2.0), (1, 2, 4, 8, 16), ("gaussian", "logistic")
METRICS = ("ndcg@1", "ndcg@5", "ndcg@10")
NOISE_OF_NETWORKS = "gumbel[beta=1.0,samples=8]"
NOISE_OF_TREES = "gumbel[beta=0.25,samples=8]"


@dataclass(frozen=True)
class PaperModel:
    """A model of the paper: a loss, or its expectation over noise on the scores.

    Args:
        name: in the paper.
        loss: the loss itself.
        trees: whether trees are trained, and no network.
        expected: whether it is the expectation.
    """

    name: str
    loss: str
    trees: bool = False
    expected: bool = False


BY_NAME = {
    model.name: model
    for name, loss, trees in (
        ("CrossEntropy", "cross_entropy", False),
        ("ApproxNDCG", "approx_ndcg[eta=10.0]", False),
        ("lambdaMART", "lambdarank[sigma=2.0]", True),
    )
    for model in (PaperModel(name, loss, trees), PaperModel(f"E[{name}]", loss, trees, expected=True))
}
MODELS = tuple(BY_NAME)
LOSSES_OF_NETWORKS = tuple(model.name for model in BY_NAME.values() if not model.trees)


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the groups ``fixed`` and ``tuned`` of each collection, named as ``fixed MSLR-WEB30K Fold1``, then those
    that the paper lacks, on the first collection.

    Args:
        profile: how large.
        data: a data set in the place of Web30K; Yahoo's place then stays empty.
    """
    size = SIZES[profile]
    collections = size.collections
    if data is not None:
        first = collections[0]
        collections = (Collection(data, first.min_data, first.min_hessian, first.momentum),)
    first = collections[0]
    # Figure 3 shows curves on training data of setting A on the first collection, and no figure those of others.
    shown = [parts_of(model, size, first, tuned=False) for model in BY_NAME.values()]

    def group(kind: str, place: str, collection: Collection, models: Mapping[str, Any], trials: int) -> Runs:
        known = shown if collection is first else []
        parts = {
            name: dict(those) if size.all_train_curves or those in known else {**those, "train_curve": False}
            for name, those in models.items()
        }
        shared = {"dataset": collection.dataset, "transforms": list(collection.transforms), "metrics": list(METRICS)}
        runs = Runs(f"{kind} {place}", parts, shared, size.folds, trials, kind=kind, place=place)
        return runs if kind == NOISE else replace(runs, choosing=size.choosing)

    for place, collection in zip((WEB30K, YAHOO), collections, strict=False):
        models = MODELS if place == WEB30K else MODELS[2:]
        for setting in ("fixed", "tuned"):
            parts = {model: parts_of(BY_NAME[model], size, collection, setting == "tuned") for model in models}
            # The scores of Figure 3's models on the first collection show what noise on them takes.
            scored = (setting, place) == ("fixed", WEB30K)
            yield replace(group(setting, place, collection, parts, size.trials), keep_scores=scored)
    yield group(CROSSED, WEB30K, first, crossed(size, first), size.trials)
    if size.noise:
        yield group(NOISE, WEB30K, first, kinds_of_noise(size, first), size.noise)
    if size.mentioned:
        yield group(MENTIONED, WEB30K, first, mentioned(size, first), size.mentioned)


def mentioned(size: Size, collection: Collection) -> dict[str, dict[str, Any]]:
    """Return the parts of ListMLE and RankNet, of a longer training, and of dropout in the other place."""
    plain = parts_of(BY_NAME["ApproxNDCG"], size, collection, tuned=False)
    longer = replace(size, epochs=3 * size.epochs)
    elsewhere = replace(size, dropout_between=not size.dropout_between)
    return {
        **{name: {**plain, "loss": loss} for name, loss in WEAK.items()},
        # Early stopping would end it where it ends the shorter training.
        LONGER: {**parts_of(BY_NAME["ApproxNDCG"], longer, collection, tuned=False), "patience": None},
        ELSEWHERE: parts_of(BY_NAME["E[ApproxNDCG]"], elsewhere, collection, tuned=True),
    }


def crossed(size: Size, collection: Collection) -> dict[str, dict[str, Any]]:
    """Return the parts of every loss of networks with every network, each with equally many learning rates."""
    return {
        arm(loss, network): {
            **parts_of(BY_NAME[loss], size, collection, tuned=False),
            **network_of(size, collection, network, dict(zip(NETWORKS, size.rates, strict=True))[network]),
        }
        for loss in LOSSES_OF_NETWORKS
        for network in NETWORKS
    }


def arm(loss: str, network: str) -> str:
    """Return what figures call a loss on a network.

    >>> arm("ApproxNDCG", "B")
    'ApproxNDCG, B'
    """
    return f"{loss}, {network}"


def kinds_of_noise(size: Size, collection: Collection) -> dict[str, dict[str, Any]]:
    """Return the parts of E[ApproxNDCG] in setting A under one kind of noise after the other, and of none."""
    expected = parts_of(BY_NAME["E[ApproxNDCG]"], size, collection, tuned=False)
    samplers = {
        **{f"beta = {scale:g}": f"gumbel[beta={scale},samples=8]" for scale in SCALES},
        **{f"N = {draws}": f"gumbel[beta=1.0,samples={draws}]" for draws in DRAWS},
        **{law: f"{law}[beta=1.0,samples=8]" for law in LAWS},
        NO_NOISE: "",
    }
    return {name: {**expected, "sampler": sampler} for name, sampler in samplers.items()}


def parts_of(model: PaperModel, size: Size, collection: Collection, tuned: bool) -> dict[str, Any]:
    """Return the parts of a model's combination beside its data."""
    expected = model.expected
    if model.trees:
        return {
            "backend": "lightgbm",
            "scorer": f"trees[leaves={size.leaves},learning_rate=0.05,rounds={size.rounds},l2=0,"
            f"min_data={collection.min_data},min_hessian={collection.min_hessian},bagging=0.9,feature_fraction=1]",
            "loss": model.loss,
            "sampler": NOISE_OF_TREES if expected else "",
            "patience": size.patience[1],
        }
    small = tuned and expected
    return {
        **network_of(size, collection, "B" if small else "A", size.adam if small else "0.005"),
        "loss": model.loss,
        "sampler": NOISE_OF_NETWORKS if expected else "",
        "patience": size.patience[0],
    }


def network_of(size: Size, collection: Collection, network: str, rates: str) -> dict[str, Any]:
    """Return backend and scorer of a network: A's seven layers with Adagrad, or B's three with dropout and Adam."""
    layers = ",".join(str(max(8, width // size.divisor)) for width in size.layers[NETWORKS.index(network)])
    common = f"layers=({layers}),batch_norm=true,input_batch_norm=true"
    steps = f"batch={size.batch},epochs={size.epochs},l2=0,schedule=constant,scaling=none"
    if size.bfloat16:
        steps += ",autocast=true"
    if network == "B":
        return {
            "backend": f"torch[optimiser=adam,lr={rates},reduction=mean,{steps}]",
            "scorer": f"mlp[{common},momentum=0.6,dropout={_dropout(size)}]",
        }
    return {
        "backend": f"torch[optimiser=adagrad,lr={rates},reduction=sum,{steps}]",
        "scorer": f"mlp[{common},momentum={collection.momentum}]",
    }


def scale_of_noise(model: PaperModel) -> float:
    """Return the scale of the noise under which a model's expected loss is trained."""
    return float(parse(NOISE_OF_TREES if model.trees else NOISE_OF_NETWORKS).parameters["beta"])


def _dropout(size: Size) -> str:
    """Return the shares that setting B leaves out."""
    return "(" + ",".join("0.5" for _ in size.layers[1]) + ")" if size.dropout_between else "0.5"
