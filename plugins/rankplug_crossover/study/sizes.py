"""Sizes of the profiles: data, repetitions, and how long models of what size train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rankplug.studies import Profile


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: names in figures -> data sets.
        folds: of each.
        trials: repetitions.
        compared: repetitions of the models that claims compare with each other; as all others where there are none.
        compared_on: their data set; the collection's own where none is named.
        epochs: of networks at most.
        rounds: trees at most.
        leaves: of a tree.
        iterations: of L-BFGS for each value of C, and planes of SVM-MAP.
        C: values that validation data choose from.
        restarts: of ExpGain, which is not convex, beside the start at 0.
        samples: draws of noise.
        rankings: that LogRank's losses draw.
        patience: epochs and trees without improvement after which training stops.
        tuned_on: names in figures -> data sets on which models are tuned by one protocol; none where there are none.
        draws: hyper-parameters drawn for each of these models.
        tuned_trials: their repetitions.
    """

    collections: Mapping[str, str]
    folds: tuple[int, ...] = (1,)
    trials: int = 3
    compared: int = 0
    compared_on: str = ""
    epochs: int = 100
    rounds: int = 200
    leaves: int = 31
    iterations: int = 60
    C: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    restarts: int = 2
    samples: int = 8
    rankings: int = 200
    patience: tuple[int | None, int | None] = (20, 40)
    tuned_on: Mapping[str, str] = field(default_factory=dict)
    draws: int = 4
    tuned_trials: int = 1


SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        {"made as OHSUMED": "synthetic[shape=ohsumed,queries=25,documents=10]"},
        trials=2,
        compared=2,
        epochs=1,
        rounds=3,
        leaves=4,
        iterations=3,
        C=(0.1, 10.0),
        restarts=0,
        samples=2,
        rankings=10,
        patience=(None, None),
        tuned_on={
            "made as OHSUMED": "synthetic[shape=ohsumed,queries=25,documents=10]",
            "made as MSLR": "synthetic[shape=mslr,queries=25,documents=10]",
        },
        draws=2,
        tuned_trials=2,
    ),
    "quick": Size(
        {"made as MSLR": "synthetic[shape=mslr,queries=150,documents=15,test_queries=2000]"},
        trials=2,
        compared=21,
        compared_on="synthetic[shape=mslr,queries=800,documents=15,test_queries=2000]",
        epochs=14,
        rounds=40,
        leaves=8,
        iterations=20,
        C=(0.1, 10.0),
        restarts=1,
        samples=2,
        rankings=50,
        patience=(None, None),
    ),
    "full": Size(
        {"made as MSLR": "synthetic[shape=mslr,queries=500,documents=30,test_queries=3000]"},
        compared=40,
        epochs=20,
        rounds=60,
        leaves=15,
        iterations=40,
        C=(0.1, 10.0),
        restarts=1,
        samples=4,
        rankings=100,
        patience=(None, None),
        tuned_on={
            f"made as {name}": f"synthetic[shape={name.lower()},queries=300,documents=20,test_queries=2000]"
            for name in ("MSLR", "Yahoo", "OHSUMED")
        },
        tuned_trials=20,
    ),
    "real": Size(
        {"OHSUMED": "ohsumed", "MQ2008": "mq2008"},
        folds=(1, 2, 3, 4, 5),
        trials=1,
        leaves=8,
        tuned_on={"OHSUMED": "ohsumed", "MQ2008": "mq2008", "OHSUMED, LETOR 2.0": "ohsumed-letor2"},
        draws=8,
    ),
    "paper": Size(
        {"MSLR-WEB30K": "mslr-web30k", "Yahoo LTRC Set1": "yahoo-c14"},
        rounds=500,
        leaves=400,
        patience=(20, 50),
        tuned_on={"MSLR-WEB30K": "mslr-web30k", "Yahoo LTRC Set1": "yahoo-c14"},
        draws=20,
        tuned_trials=3,
    ),
}
