"""Held-out NDCG@10 and training seconds of backends and losses with fixed, untuned settings."""

from __future__ import annotations

import time
from collections.abc import Iterator

import rankplug as rp
from rankplug.data import Split
from rankplug.errors import RankplugError
from rankplug.system import threads
from rankplug_benchmarks.rounds import Row, value_row

METRIC = "ndcg@10"


def families(quick: bool) -> dict[str, tuple[str, str, str, str | None]]:
    """Return backend, scorer, loss and sampler of each contestant."""
    settings = "leaves=31,learning_rate=0.1,min_data=20,l2=0,feature_fraction=1"
    trees = f"trees[{settings},rounds={3 if quick else 60}]"
    epochs = 2 if quick else 20
    torch = f"torch[epochs={epochs},lr=0.003,batch=32,l2=0,schedule=constant,scaling=none]"
    network = "mlp[layers=(64,32),input_batch_norm=true]"
    return {
        "lightgbm lambdarank": ("lightgbm", trees, "lambdarank[norm=true]", None),
        "lightgbm lambdarank, native": ("lightgbm[native=true]", trees, "lambdarank[norm=true]", None),
        "lightgbm xe_ndcg": ("lightgbm", trees, "xe_ndcg", None),
        "lightgbm E[lambdarank]": ("lightgbm", trees, "lambdarank", "gumbel[beta=0.25,samples=8]"),
        "lightgbm umart": ("lightgbm", trees, "umart", None),
        "xgboost lambdarank": ("xgboost", trees, "lambdarank", None),
        "xgboost lambdarank, native": ("xgboost[native=true]", trees, "lambdarank", None),
        "torch mlp approx_ndcg": (torch, network, "approx_ndcg", None),
        "torch mlp E[approx_ndcg]": (torch, network, "approx_ndcg", "gumbel[samples=8]"),
        "torch mlp urank": (torch, network, "urank", None),
        "torch linear cross_entropy": (torch, "linear", "cross_entropy", None),
        "lbfgs linear xe_ndcg": (f"lbfgs[iterations={epochs},C=1,scaling=none]", "linear", "xe_ndcg[gamma=once]", None),
    }


def collections(quick: bool, seed: int) -> Iterator[tuple[str, Split]]:
    """Yield the data sets: a synthetic one, and MQ2008 where it is prepared or in ``RANKPLUG_DATA``."""
    queries = 25 if quick else 500
    yield f"synthetic, {queries} queries", rp.load(f"synthetic[queries={queries},sample=0]")
    try:
        yield "MQ2008", rp.load("mq2008", fold=1 + seed % 5)
    except RankplugError:
        return


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Train every contestant once per seed."""
    values: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for seed in range(1 if quick else min(rounds, 3)):
        for collection, split in collections(quick, seed):
            for name, (backend, scorer, loss, sampler) in families(quick).items():
                begin = time.perf_counter()
                model = rp.fit(
                    backend, scorer=scorer, loss=loss, sampler=sampler, train=split.train, valid=split.valid,
                    seed=seed, selection=METRIC, train_curve=False, progress=False,
                )  # fmt: skip
                key = f"{collection}, {name}"
                seconds.setdefault(key, []).append(time.perf_counter() - begin)
                values.setdefault(key, []).append(float(rp.evaluate(model, split.test, METRIC).mean()))
    for key, numbers in values.items():
        yield value_row(f"{key}: held-out NDCG@10", numbers, threads=threads())
        yield value_row(f"{key}: training", seconds[key], threads=threads(), unit="s")
