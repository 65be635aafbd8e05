"""Held-out NDCG of networks whose matrix products are in bfloat16, beside the same networks in full precision.

The paper on stochastic ranking has two networks. Each trains with a loss of the paper on the made data of the profile
``full``, with the widths that it has there, pair by pair on the same data from the same start. The verdict on each
metric is that of the paper's claims of no difference, within half a point. It is at the level of one of two looks, as
the number of pairs was doubled in view of the first half. Pairs are kept in the folder ``precision`` of the cache; once
it is removed, all are trained anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankplug_stochastic.study import claims
from rankplug_stochastic.study.protocol import METRICS, crossed
from rankplug_stochastic.study.sizes import SIZES

import rankplug as rp
from rankplug.statistics import LEVEL, look_steps
from rankplug.store import Store
from rankplug.studies import Claim, Results, Runs, Verdict, alike
from rankplug.system import OwnedFolder, cache_folder, threads
from rankplug_benchmarks.harness.measurements import Table
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.many_runs.paper_costs import with_bfloat16

GROUP = "bfloat16"
MODELS = ("ApproxNDCG, A", "E[ApproxNDCG], B")
"""A loss with each of the two networks, which have optimisers of their own."""
RATES = ("0.005", "0.001")
PAIRS = 56
LOOKS = 2


def halved(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a model with its matrix products in bfloat16."""
    return {**parts, "backend": with_bfloat16(parts["backend"], there=True)}


def runs_of(effort: Effort) -> Runs:
    """Return both networks in both precisions."""
    size = replace(SIZES["smoke" if effort.quick else "full"], rates=RATES)
    first = size.collections[0]
    full = {name: parts for name, parts in crossed(size, first).items() if name in MODELS}
    half = {name_in_half(name): halved(parts) for name, parts in full.items()}
    shared = {"dataset": first.dataset, "transforms": [], "metrics": list(METRICS), "train_curve": False}
    return Runs(GROUP, full | half, shared, trials=effort.size(PAIRS, 2))


def name_in_half(model: str) -> str:
    """Return the name of a model with its matrix products in bfloat16."""
    return f"{model}, bfloat16"


@contextlib.contextmanager
def kept(effort: Effort) -> Iterator[Path]:
    """Yield the folder of the pairs: tiny ones are not kept."""
    if not effort.quick:
        yield cache_folder() / "precision"
        return
    with OwnedFolder() as folder:
        yield folder


def verdict_on(results: Results, model: str, metric: str) -> Verdict:
    """Judge that bfloat16 changes nothing."""

    def difference(results: Results) -> Any:
        return alike({metric: results.difference(GROUP, metric, name_in_half(model), model)})

    return Claim("bfloat16 changes nothing", difference, margin=claims.POINTS).judge(
        results, steps=look_steps(LOOKS), looks=LOOKS
    )


def measure(effort: Effort) -> Iterator[Table]:
    """Train the pairs that are missing, and judge each model and metric."""
    runs = runs_of(effort)
    paper = replace(rp.study("stochastic"), runs=lambda profile, data: [runs])
    with kept(effort) as folder:
        results = paper.run("full", store=Store(folder), jobs=threads(), progress=False)
        rows = []
        for model in MODELS:
            for metric in METRICS:
                verdict = verdict_on(results, model, metric)
                part = verdict.decisive
                interval = f"{part.low:+.2f} to {part.high:+.2f}"
                rows.append((model, metric, runs.trials, f"{part.effect:+.2f}", interval, verdict.verdict))
    interval_head = f"{100 * (1 - LEVEL / LOOKS):g} % interval"
    columns = ("model", "metric", "pairs", "points in bfloat16 less points in full", interval_head, "no difference")
    yield Table("differences", columns, tuple(rows))
