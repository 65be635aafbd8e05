"""Study of clicks: how much of what position bias costs each loss and backend wins back by debiasing.

``python -m rankplug_benchmarks.clicks_study`` trains every loss on every backend with true labels, with click rates
(*naive*), and with debiased clicks, over seeds that sample queries, documents and clicks again, and writes
``docs/evidence/clicks/clicks.json``, from which ``make docs`` fills tables. It continues where it was stopped, and
trains only what is missing where more ``--ways``, ``--losses`` or ``--backends`` are requested.

The way ``native`` is LightGBM's and XGBoost's own lambdarank, which knows the position of each document of the same
log, one list for each impression, beside itself without positions (*native naive*). Neither sees validation lists,
whose clicks would choose the iteration with the bias.

The setting was selected on seeds from 100 on, and the reported ones are 0 to 19.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.system import echo

METRIC = "ndcg@5"
EVIDENCE = Path("docs/evidence/clicks/clicks.json")
DATA = "synthetic[queries=400,documents=20,test_queries=500]"
TEN = "truncate_lists[size=10,keep=random,parts=(train,valid)]"
"""Lists of ten documents, all of which are shown, so that there is no bias but that of positions."""
LOG = "click_log[impressions=500,swaps=0.2]"
LOSSES = ("xe_ndcg", "listnet", "cross_entropy", "lambdarank", "ranknet", "mse")
BACKENDS = {
    "lightgbm": ("lightgbm", "trees[leaves=8,rounds=50,learning_rate=0.1,feature_fraction=1]"),
    "xgboost": ("xgboost", "trees[leaves=8,rounds=50,learning_rate=0.1,feature_fraction=1]"),
    "torch": ("torch[steps=300]", "mlp"),
}
"""Backends and their scorers, smaller than usual as there are few queries."""
WAYS: dict[str, str | None] = {
    "true": None,
    "naive": None,
    "ips": "ips",
    "em": "ips[propensities=regression_em]",
    "dual": "dual",
    "native naive": None,
    "native": "native",
}
"""Names of what is learned from -> debiasing."""
NATIVE = ("native naive", "native")
"""Ways of an engine's own objective, which learns from a list for each impression."""
OWN_DEBIASING = {"backends": ("lightgbm", "xgboost"), "losses": ("lambdarank",)}
EVERYWHERE = ("true", "naive", "ips")
"""Ways that are tried on every loss and backend; the others with ``--ways``."""


@functools.lru_cache(maxsize=3)
def load(seed: int, *log: str) -> rp.Split:
    """Return the synthetic data of a seed, with true labels or with the clicks of a log."""
    return rp.load(DATA, transforms=[TEN, *log], seed=seed)


def quality(backend: str, loss: str, way: str, seed: int) -> tuple[float, float | None]:
    """Return a way's quality on test queries with true labels, and the largest error of its propensities."""
    engine, scorer = BACKENDS[backend]
    is_native = way in NATIVE
    clicked = load(seed, LOG.replace("]", ",lists=impressions]") if is_native else LOG)
    split = load(seed) if way == "true" else clicked
    model = rp.fit(
        f"{engine}[native=true]" if is_native else engine,
        scorer=scorer,
        loss=loss,
        train=split.train,
        valid=None if is_native else split.valid,
        selection=METRIC,
        seed=seed,
        debias=WAYS[way],
        train_curve=False,
        progress=False,
    )
    value = float(rp.evaluate(model, load(seed).test, METRIC).mean())
    if "propensities" not in model.record.chosen:
        return value, None
    clicks = load(seed, LOG).train.clicks
    assert clicks is not None
    return value, float(np.abs(np.array(model.record.chosen["propensities"]) - clicks.true_propensities).max())


def is_possible(backend: str, loss: str, way: str) -> bool:
    """Return whether a loss has a way on a backend."""
    return way not in NATIVE or (backend in OWN_DEBIASING["backends"] and loss in OWN_DEBIASING["losses"])


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--backends", nargs="*", default=list(BACKENDS))
    parser.add_argument("--losses", nargs="*", default=list(LOSSES))
    parser.add_argument("--ways", nargs="*", default=list(EVERYWHERE), choices=list(WAYS))
    parser.add_argument("--out", type=Path, default=EVIDENCE)
    options = parser.parse_args()
    setting = {"data": DATA, "log": LOG, "backends": {name: " ".join(pair) for name, pair in BACKENDS.items()}}
    stored = json.loads(options.out.read_text()) if options.out.is_file() else {"setting": setting, "runs": []}
    if stored["setting"] != setting:
        raise SystemExit(f"{options.out} has results of another setting; remove it, or name another file with --out")
    runs = {(run["backend"], run["loss"], run["seed"]): run for run in stored["runs"]}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(options.first, options.first + options.seeds):
        for backend, loss, way in itertools.product(options.backends, options.losses, options.ways):
            empty: dict[str, Any] = {"backend": backend, "loss": loss, "seed": seed, "quality": {}, "errors": {}}
            run = runs.get((backend, loss, seed), empty)
            if is_possible(backend, loss, way) and way not in run["quality"]:
                runs[backend, loss, seed] = run
                run["quality"][way], error = quality(backend, loss, way, seed)
                if error is not None:
                    run["errors"][way] = error
                options.out.write_text(json.dumps({"setting": setting, "runs": list(runs.values())}, indent=1) + "\n")
        echo(f"seed {seed}")


if __name__ == "__main__":
    main()
