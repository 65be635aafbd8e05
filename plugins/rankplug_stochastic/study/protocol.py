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
        divisor: by which the paper's widths of layers are divided; none falls below 8.
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
    "quick": Size(
        (
            Collection("synthetic[shape=mslr,queries=600,documents=20,valid_queries=300,test_queries=2000]", 20, 1.0),
            Collection(
                "synthetic[shape=yahoo,editions=1,queries=600,documents=10,valid_queries=300,test_queries=2000]",
                20,
                0.1,
            ),
        ),
        trials=8,
        divisor=8,
        batch=16,
        epochs=20,
        rounds=100,
        leaves=15,
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
FIXED_LAYERS = (1024, 512, 256, 128, 64, 32, 16)
TUNED_LAYERS = (1024, 512, 256)
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
    for data_name, collection in zip((WEB30K, YAHOO), collections, strict=False):
        models = MODELS if data_name == WEB30K else MODELS[2:]
        shared = {"dataset": collection.dataset, "transforms": list(collection.transforms), "metrics": list(METRICS)}
        for setting in ("fixed", "tuned"):
            parts = {model: parts_of(BY_NAME[model], size, collection, setting == "tuned") for model in models}
            name, scored = f"{setting} {data_name}", (setting, data_name) == ("fixed", WEB30K)
            # Figure 3 shows curves on training data of setting A on the first collection, which B's other models share.
            shown = [BY_NAME[model] for model in models if data_name == WEB30K]
            of_figure = [parts_of(model, size, collection, tuned=False) for model in shown]
            parts = {
                model: those if those in of_figure else without_train_curve(size, those)
                for model, those in parts.items()
            }
            asked = Runs(
                name, parts, shared, size.folds, size.trials, kind=setting, place=data_name, choosing=size.choosing
            )
            # What noise on the scores of trained models does is told for Figure 3's models on the first collection.
            yield replace(asked, keep_scores=scored)
    first, data_name = collections[0], WEB30K
    shared = {"dataset": first.dataset, "transforms": list(first.transforms), "metrics": list(METRICS)}
    several = {model: without_train_curve(size, parts) for model, parts in crossed(size, first).items()}
    both = Runs(f"{CROSSED} {data_name}", several, shared, size.folds, size.trials, kind=CROSSED, place=data_name)
    yield replace(both, choosing=size.choosing)
    if size.noise:
        noisy = kinds_of_noise(size, first)
        yield Runs(f"{NOISE} {data_name}", noisy, shared, size.folds, size.noise, kind=NOISE, place=data_name)
    if size.mentioned:
        further = {model: without_train_curve(size, parts) for model, parts in mentioned(size, first).items()}
        there = Runs(
            f"{MENTIONED} {data_name}", further, shared, size.folds, size.mentioned, kind=MENTIONED, place=data_name
        )
        yield replace(there, choosing=size.choosing)


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
    # Without noise, and with the paper's, they are models of setting A, which are trained once.
    of_setting = ("", NOISE_OF_NETWORKS)
    return {
        name: {**(expected if sampler in of_setting else without_train_curve(size, expected)), "sampler": sampler}
        for name, sampler in samplers.items()
    }


def without_train_curve(size: Size, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a model of which no figure shows the curve on training data."""
    return dict(parts) if size.all_train_curves else {**parts, "train_curve": False}


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
    widths = TUNED_LAYERS if network == "B" else FIXED_LAYERS
    layers = ",".join(str(max(8, width // size.divisor)) for width in widths)
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
    return "(" + ",".join("0.5" for _ in TUNED_LAYERS) + ")" if size.dropout_between else "0.5"
