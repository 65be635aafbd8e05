"""Whole iterations with our objectives beside the engines' own, network steps packed and padded, and memory.

Data have the shape of MSLR-WEB30K: 136 features, 119 documents a query on average. Contestants of one row make their
iterations by turns in one process; the median of the ratios is reported. Memory is measured in processes of their own.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from metrics import lists_like_mslr
from rankplug_lightgbm.backend import LightGBMLearner
from rankplug_torch.networks import mlp
from rankplug_xgboost.backend import XGBoostLearner

import rankplug as rp
from rankplug.fitting import problem_of
from rankplug.threads import use_threads

FEATURES = 136
LEAVES = 400
BATCH = 128
SETTLING = 3
"""Iterations before any is timed: code is compiled, and scores are no longer all alike."""


@dataclass(frozen=True)
class Row:
    """Ours beside a peer; less is better."""

    what: str
    threads: int
    ours: float
    peer: float
    ratio: float
    required: str


def made_lists(queries: int) -> rp.Lists:
    """Lists of which twenty features tell something."""
    _, labels, starts = lists_like_mslr(queries)
    generator = np.random.default_rng(3)
    features = generator.normal(size=(labels.size, FEATURES)).astype(np.float32)
    features[:, :20] += labels[:, None] * generator.random(20, dtype=np.float32)
    return rp.Lists(features, labels.astype(np.float32), starts)


def by_turns(ours: Callable[[int], object], peer: Callable[[int], object], turns: int) -> tuple[float, float, float]:
    """Median seconds of each, and the median of the ratios of neighbouring turns."""
    seconds: list[tuple[float, float]] = []
    for turn in range(SETTLING + turns):
        pair = []
        for run in (ours, peer):
            begin = time.perf_counter()
            run(turn)
            pair.append(time.perf_counter() - begin)
        if turn >= SETTLING:
            seconds.append((pair[0], pair[1]))
    ratio = statistics.median(one / other for one, other in seconds)
    return statistics.median(one for one, _ in seconds), statistics.median(other for _, other in seconds), ratio


def measure_boosting(queries: int, threads: int, turns: int) -> Iterator[Row]:
    """Whole boosting iterations, over those with the engine's own objective."""
    lists = made_lists(queries)
    longest = int(lists.lengths.max())
    scorer = f"trees[leaves={LEAVES},min_data=50,min_hessian=0,learning_rate=0.02,rounds=1000]"
    for engine, learner, loss, required in (
        ("lightgbm", LightGBMLearner, "lambdarank[norm=true,truncation=30]", "<= 1.0"),
        ("lightgbm", LightGBMLearner, f"lambdarank[norm=true,truncation={longest}]", "<= 1.0"),
        ("lightgbm", LightGBMLearner, "xe_ndcg", "<= 1.0"),
        ("xgboost", XGBoostLearner, f"lambdarank[truncation={longest}]", "<= 0.95"),
    ):
        with use_threads(threads):
            ours, native = (
                learner(problem_of(backend, scorer, loss, None, lists, None, 0))
                for backend in (engine, f"{engine}[native=true]")
            )
            what = f"{engine}, {loss}, Q={queries}: iteration / with the engine's own objective"
            yield Row(what, threads, *by_turns(ours.advance, native.advance, turns), required)


def measure_network(threads: int, turns: int) -> Row:
    """A step of the stochastic paper's network on packed documents, over the same on padded ones."""
    lists = made_lists(BATCH)
    _, parameters = rp.registry.registry().resolve(
        "scorer", "mlp[layers=(1024,512,256,128,64,32,16),batch_norm=true,input_batch_norm=true]"
    )
    objective = rp.loss("cross_entropy").on(lists.labels, lists.starts)
    mask = torch.arange(int(lists.lengths.max())) < torch.from_numpy(lists.lengths)[:, None]
    packed = torch.from_numpy(lists.features)
    padded = torch.zeros(*mask.shape, FEATURES)
    padded[mask] = packed
    padded = padded.flatten(0, 1)

    def step(features: torch.Tensor, select: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[int], None]:
        torch.manual_seed(0)
        network: Any = mlp(parameters, FEATURES)  # type: ignore[arg-type]
        optimiser = torch.optim.Adagrad(network.parameters(), 0.005)

        def run(turn: int) -> None:
            scores = select(network(features))
            gradient = objective(scores.detach().numpy(), iteration=turn).gradient
            optimiser.zero_grad(set_to_none=True)
            scores.backward(torch.from_numpy(gradient).float())
            optimiser.step()

        return run

    with use_threads(threads):
        found = by_turns(step(packed, lambda scores: scores), step(padded, lambda s: s.view(mask.shape)[mask]), turns)
    return Row("torch, 7 hidden layers, 128 lists: step on packed / on padded documents", threads, *found, "<= 0.40")


MEMORY = """
import sys, numpy as np
sys.path.insert(0, {folder!r})
import backends, rankplug as rp, lightgbm as lgb
from pathlib import Path

def peak():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024

def fit(lists):
    if {ours}:
        rp.fit("lightgbm", scorer="trees[rounds=10]", loss="lambdarank", train=lists)
    else:
        data = lgb.Dataset(lists.features, lists.labels, group=lists.lengths)
        lgb.train({{"objective": "lambdarank", "verbosity": -1, "num_threads": 1}}, data, 10)

fit(backends.made_lists(20))
lists = backends.made_lists({queries})
lists.fingerprint
Path("/proc/self/clear_refs").write_text("5")
before = peak()
fit(lists)
print(peak() - before, lists.features.nbytes)
"""


def measure_memory(queries: int) -> Row:
    """What ``fit`` needs at its peak beyond LightGBM by itself, over the feature matrix."""
    folder = str(Path(__file__).parent)
    grown = []
    for ours in (True, False):
        program = MEMORY.format(folder=folder, ours=ours, queries=queries)
        said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        grown.append([int(word) for word in said.split()])
    (with_ours, matrix), (alone, _) = grown
    what = f"lightgbm, Q={queries}: peak memory beyond the engine's own / feature matrix"
    return Row(what, 1, with_ours / 2**20, alone / 2**20, (with_ours - alone) / matrix, "< 0.10")


def rows(queries: tuple[int, ...], threads: tuple[int, ...], turns: int) -> Iterator[Row]:
    """All rows, one after another as they are measured."""
    yield measure_memory(queries[0])
    yield from (measure_network(number, turns) for number in threads)
    for number, size in itertools.product(threads, queries):
        yield from measure_boosting(size, number, turns)


def measure(
    queries: tuple[int, ...] = (2000, 6000), threads: tuple[int, ...] = (1, 2), turns: int = 15
) -> list[dict[str, Any]]:
    """All rows, as plain values."""
    return [asdict(row) for row in rows(queries, threads, turns)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, nargs="+", default=[2000, 6000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=15)
    given = parser.parse_args()
    for row in rows(tuple(given.queries), tuple(given.threads), given.turns):
        print(
            f"{row.what:100} {row.threads} threads {row.ours:9.4f} {row.peer:9.4f} {row.ratio:6.3f}"
            f" required {row.required}",
            flush=True,
        )


if __name__ == "__main__":
    main()
