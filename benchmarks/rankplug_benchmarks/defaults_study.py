"""Study of defaults: every backend as it comes, beside the best single feature and a random search, on ten collections.

``python -m rankplug_benchmarks.defaults_study STORE`` trains what the store lacks and writes what it found to
``docs/evidence/defaults/defaults.json``, of which ``make docs`` makes the page; it can be stopped and started again at
will. Real collections are read from ``RANKPLUG_DATA`` or the cache, and left out where they are not there. Another
number of draws than a backend's own is given with ``--draws``.

The search is :func:`rankplug.tune`'s among the values that backend and scorer suggest. Each fold's validation part
chooses among the draws, and a fold's test part is measured on what its own validation part chose. The single feature,
rising or falling, is chosen on the training part. No test part chooses anything.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.system import echo

METRIC = "ndcg@10"
EVIDENCE = Path("docs/evidence/defaults/defaults.json")
TESTED = 1000
"""Queries of the test part of made data."""


@dataclass(frozen=True)
class Collection:
    """A collection.

    Args:
        dataset: its name.
        folds: that are run, each of which has test queries of its own.
    """

    dataset: str
    folds: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class Contestant:
    """A backend with its usual loss.

    Args:
        backend: its name.
        loss: that it is fitted to.
        draws: of the search, where no other number is asked for; a grid of fewer is run whole.
    """

    backend: str
    loss: str
    draws: int = 50


@dataclass(frozen=True)
class Finding:
    """Mean NDCG@10 over the test queries of a collection's folds.

    Args:
        collection: name of the data set.
        folds: that were run.
        backend: that was compared.
        loss: that it was fitted to.
        draws: candidates of the search that were trained.
        feature: of the best single feature.
        usual: with the parameters that the backend has when none are given.
        tuned: with those that each fold's validation part chose among the draws and the usual ones.
        identity: of the combination without parameters, which tells findings about other defaults from today's.
    """

    collection: str
    folds: int
    backend: str
    loss: str
    draws: int
    feature: float
    usual: float
    tuned: float
    identity: str


def made(shape: str, queries: int, more: str = "") -> Collection:
    """Return made data of a shape, with lists of 40 documents."""
    return Collection(f"synthetic[shape={shape},queries={queries},documents=40,test_queries={TESTED}{more}]")


COLLECTIONS = {
    "made as MSLR, 300 queries": made("mslr", 300),
    "made as MSLR, 1,000 queries": made("mslr", 1000),
    "made as Yahoo, 300 queries": made("yahoo", 300, ",editions=1"),
    "made as Yahoo, 1,000 queries": made("yahoo", 1000, ",editions=1"),
    "made as .gov, 300 queries": made("gov", 300),
    "made as .gov, 1,000 queries": made("gov", 1000),
    "made as OHSUMED, 300 queries": made("ohsumed", 300),
    "OHSUMED": Collection("ohsumed", (1, 2, 3, 4, 5)),
    "MQ2008": Collection("mq2008", (1, 2, 3, 4, 5)),
    "LETOR 2.0": Collection("ohsumed-letor2", (1, 2, 3, 4, 5)),
}
CONTESTANTS = (
    Contestant("lbfgs", "cross_entropy", 35),
    Contestant("lightgbm", "xe_ndcg"),
    Contestant("xgboost", "xe_ndcg"),
    Contestant("torch", "xe_ndcg"),
    Contestant("rankboost", "rankboost[pairs=list]"),
    Contestant("cutting_planes", "ranksvm"),
)


def best_feature(collection: Collection) -> float:
    """Return the mean over the folds' test queries of the feature that ranks the training part best."""
    values: list[Any] = []
    measure = rp.metric(METRIC)

    def quality(scores: Any, lists: rp.Lists) -> Any:
        return measure(scores.astype(np.float64), lists.labels, lists.starts)

    for fold in collection.folds:
        train, _, test = rp.load(collection.dataset, fold=fold, seed=_seed())
        signed = [(sign, column) for column in range(train.features.shape[1]) for sign in (1, -1)]
        sign, column = max(signed, key=lambda one: np.nanmean(quality(one[0] * train.features[:, one[1]], train)))
        values.append(quality(sign * test.features[:, column], test))
    return float(np.nanmean(np.concatenate(values)))


def _seed() -> int:
    """Return the seed with which a trial of a search loads made data."""
    from rankplug.store import Trial

    return Trial(rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse")).seed


def usual_parts(collection: Collection, contestant: Contestant) -> dict[str, str]:
    """Return the parts of a combination of which nobody said more than they must."""
    parts = {"dataset": collection.dataset, "backend": contestant.backend, "loss": contestant.loss}
    return {**parts, "selection": METRIC, "metrics": METRIC}


def find(name: str, contestant: Contestant, store: Path, draws: int, jobs: int) -> Finding:
    """Search among a backend's parameters on a collection."""
    collection = COLLECTIONS[name]
    parts = usual_parts(collection, contestant)
    found = rp.tune(parts, budget=draws, folds=collection.folds, store=store, jobs=jobs, progress=False)
    assert found.usual is not None
    return Finding(
        collection=name,
        folds=len(collection.folds),
        backend=contestant.backend,
        loss=contestant.loss,
        draws=len(found.candidates) - 1,
        feature=best_feature(collection),
        usual=found.test_means(found.usual)[METRIC],
        tuned=found.test_means()[METRIC],
        identity=found.usual.identity,
    )


def kept_findings(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what a file has of findings, by collection and backend."""
    kept = json.loads(path.read_text()) if path.is_file() else []
    return {(one["collection"], one["backend"]): one for one in kept}


def keep(finding: Finding, path: Path) -> None:
    """Write a finding beside those that a file has by now, in the order of the tables."""
    findings = kept_findings(path)
    findings[finding.collection, finding.backend] = asdict(finding)
    order = [(name, one.backend) for name in COLLECTIONS for one in CONTESTANTS]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([findings[key] for key in order if key in findings], indent=1) + "\n")


def main() -> None:
    """Run the study."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("store", type=Path)
    reader.add_argument("--draws", type=int)
    reader.add_argument("--backends", nargs="*", default=[one.backend for one in CONTESTANTS])
    reader.add_argument("--collections", nargs="*", default=list(COLLECTIONS))
    reader.add_argument("--jobs", type=int, default=1)
    reader.add_argument("--out", type=Path, default=EVIDENCE)
    asked = reader.parse_args()
    for contestant in (one for one in CONTESTANTS if one.backend in asked.backends):
        for name in asked.collections:
            draws = asked.draws or contestant.draws
            usual = rp.Combination(**usual_parts(COLLECTIONS[name], contestant))
            kept = kept_findings(asked.out).get((name, contestant.backend), {})
            try:
                if kept.get("draws", 0) >= draws and kept.get("identity") == usual.identity:
                    continue
                found = find(name, contestant, asked.store, draws, asked.jobs)
            except RankplugError as error:
                echo(f"{contestant.backend} on {name} is left out: {error}")
                continue
            echo(str(found))
            keep(found, asked.out)


if __name__ == "__main__":
    main()
