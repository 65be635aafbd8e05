"""Study of defaults: backends with default parameters, the best single feature and a random search on ten collections.

``python -m rankplug_benchmarks.defaults_study STORE`` trains what the store lacks and writes
``docs/evidence/defaults/defaults.json``, from which ``make docs`` fills tables; it can be stopped and started again.
Real collections are read from ``RANKPLUG_DATA`` or the cache, and left out where they are not there.

The search is :func:`rankplug.tune`'s among the values that backend and scorer suggest. Each fold's validation part
selects among the candidates, and a fold's test part is measured on what its own validation part selected. The single
feature, rising or falling, is selected on the training part. No test part selects anything.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.store import Trial
from rankplug.system import echo

METRIC = "ndcg@10"
EVIDENCE = Path("docs/evidence/defaults/defaults.json")
SYNTHETIC = "synthetic[shape={},queries={},documents=40,test_queries=1000{}]"
FIVE = (1, 2, 3, 4, 5)
COLLECTIONS = {
    "made as MSLR, 300 queries": (SYNTHETIC.format("mslr", 300, ""), (1,)),
    "made as MSLR, 1,000 queries": (SYNTHETIC.format("mslr", 1000, ""), (1,)),
    "made as Yahoo, 300 queries": (SYNTHETIC.format("yahoo", 300, ",editions=1"), (1,)),
    "made as Yahoo, 1,000 queries": (SYNTHETIC.format("yahoo", 1000, ",editions=1"), (1,)),
    "made as .gov, 300 queries": (SYNTHETIC.format("gov", 300, ""), (1,)),
    "made as .gov, 1,000 queries": (SYNTHETIC.format("gov", 1000, ""), (1,)),
    "made as OHSUMED, 300 queries": (SYNTHETIC.format("ohsumed", 300, ""), (1,)),
    "OHSUMED": ("ohsumed", FIVE),
    "MQ2008": ("mq2008", FIVE),
    "LETOR 2.0": ("ohsumed-letor2", FIVE),
}
"""Collection -> data set and folds, each of which has test queries of its own."""
CONTESTANTS = {
    "lbfgs": ("cross_entropy", 35),
    "lightgbm": ("xe_ndcg", 50),
    "xgboost": ("xe_ndcg", 50),
    "torch": ("xe_ndcg", 50),
    "rankboost": ("rankboost[pairs=list]", 50),
    "cutting_planes": ("ranksvm", 50),
}
"""Backend -> its usual loss and the number of candidates of the search; a grid of fewer is run whole."""


def best_feature(dataset: str, folds: tuple[int, ...]) -> float:
    """Return the mean over the folds' test queries of the feature that ranks the training part best."""
    values: list[Any] = []
    measure = rp.metric(METRIC)
    seed = Trial(rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse")).seed

    def quality(signed: tuple[int, int], lists: rp.Lists) -> Any:
        sign, column = signed
        return measure(sign * lists.features[:, column].astype(np.float64), lists.labels, lists.starts)

    for fold in folds:
        train, _, test = rp.load(dataset, fold=fold, seed=seed)
        signed = [(sign, column) for column in range(train.features.shape[1]) for sign in (1, -1)]
        best = max(signed, key=lambda feature: np.nanmean(quality(feature, train)))
        values.append(quality(best, test))
    return float(np.nanmean(np.concatenate(values)))


def default_parts(collection: str, backend: str) -> dict[str, str]:
    """Return the parts of a combination without parameters."""
    loss, _ = CONTESTANTS[backend]
    dataset, _ = COLLECTIONS[collection]
    return {"dataset": dataset, "backend": backend, "loss": loss, "selection": METRIC, "metrics": METRIC}


def measure_defaults(collection: str, backend: str, store: Path, draws: int, jobs: int) -> dict[str, Any]:
    """Search among a backend's parameters on a collection, and return mean NDCG@10 over the folds' test queries.

    ``usual`` is of default parameters, ``tuned`` of those that each fold's validation part selected, and ``identity``
    distinguishes the results of other defaults from today's.
    """
    dataset, folds = COLLECTIONS[collection]
    parts = default_parts(collection, backend)
    tuning = rp.tune(parts, budget=draws, folds=folds, store=store, jobs=jobs, progress=False)
    assert tuning.usual is not None
    return {
        "collection": collection,
        "folds": len(folds),
        "backend": backend,
        "loss": parts["loss"],
        "draws": len(tuning.candidates) - 1,
        "feature": best_feature(dataset, folds),
        "usual": tuning.test_means(tuning.usual)[METRIC],
        "tuned": tuning.test_means()[METRIC],
        "identity": tuning.usual.identity,
    }


def read_findings(path: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the findings in a file, by collection and backend."""
    findings = json.loads(path.read_text()) if path.is_file() else []
    return {(finding["collection"], finding["backend"]): finding for finding in findings}


def add_finding(finding: Mapping[str, Any], path: Path) -> None:
    """Write a finding beside those of a file, in the order of the tables."""
    findings = read_findings(path) | {(finding["collection"], finding["backend"]): finding}
    order = [(collection, backend) for collection in COLLECTIONS for backend in CONTESTANTS]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([findings[key] for key in order if key in findings], indent=1) + "\n")


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--backends", nargs="*", default=list(CONTESTANTS))
    parser.add_argument("--collections", nargs="*", default=list(COLLECTIONS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=EVIDENCE)
    options = parser.parse_args()
    for backend in options.backends:
        for collection in options.collections:
            draws = options.draws or CONTESTANTS[backend][1]
            known = read_findings(options.out).get((collection, backend), {})
            try:
                identity = rp.Combination(**default_parts(collection, backend)).identity
                if known.get("draws", 0) >= draws and known.get("identity") == identity:
                    continue
                finding = measure_defaults(collection, backend, options.store, draws, options.jobs)
            except RankplugError as error:
                echo(f"{backend} on {collection} is left out: {error}")
                continue
            echo(str(finding))
            add_finding(finding, options.out)


if __name__ == "__main__":
    main()
