"""Study of clicks: how much of what position bias costs each loss and backend wins back by debiasing.

``python -m rankplug_benchmarks.clicks.study`` trains every loss on every backend with true labels, with click rates
(*naive*), and with clicks debiased, over seeds that draw queries, documents and clicks anew, and writes what it found
to ``docs/evidence/clicks/clicks.json``, of which ``make docs`` makes the page. It goes on where it was stopped.

The setting was chosen on seeds from 100 on, and the reported ones are 0 to 19.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.system import say

METRIC = "ndcg@5"
EVIDENCE = Path("docs/evidence/clicks/clicks.json")
DATA = "synthetic[queries=400,documents=20,test_queries=500]"
TEN = "truncate_lists[size=10,keep=random,parts=(train,valid)]"
"""Lists of ten documents, all of which are shown, so that there is no bias but that of positions."""
LOG = "click_log[impressions=500,swaps=0.2]"
LOSSES = ("xe_ndcg", "listnet", "cross_entropy", "lambdarank", "ranknet", "mse")
BACKENDS = {
    "lightgbm": ("lightgbm", "trees[rounds=50,learning_rate=0.1]"),
    "xgboost": ("xgboost", "trees[rounds=50,learning_rate=0.1]"),
    "torch": ("torch[steps=300]", "mlp"),
}
"""Backends and their scorers, smaller than usual as there are few queries."""
WAYS: dict[str, str | None] = {"naive": None, "ips": "ips", "em": "ips[propensities=regression_em]", "dual": "dual"}
"""Names of what is done about the bias -> debiasing."""
EVERYWHERE = ("naive", "ips")
"""Ways that are tried on every loss and backend; the others with ``--ways``."""


def fitted(backend: str, loss: str, split: rp.Split, seed: int, debias: str | None = None) -> rp.Model:
    """Fit a loss on a backend."""
    engine, scorer = BACKENDS[backend]
    return rp.fit(
        engine,
        scorer=scorer,
        loss=loss,
        train=split.train,
        valid=split.valid,
        selection=METRIC,
        seed=seed,
        debias=debias,
        train_curve=False,
        progress=False,
    )


def qualities(
    backend: str, loss: str, seed: int, truth: rp.Split, log: rp.Split, ways: Sequence[str]
) -> dict[str, Any]:
    """Return the quality of each way on test queries with true labels, and how wrong its propensities are at most."""
    models = {"true": fitted(backend, loss, truth, seed)}
    for way in ways:
        models[way] = fitted(backend, loss, log, seed, WAYS[way])
    found = {way: float(rp.evaluate(model, truth.test, METRIC).mean()) for way, model in models.items()}
    assert log.train.clicks is not None
    actual = log.train.clicks.true_propensities
    errors = {
        way: float(np.abs(np.array(model.record.chosen["propensities"]) - actual).max())
        for way, model in models.items()
        if "propensities" in model.record.chosen
    }
    return {"backend": backend, "loss": loss, "seed": seed, "quality": found, "errors": errors}


def main() -> None:
    """Run the study."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seeds", type=int, default=20)
    reader.add_argument("--first", type=int, default=0)
    reader.add_argument("--backends", nargs="*", default=list(BACKENDS))
    reader.add_argument("--losses", nargs="*", default=list(LOSSES))
    reader.add_argument("--ways", nargs="*", default=list(EVERYWHERE))
    reader.add_argument("--out", type=Path, default=EVIDENCE)
    asked = reader.parse_args()
    setting = {"data": DATA, "log": LOG, "backends": {name: " ".join(pair) for name, pair in BACKENDS.items()}}
    kept = json.loads(asked.out.read_text()) if asked.out.is_file() else {"setting": setting, "runs": []}
    if kept["setting"] != setting:
        raise SystemExit(f"{asked.out} was found in another setting; remove it, or name another file with --out")
    runs = {(run["backend"], run["loss"], run["seed"]): run for run in kept["runs"]}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(asked.first, asked.first + asked.seeds):
        truth, log = (rp.load(DATA, transforms=transforms, seed=seed) for transforms in ([TEN], [TEN, LOG]))
        for place in itertools.product(asked.backends, asked.losses, [seed]):
            known = runs.get(place, {"quality": {}})["quality"]
            if not set(asked.ways) <= set(known):
                ways = [way for way in WAYS if way in asked.ways or way in known]
                runs[place] = qualities(*place, truth, log, ways)
                asked.out.write_text(json.dumps({"setting": setting, "runs": list(runs.values())}, indent=1) + "\n")
        say(f"seed {seed}")


if __name__ == "__main__":
    main()
