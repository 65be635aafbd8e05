"""Training protocol of the paper (Sections 4 and 5) at five sizes.

Networks see features scaled to [0, 1] within a query, one query a step, and the epoch is chosen on validation data by
NDCG@1, then @3, @5, @10. Trees see raw features, and NDCG@10 chooses their number. Queries without a relevant document
are left out, and queries of one rating from training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankplug.plotting import PALETTE
from rankplug.studies import Profile, Results, Runs

OHSUMED, MQ2007, WEB10K, WEB30K = "OHSUMED", "MQ2007", "MSLR-WEB10K", "MSLR-WEB30K"


@dataclass(frozen=True)
class Collection:
    """A data set in the place of one of the paper's, and the settings that depend on it.

    Args:
        place: the paper's collection.
        dataset: its name.
        layers: widths of the networks.
        learning_rate: of Adam.
        window: of uMart.
        min_hessian: sum of curvatures of a leaf at least.
        largest_label: of the whole collection.
        epochs: of a network at most, in place of the profile's.
        patience: of the networks in epochs, in place of the profile's.
        selecting: data whose test part chooses the epoch, of the collection's own share of the queries; the same data
            where there is none. It begins with the same queries, see the parameter ``test_queries`` of made data.
    """

    place: str
    dataset: str
    layers: tuple[int, ...]
    learning_rate: float
    window: int = 2
    min_hessian: float = 1e-3
    largest_label: int = 2
    epochs: int | None = None
    patience: int | None = None
    selecting: str = ""


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: in their places.
        trials: repetitions; the paper has one.
        folds: of each data set.
        epochs: of a network at most.
        patience: epochs without improvement after which a network is done; None makes all.
        learners: networks of uBoost and of urBoost at most.
        rounds: trees.
        leaves: of a tree.
        max_bin: values of a feature that trees tell apart.
        policy_rates: learning rates of MDPRank's policy to choose from.
        choices: repetitions of what the text says it tried.
        sparse: repetitions with features made sparse.
        evaluated: repetitions of LightGBM's evaluation; as of the tables where there are none.
        test_selected: runs the diagnosis of choosing on the test part, which takes hundreds of small trials to tell.
        train_curves: whether learning curves have training data, which no exhibit shows.
    """

    collections: tuple[Collection, ...]
    trials: int
    folds: tuple[int, ...]
    epochs: int
    patience: int | None
    learners: tuple[int, int]
    rounds: int
    leaves: int
    max_bin: int = 255
    policy_rates: str = "[0.001,0.0001]"
    choices: int = 0
    sparse: int = 0
    evaluated: int = 0
    test_selected: bool = True
    train_curves: bool = True


def _made(
    place: str,
    shape: str,
    queries: int,
    documents: int,
    layers: tuple[int, ...],
    rate: float,
    valid: int | None = None,
    test: int | None = None,
) -> Collection:
    # MQ2007 has the shape of OHSUMED and WEB30K that of WEB10K; without a replica they would have the same queries.
    replica = ",replica=1" if place in (MQ2007, WEB30K) else ""
    small = f"synthetic[shape={shape},queries={queries},documents={documents}{replica}]"
    asked = {"valid_queries": valid, "test_queries": test}
    large = small[:-1] + "".join(f",{name}={count}" for name, count in asked.items() if count) + "]"
    return Collection(
        place,
        large,
        layers,
        rate,
        window=10 if place == MQ2007 else 2,
        largest_label=4 if shape == "mslr" else 2,
        selecting=large.replace(f",test_queries={test}", ""),
    )


COLOURS = {
    "uMart": PALETTE[2],
    "uRank": PALETTE[5],
    "uBoost": PALETTE[1],
    "urBoost": PALETTE[3],
}
"""Colours of the models in all of the paper's figures."""
SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        (
            _made(OHSUMED, "ohsumed", 25, 12, (8, 4), 0.003),
            _made(MQ2007, "ohsumed", 25, 8, (8, 4), 0.003),
            _made(WEB10K, "mslr", 25, 10, (8, 4), 0.003),
            _made(WEB30K, "mslr", 30, 10, (8, 4), 0.003),
        ),
        trials=2,
        folds=(1,),
        epochs=2,
        patience=None,
        learners=(2, 2),
        rounds=5,
        leaves=4,
        policy_rates="0.001",
        choices=2,
        sparse=2,
    ),
    # Five minutes for all studies: steps of one query each take the time, so that there are few queries and epochs.
    "quick": Size(
        (
            _made(OHSUMED, "ohsumed", 200, 20, (20, 10), 0.002, 100, 2000),
            _made(MQ2007, "ohsumed", 200, 20, (20, 20), 0.002, 100, 2000),
            _made(WEB10K, "mslr", 200, 20, (20, 20), 0.002, 100, 2000),
            _made(WEB30K, "mslr", 240, 20, (20, 20), 0.002, 100, 2000),
        ),
        trials=8,
        folds=(1,),
        epochs=4,
        patience=None,
        learners=(2, 2),
        rounds=40,
        leaves=15,
        policy_rates="0.001",
        sparse=8,
        evaluated=3,
        test_selected=False,
        train_curves=False,
    ),
    "full": Size(
        (
            _made(OHSUMED, "ohsumed", 200, 100, (50, 25), 0.0005, 200, 3000),
            _made(MQ2007, "ohsumed", 400, 30, (50, 50), 0.0005, 200, 3000),
            _made(WEB10K, "mslr", 400, 60, (50, 50), 0.0005, 200, 3000),
            _made(WEB30K, "mslr", 600, 60, (50, 50), 0.0005, 200, 3000),
        ),
        trials=14,
        folds=(1,),
        epochs=20,
        patience=None,
        learners=(3, 2),
        rounds=150,
        leaves=31,
        policy_rates="0.001",
        choices=34,
        sparse=14,
    ),
    "real": Size(
        (
            Collection(OHSUMED, "ohsumed", (100, 50), 1e-4),
            Collection(MQ2007, "mq2008", (100, 100), 1e-4, window=10, epochs=200, patience=30),
        ),
        trials=3,
        folds=(1, 2, 3, 4, 5),
        epochs=1000,
        patience=200,
        learners=(5, 2),
        rounds=300,
        leaves=31,
        choices=3,
        sparse=3,
    ),
    "paper": Size(
        (
            Collection(OHSUMED, "ohsumed", (100, 50), 1e-4),
            Collection(MQ2007, "mq2007", (100, 100), 1e-5, window=10),
            Collection(WEB10K, "mslr-web10k", (200, 200), 1e-5, min_hessian=5.0, largest_label=4),
            Collection(WEB30K, "mslr-web30k", (200, 200), 1e-5, min_hessian=5.0, largest_label=4),
        ),
        trials=5,
        folds=(1, 2, 3, 4, 5),
        epochs=1000,
        patience=200,
        learners=(5, 2),
        rounds=1000,
        leaves=64,
        max_bin=10000,
        choices=5,
        sparse=5,
        train_curves=False,
    ),
}


PLACES = {OHSUMED: "Table 2", MQ2007: "Table 3", WEB10K: "Table 4", WEB30K: "Table 5"}
"""The paper's collections, and the tables of their results."""
OURS = ("uRank", "uBoost", "uMart", "urBoost")
BENCHMARKS = ("MDPRank", "LambdaMart-L", "LambdaMart-R", "LambdaLoss", "p-ListMLE")
CUTOFFS = (1, 3, 5, 10)
NDCG = tuple(f"ndcg@{k}" for k in CUTOFFS)
ERR = tuple(f"err@{k}" for k in CUTOFFS)
LIGHTGBM_NDCG = tuple(f"ndcg@{k}[empty=1]" for k in CUTOFFS)
TABLES, TEST_SELECTED, LIGHTGBM_EVALUATION = "tables", "test-selected", "LightGBM evaluation"
"""Kinds of groups: those of the paper's tables, and two in which the test part chooses the epoch or number of trees."""
CHOICES = "choices"
"""Kind of the group of what the text says it tried, on OHSUMED: cells, pooling, prediction, selection and scaling."""
SPARSE = "sparse"
"""Kind of the group in which features are made sparse, on MSLR-WEB10K or what stands first in its absence."""
SPARSITY = 0.8
URRANK = "urRank"
WINDOWS = {"uMart, u = 5": 5, "uMart, u = 10": 10, "uMart, u = all": 100_000}
OTHER_CELLS = ("urRank, GRU", "urRank, LSTM")
OTHER_SELECTIONS = {"uRank, by NDCG@1": "ndcg@1", "uRank, by validation loss": "loss"}
ONE_BY_ONE, AVERAGED, OVER_ALL = "urRank, one by one", "urRank, average pooling", "uRank, scaled over all documents"
OF_NETWORKS = ("drop_empty", "drop_uniform", "query_minmax")
ON_TEST = "validate_on_test"


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the models of each collection's table under its name in the paper, and two groups selected on the test
    part.

    Args:
        profile: how large.
        data: a data set in the place of OHSUMED; the other places then stay empty.
    """
    size = SIZES[profile]
    collections = size.collections
    if data is not None:
        first = collections[0]
        collections = (Collection(OHSUMED, data, first.layers, first.learning_rate, largest_label=4),)
    for collection in collections:
        parts = models_of(collection, size)
        by_collection = [err_by_collection(metric, collection.largest_label) for metric in ERR]
        shared: dict[str, Any] = {
            "dataset": collection.dataset,
            "metrics": [*NDCG, *ERR, *by_collection],
            "train_curve": size.train_curves,
        }
        of_tables = Runs(collection.place, parts, shared, size.folds, size.trials)
        yield replace(of_tables, kind=TABLES, place=collection.place, level=collection.largest_label)
        if collection.place == OHSUMED:
            if size.test_selected:
                chosen = {name: {**parts[name], "transforms": [*parts[name]["transforms"], ON_TEST]} for name in OURS}
                own_share = {**shared, "dataset": collection.selecting or collection.dataset}
                selected = Runs(f"{TEST_SELECTED} {collection.place}", chosen, own_share, size.folds, size.trials)
                yield replace(selected, kind=TEST_SELECTED, place=collection.place)
            if size.choices:
                name, tried = f"{CHOICES} {collection.place}", choices_of(collection, size, parts)
                tried_there = Runs(name, tried, shared, size.folds, size.choices)
                yield replace(tried_there, kind=CHOICES, place=collection.place)
        if size.sparse and collection.place == _place_of_sparsity(collections):
            sparse = sparse_models(parts)
            there = Runs(f"{SPARSE} {collection.place}", sparse, shared, size.folds, size.sparse)
            yield replace(there, kind=SPARSE, place=collection.place)
        mart = {
            model: {**parts[model], "transforms": [ON_TEST], "selection": ["ndcg@10[empty=1]"]}
            for model in ("uMart", "LambdaMart-L")
        }
        shared = {**shared, "metrics": list(LIGHTGBM_NDCG)}
        evaluated = Runs(
            f"{LIGHTGBM_EVALUATION} {collection.place}", mart, shared, size.folds, size.evaluated or size.trials
        )
        yield replace(evaluated, kind=LIGHTGBM_EVALUATION, place=collection.place)


def group_of(results: Results, place: str, kind: str = TABLES) -> str:
    """Return a collection's group of a kind; an empty string where it was not run."""
    return next(iter(results.groups(kind=kind, place=place)), "")


def err_by_collection(metric: str, largest_label: float) -> str:
    """Return ERR that takes a collection's largest label for the best one, not a query's."""
    return f"{metric}[ymax={largest_label:g}]"


def models_of(collection: Collection, size: Size) -> dict[str, dict[str, Any]]:
    """Return each model's parts of the combination beside its data; MDPRank only where the paper could train it."""
    layers = "(" + ",".join(map(str, collection.layers)) + ")"
    network = f"mlp[layers={layers},activation=elu,initialisation=glorot]"
    state = f"conditional_rnn[layers={layers},activation=elu,initialisation=glorot]"
    several, recurrent = size.learners
    trees = (
        f"trees[leaves={size.leaves},learning_rate=0.05,rounds={size.rounds},l2=0,bagging=0.9,min_data=5,"
        f"min_hessian={collection.min_hessian},max_bin={size.max_bin},feature_fraction=1]"
    )
    models = {
        "uRank": _network("urank", network, collection, size),
        "uBoost": _network("urank", f"uboost[scorer={network},learners={several}]", collection, size),
        "uMart": _trees(f"umart[window={collection.window}]", trees),
        "urBoost": _network("urank", f"urboost[scorer={network},first={state},learners={recurrent}]", collection, size),
        # A linear policy, as its authors have it.
        "MDPRank": _network("mdprank", "linear", collection, size, size.policy_rates),
        # LightGBM's lambdarank up to version 2.2.3, the one of the paper's time, is uMart with windows of one document.
        "LambdaMart-L": _trees("umart[window=1]", trees),
        "LambdaMart-R": {
            **_trees("lambdarank", f"ranklib_trees[rounds={size.rounds}]"),
            "patience": 100 if size.rounds > 100 else None,
        },
        "LambdaLoss": _network("lambdaloss", network, collection, size),
        "p-ListMLE": _network("p_listmle", network, collection, size),
    }
    if collection.place not in (OHSUMED, MQ2007):
        del models["MDPRank"]
    return models


def _place_of_sparsity(collections: tuple[Collection, ...]) -> str:
    places = [collection.place for collection in collections]
    return WEB10K if WEB10K in places else places[0]


def sparse_models(models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the parts of a network and of trees of the tables, trained on sparse features."""
    sparsity = f"sparse_features[share={SPARSITY}]"
    chosen = {name: models[name] for name in ("uRank", "uMart")}
    return {name: {**parts, "transforms": [sparsity, *parts["transforms"]]} for name, parts in chosen.items()}


def choices_of(
    collection: Collection, size: Size, models: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the parts of what the text says it tried; urRank is urBoost's first network by itself."""
    layers = "(" + ",".join(map(str, collection.layers)) + ")"

    def recurrent(kind: str = "conditional_rnn", settings: str = "") -> dict[str, Any]:
        scorer = f"{kind}[layers={layers},activation=elu,initialisation=glorot{settings}]"
        return _network("urank", scorer, collection, size)

    scaled = [name if name != "query_minmax" else "minmax" for name in OF_NETWORKS]
    return {
        **{name: {**models["uMart"], "loss": f"umart[window={window}]"} for name, window in WINDOWS.items()},
        URRANK: recurrent(),
        AVERAGED: recurrent(settings=",pooling=mean"),
        **{name: recurrent(settings=f",rnn={name.split()[-1].lower()}") for name in OTHER_CELLS},
        ONE_BY_ONE: recurrent("sequential_rnn"),
        **{name: {**models["uRank"], "selection": [metric]} for name, metric in OTHER_SELECTIONS.items()},
        OVER_ALL: {**models["uRank"], "transforms": scaled},
    }


def _network(loss: str, scorer: str, collection: Collection, size: Size, rate: str = "") -> dict[str, Any]:
    epochs = collection.epochs or size.epochs
    steps = f"batch=1,clip=5.0,epochs={epochs},shuffle=false,l2=0,schedule=constant,scaling=none"
    return {
        "backend": f"torch[optimiser=adam,lr={rate or collection.learning_rate},{steps}]",
        "scorer": scorer,
        "loss": loss,
        "transforms": list(OF_NETWORKS),
        "selection": list(NDCG),
        "patience": collection.patience or size.patience,
    }


def _trees(loss: str, scorer: str) -> dict[str, Any]:
    return {
        "backend": "lightgbm",
        "scorer": scorer,
        "loss": loss,
        "transforms": ["drop_empty"],
        "selection": ["ndcg@10"],
    }
