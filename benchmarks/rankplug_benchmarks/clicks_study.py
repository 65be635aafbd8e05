"""Study of clicks: how much of what position bias costs each loss and backend wins back by debiasing.

``python -m rankplug_benchmarks.clicks_study`` trains every loss on every backend with true labels, with click rates
(*naive*), and with clicks debiased, over seeds that draw queries, documents and clicks anew, and writes what it found
to ``docs/evidence/clicks/clicks.json``, of which ``make docs`` makes the page. It goes on where it was stopped, and
trains only what is lacking where more ``--ways``, ``--losses`` or ``--backends`` are asked for.

The way ``native`` is LightGBM's and XGBoost's own lambdarank, which knows the position of each document of the same
log, told impression by impression, beside itself without positions (*native naive*). Neither sees validation lists,
whose clicks would choose the iteration with the bias.

The setting was chosen on seeds from 100 on, and the reported ones are 0 to 19.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
from pathlib import Path

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


class Logs:
    """The made data of a seed, with true labels and with clicks, each loaded once it is needed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    @functools.cached_property
    def true(self) -> rp.Split:
        """Lists with true labels."""
        return rp.load(DATA, transforms=[TEN], seed=self.seed)

    @functools.cached_property
    def clicked(self) -> rp.Split:
        """Lists with the clicks of a log."""
        return rp.load(DATA, transforms=[TEN, LOG], seed=self.seed)

    @functools.cached_property
    def impressions(self) -> rp.Split:
        """The impressions of the same log, a list each."""
        return rp.load(DATA, transforms=[TEN, LOG.replace("]", ",lists=impressions]")], seed=self.seed)


def fitted(backend: str, loss: str, way: str, logs: Logs) -> rp.Model:
    """Fit a loss on a backend in some way."""
    engine, scorer = BACKENDS[backend]
    own = way in NATIVE
    split = logs.impressions if own else logs.true if way == "true" else logs.clicked
    return rp.fit(
        f"{engine}[native=true]" if own else engine,
        scorer=scorer,
        loss=loss,
        train=split.train,
        valid=None if own else split.valid,
        selection=METRIC,
        seed=logs.seed,
        debias=WAYS[way],
        train_curve=False,
        progress=False,
    )


def quality(backend: str, loss: str, way: str, logs: Logs) -> tuple[float, float | None]:
    """Return a way's quality on test queries with true labels, and how wrong its propensities are at most."""
    model = fitted(backend, loss, way, logs)
    found = float(rp.evaluate(model, logs.true.test, METRIC).mean())
    if "propensities" not in model.record.chosen:
        return found, None
    assert logs.clicked.train.clicks is not None
    actual = logs.clicked.train.clicks.true_propensities
    return found, float(np.abs(np.array(model.record.chosen["propensities"]) - actual).max())


def possible(backend: str, loss: str, way: str) -> bool:
    """Tell whether a way is there for a loss on a backend."""
    return way not in NATIVE or (backend in OWN_DEBIASING["backends"] and loss in OWN_DEBIASING["losses"])


def main() -> None:
    """Run the study."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seeds", type=int, default=20)
    reader.add_argument("--first", type=int, default=0)
    reader.add_argument("--backends", nargs="*", default=list(BACKENDS))
    reader.add_argument("--losses", nargs="*", default=list(LOSSES))
    reader.add_argument("--ways", nargs="*", default=list(EVERYWHERE), choices=list(WAYS))
    reader.add_argument("--out", type=Path, default=EVIDENCE)
    asked = reader.parse_args()
    setting = {"data": DATA, "log": LOG, "backends": {name: " ".join(pair) for name, pair in BACKENDS.items()}}
    kept = json.loads(asked.out.read_text()) if asked.out.is_file() else {"setting": setting, "runs": []}
    if kept["setting"] != setting:
        raise SystemExit(f"{asked.out} was found in another setting; remove it, or name another file with --out")
    runs = {(run["backend"], run["loss"], run["seed"]): run for run in kept["runs"]}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(asked.first, asked.first + asked.seeds):
        logs = Logs(seed)
        for backend, loss, way in itertools.product(asked.backends, asked.losses, asked.ways):
            if not possible(backend, loss, way):
                continue
            empty = {"backend": backend, "loss": loss, "seed": seed, "quality": {}, "errors": {}}
            run = runs.setdefault((backend, loss, seed), empty)
            if way not in run["quality"]:
                run["quality"][way], error = quality(backend, loss, way, logs)
                if error is not None:
                    run["errors"][way] = error
                asked.out.write_text(json.dumps({"setting": setting, "runs": list(runs.values())}, indent=1) + "\n")
        echo(f"seed {seed}")


if __name__ == "__main__":
    main()
