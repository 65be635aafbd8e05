"""Sizes of the profiles: collections with their settings, repetitions, and how long models train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankplug.studies import Profile

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
    "quick": Size(
        (
            _made(OHSUMED, "ohsumed", 100, 30, (20, 10), 0.001, 100, 2000),
            _made(MQ2007, "ohsumed", 120, 20, (20, 20), 0.001, 100, 2000),
            _made(WEB10K, "mslr", 120, 20, (20, 20), 0.001, 100, 2000),
            _made(WEB30K, "mslr", 150, 20, (20, 20), 0.001, 100, 2000),
        ),
        trials=9,
        folds=(1,),
        epochs=12,
        patience=None,
        learners=(2, 2),
        rounds=60,
        leaves=15,
        policy_rates="0.001",
        sparse=10,
        test_selected=False,
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
