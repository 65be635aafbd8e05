"""Training protocol of the paper (Sections 5.1 to 5.5) at five sizes.

All parts of a collection are pooled, and each trial splits the queries anew, 60/20/20; made data are drawn anew for
each trial instead. The models of a trial share its data. Noise touches the training part; clicks replace the labels of
the training and the validation part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankplug.plotting import PALETTE
from rankplug.studies import Profile, Runs

PLACES = WEB30K, YAHOO = "MSLR-WEB30K", "Yahoo LTRC Set1"
MODELS = {"ListNet": "listnet", "lambdaMART": "lambdarank[sigma=1.0]", "XE-NDCG": "xe_ndcg"}
GAMMA = "gamma"
"""Group of runs that the paper lacks: XE-NDCG with its gammas drawn otherwise, or fixed."""
GAMMAS = {
    "anew for each tree": MODELS["XE-NDCG"],
    "once": "xe_ndcg[gamma=once]",
    **{f"fixed at {value:g}": f"xe_ndcg[gamma={value}]" for value in (0.0, 0.5, 1.0)},
}
"""Names of what draws gamma -> losses, the paper's first."""
COMPARED = ("lambdaMART", "XE-NDCG")
METRICS = ("ndcg@5", "ndcg@10")
SPLIT = "random_split"

Noise = Literal["negatives", "flips", "clicks"]


@dataclass(frozen=True)
class Collection:
    """A data set, and the settings that depend on it.

    Args:
        dataset: its name.
        leaves: of a tree.
        min_data: documents of a leaf at least.
        labels: how many different labels there are; those of the paper's law of flips that do not exist are left out.
        pooled: whether trials split one pool of queries, rather than draw queries of their own.
    """

    dataset: str
    leaves: int
    min_data: int
    labels: int = 5
    pooled: bool = True


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: in the place of Web30K and of Yahoo.
        trials: repetitions of the comparison and of the noisy labels.
        click_trials: repetitions of the clicks.
        gamma_trials: repetitions of the comparison of gammas.
        trials_between: repetitions of the levels of noise between the lowest and the highest, on which no claim
            depends.
        rounds: trees at most.
        max_bin: values of a feature that trees tell apart.
        learning_rate: factor on the leaves' values.
        patience: trees without improvement of the validation NDCG@5 after which training stops.
        negatives: shares of documents added.
        flips: shares of labels drawn anew.
        clicks: click probabilities of label 0.
        train_curves: whether learning curves have training data, which no exhibit shows.
    """

    collections: tuple[Collection, ...]
    trials: int
    click_trials: int
    gamma_trials: int = 0
    trials_between: int = 0
    rounds: int = 500
    max_bin: int = 255
    learning_rate: float = 0.02
    patience: int | None = 50
    negatives: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6)
    flips: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6)
    clicks: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25)
    train_curves: bool = True

    def levels(self, kind: Noise) -> tuple[float, ...]:
        """Return the levels of a kind of noise."""
        return {"negatives": self.negatives, "flips": self.flips, "clicks": self.clicks}[kind]


COLOURS = {
    "lambdaMART": PALETTE[0],
    "ListNet": PALETTE[7],
    "XE-NDCG": PALETTE[2],
}
"""Colours of the models in all of the paper's figures."""
SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        (
            Collection("synthetic[shape=mslr,queries=40,documents=12]", 4, 5, pooled=False),
            Collection("synthetic[shape=yahoo,queries=40,documents=8]", 4, 5, pooled=False),
        ),
        trials=2,
        click_trials=2,
        rounds=6,
        learning_rate=0.1,
        negatives=(0.0, 0.6),
        flips=(0.0, 0.6),
        clicks=(0.05, 0.25),
    ),
    # Five minutes for all studies: most trials go to what main claims compare, both losses and the ends of the noise.
    "quick": Size(
        (
            Collection("synthetic[shape=mslr,queries=800,documents=20,test_queries=2000]", 15, 20, pooled=False),
            Collection(
                "synthetic[shape=yahoo,editions=1,queries=800,documents=10,test_queries=2000]", 15, 20, pooled=False
            ),
        ),
        trials=12,
        click_trials=4,
        gamma_trials=4,
        trials_between=4,
        rounds=40,
        max_bin=63,
        learning_rate=0.1,
        patience=None,
        negatives=(0.0, 0.3, 0.6),
        flips=(0.0, 0.3, 0.6),
        clicks=(0.05, 0.15, 0.25),
        train_curves=False,
    ),
    "full": Size(
        (
            Collection("synthetic[shape=mslr,queries=2000,documents=40,test_queries=3000]", 31, 20, pooled=False),
            Collection(
                "synthetic[shape=yahoo,editions=1,queries=2000,documents=15,test_queries=3000]", 31, 20, pooled=False
            ),
        ),
        trials=20,
        click_trials=20,
        rounds=100,
        max_bin=63,
        learning_rate=0.1,
        patience=None,
        negatives=(0.0, 0.3, 0.6),
        flips=(0.0, 0.3, 0.6),
        clicks=(0.05, 0.15, 0.25),
    ),
    "real": Size(
        (Collection("ohsumed", 31, 20, labels=3), Collection("mq2008", 31, 20, labels=3)),
        trials=20,
        click_trials=20,
        rounds=300,
        learning_rate=0.05,
    ),
    "paper": Size(
        (Collection("mslr-web30k", 400, 50), Collection("yahoo-c14", 200, 100)),
        trials=100,
        click_trials=20,
        train_curves=False,
    ),
}


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the comparison of the three losses on each collection, one group for each kind and level of noise, and the
    one of gammas on the first collection.

    Args:
        profile: how large.
        data: a data set in the place of Web30K; Yahoo's place then stays empty.
    """
    size, of_noise = SIZES[profile], {model: MODELS[model] for model in COMPARED}
    collections = size.collections
    if data is not None:
        collections = (Collection(data, collections[0].leaves, collections[0].min_data, collections[0].labels),)
    for data_name, collection in zip((WEB30K, YAHOO), collections, strict=False):
        alike = _group(f"quality, {data_name}", size, collection, MODELS, [])
        yield replace(alike, kind="quality", place=data_name)
        for kind in ("negatives", "flips", "clicks"):
            lowest, *_, highest = size.levels(kind)
            for level in size.levels(kind):
                transforms = transforms_of(kind, level, collection.labels)
                noisy = _group(group_name(kind, data_name, level), size, collection, of_noise, transforms)
                between = 0 if level in (lowest, highest) else size.trials_between
                trials = size.click_trials if kind == "clicks" else between or size.trials
                yield replace(noisy, trials=trials, kind=kind, place=data_name, level=level)
    gammas = _group(f"{GAMMA}, {WEB30K}", size, collections[0], GAMMAS, [])
    yield replace(gammas, trials=size.gamma_trials or size.trials, kind=GAMMA, place=WEB30K)


def group_name(kind: Noise, place: str, level: float) -> str:
    """Return the name of the group of runs at a level of noise."""
    return f"{kind}, {place}, {level:g}"


def transforms_of(kind: Noise, level: float, labels: int = 5) -> list[str]:
    """Return the transforms that make a level of noise; none at level 0.

    >>> transforms_of("negatives", 0.2), transforms_of("clicks", 0.05), transforms_of("flips", 0.0)
    (['negative_augmentation[share=0.2]'], ['cascade_clicks[p0=0.05]'], [])
    """
    if kind == "clicks":
        return [f"cascade_clicks[p0={level}]"]
    if level == 0:
        return []
    if kind == "negatives":
        return [f"negative_augmentation[share={level}]"]
    return [f"label_flips[share={level}{_law(labels)}]"]


def _law(labels: int) -> str:
    """Return the paper's law of new labels, restricted to the labels of the data if they have fewer than five."""
    if labels == 5:
        return ""
    left = (0.5, 0.2, 0.15, 0.1, 0.05)[:labels]
    return ",law=(" + ",".join(repr(share / sum(left)) for share in left) + ")"


def _group(name: str, size: Size, collection: Collection, losses: Mapping[str, str], transforms: list[str]) -> Runs:
    parts: dict[str, dict[str, Any]] = {model: {"loss": loss} for model, loss in losses.items()}
    shared = {
        "dataset": collection.dataset,
        "transforms": [SPLIT, *transforms] if collection.pooled else transforms,
        "backend": "lightgbm",
        "scorer": f"trees[leaves={collection.leaves},learning_rate={size.learning_rate},rounds={size.rounds},l2=0,"
        f"min_data={collection.min_data},min_hessian=0.0,max_bin={size.max_bin},feature_fraction=1]",
        "patience": size.patience,
        "train_curve": size.train_curves,
        "metrics": list(METRICS),
    }
    return Runs(name, parts, shared, trials=size.trials)
