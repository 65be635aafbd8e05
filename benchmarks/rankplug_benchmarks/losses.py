"""Losses for networks beside dense tensors in PyTorch, plain and compiled, and boosting gradients of long lists.

Short, equal and ragged lists are measured alike, because padding costs nothing on equal lists. The dense formulas are
the n x n expressions that allRank, TF-Ranking and the papers' own code compute.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import torch

import rankplug as rp
from rankplug.system import available_cores, use_threads
from rankplug_benchmarks.mslr_shape import ragged_lengths, scores_labels_starts
from rankplug_benchmarks.rounds import Contestant, Row, interleave, ratio_row, value_row

Formula = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _gains(labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.where(mask, torch.exp2(labels) - 1.0, 0.0)


def approx_ndcg(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute ApproxNDCG with a steepness of 10; tensors of shape (lists, longest), one value per list."""
    beaten = torch.sigmoid(10.0 * (scores[:, None, :] - scores[:, :, None]))
    rivals = mask[:, None, :] & ~torch.eye(scores.shape[1], dtype=torch.bool)
    ranks = 1.0 + torch.where(rivals, beaten, 0.0).sum(2)
    gains = _gains(labels, mask)
    discounts = math.log(2.0) / torch.log1p(torch.arange(1, scores.shape[1] + 1))
    ideal = (gains.sort(1, descending=True).values * discounts).sum(1)
    dcg = (gains * math.log(2.0) / torch.log1p(ranks)).sum(1)
    return -dcg / ideal.clamp_min(1e-10)


def ranknet(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the logistic loss of every pair; tensors of shape (lists, longest)."""
    preferred = (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    return (preferred * torch.nn.functional.softplus(scores[:, None, :] - scores[:, :, None])).sum((1, 2))


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the softmax cross entropy with the labels' shares; tensors of shape (lists, longest)."""
    masses = torch.where(mask, labels, 0.0)
    logs = torch.log_softmax(torch.where(mask, scores, -1e9), 1)
    return -(masses * logs).sum(1) / masses.sum(1).clamp_min(1e-10)


FORMULAS: dict[str, Formula] = {
    "approx_ndcg[eta=10]": approx_ndcg,
    "ranknet": ranknet,
    "cross_entropy": cross_entropy,
}


class Batch:
    """A mini-batch as packed documents and as padded tensors."""

    def __init__(self, lengths: np.ndarray) -> None:
        _, labels, self.starts = scores_labels_starts(lengths)
        self.labels = torch.from_numpy(labels).float()
        scores = torch.from_numpy(np.random.default_rng(4).normal(size=labels.size).astype(np.float32))
        self.packed = scores.clone().requires_grad_()
        self.mask = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]
        self.padded = torch.zeros(self.mask.shape).masked_scatter(self.mask, scores).requires_grad_()
        self.padded_labels = torch.zeros(self.mask.shape).masked_scatter(self.mask, self.labels)

    def ours(self, name: str) -> Contestant:
        """Return a call of our loss, forward and backward."""
        loss = rp.torch_loss(name)

        def step() -> None:
            self.packed.grad = None
            loss(self.packed, self.labels, self.starts).backward()

        return step

    def dense(self, formula: Formula) -> Contestant:
        """Return a call of a dense formula, forward and backward."""

        def step() -> None:
            self.padded.grad = None
            formula(self.padded, self.padded_labels, self.mask).mean().backward()

        return step


def measure_batches(threads: int, rounds: int, quick: bool) -> Iterator[Row]:
    """Measure ours beside dense and compiled PyTorch on ragged, equal and short lists."""
    shapes = {
        "128 ragged lists like MSLR": ragged_lengths(8 if quick else 128),
        "128 lists of 120": np.full(8 if quick else 128, 120),
        "512 lists of 20": np.full(16 if quick else 512, 20),
    }
    targets = {"128 ragged lists like MSLR": (100, 15), "512 lists of 20": (None, 3)}
    for (shape, lengths), (name, formula) in itertools.product(shapes.items(), FORMULAS.items()):
        batch = Batch(lengths)
        contestants = {"ours": batch.ours(name), "dense": batch.dense(formula)}
        if not quick:
            torch.compiler.reset()
            contestants["compiled"] = batch.dense(torch.compile(formula))
        timings = interleave(contestants, rounds)
        limits = targets.get(shape, (None, None)) if name.startswith("approx") and threads == 1 else (None, None)
        for way, limit in zip(list(contestants)[1:], limits, strict=False):
            what = f"{name}, {shape}: {way} PyTorch over ours, forward and backward"
            headline = name.startswith("approx") and threads == 1
            yield ratio_row(what, timings, way, "ours", threads=threads, at_least=limit, headline=headline)
        milliseconds = [1e3 * seconds for seconds in timings.seconds["ours"]]
        yield value_row(f"{name}, {shape}: ours", milliseconds, threads=threads, unit="ms")


def measure_small_call(rounds: int) -> Iterator[Row]:
    """Measure one call with a single list of ten documents."""
    for name in FORMULAS:
        timings = interleave({name: Batch(np.full(1, 10)).ours(name)}, max(rounds, 5))
        values = [1e6 * seconds for seconds in timings.seconds[name]]
        yield value_row(f"{name}, one list of 10: one call, forward and backward", values, unit="µs", at_most=60)


def measure_long_lists(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure the gradient of one list of 100,000 documents, over ten of 10,000."""
    lengths = (300, 3_000) if quick else (10_000, 100_000)
    for name in ("lambdarank", "approx_ndcg", "ranksvm"):
        contestants = {}
        for length in lengths:
            _, labels, starts = scores_labels_starts(np.full(1, length))
            scores, loss = np.random.default_rng(5).normal(size=length), rp.loss(name)
            contestants[str(length)] = lambda loss=loss, scores=scores, labels=labels, starts=starts: loss.evaluate(
                scores, labels, starts
            )
        timings = interleave(contestants, rounds)
        what = f"{name}: one list of {lengths[1]:,} documents over one of {lengths[0]:,}"
        yield ratio_row(what, timings, str(lengths[1]), str(lengths[0]), at_most=16)


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure on one thread and on all."""
    for threads in sorted({1, available_cores()}):
        with use_threads(threads):
            yield from measure_batches(threads, rounds, quick)
    with use_threads(1):
        yield from measure_small_call(rounds)
        yield from measure_long_lists(rounds, quick)
