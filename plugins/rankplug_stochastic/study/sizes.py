"""Sizes of the five profiles: collections, repetitions, and what models of what width train for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankplug.studies import Profile

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
