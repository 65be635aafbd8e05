"""Forward and backward of a mini-batch of 128 lists, beside padded tensors.

The padded contestants are :mod:`rankplug_benchmarks.gradients.padded_formulas`, the n x n expressions that allRank,
TF-Ranking and the papers' own code compute. With ``--peers`` allRank's and Rax's own losses run too, in processes of
their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
from rankplug_torch.loss_modules import objective_value

import rankplug as rp
from rankplug.system import use_threads
from rankplug_benchmarks.gradients import padded_formulas
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_least, measured
from rankplug_benchmarks.harness.rounds import Contestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import lists_like_mslr
from rankplug_benchmarks.peers import PEERS, Peer, PeerError, PeerProcess, install

BATCH = 128
CALLS = 3
CONTESTS = (
    ("approx_ndcg", "approx_ndcg", None, padded_formulas.approx_ndcg, 1, at_least(45)),
    ("approx_ndcg of 8 draws", "approx_ndcg", "gumbel[samples=8]", padded_formulas.approx_ndcg, 8, at_least(45)),
    ("urank", "urank", None, padded_formulas.urank, 1, at_least(35)),
    ("lambdaloss", "lambdaloss", None, padded_formulas.lambdaloss, 1, at_least(35)),
    ("ranknet", "ranknet", None, padded_formulas.ranknet, 1, None),
    ("listmle", "listmle", None, padded_formulas.listmle, 1, at_least(1)),
    ("cross_entropy", "cross_entropy", None, padded_formulas.cross_entropy, 1, at_least(1)),
    ("xe_ndcg", "xe_ndcg", None, padded_formulas.xe_ndcg, 1, at_least(1)),
)
"""Contests: name, our loss and sampler, the padded formula, its draws, and the target for its time over ours."""


class Batch:
    """The same lists packed and padded."""

    def __init__(self, lists: int) -> None:
        _, self.labels, self.starts = lists_like_mslr(lists * 8)
        self.lists = np.arange(lists)
        lengths = np.diff(self.starts)[:lists]
        scores = torch.from_numpy(np.random.default_rng(4).normal(size=self.starts[lists]).astype(np.float32))
        self.packed = scores.clone().requires_grad_()
        self.mask = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]
        self.padded = torch.zeros(self.mask.shape).masked_scatter(self.mask, scores).requires_grad_()
        labels = torch.from_numpy(self.labels[: self.starts[lists]]).float()
        self.padded_labels = torch.zeros(self.mask.shape).masked_scatter(self.mask, labels)

    def ours(self, loss: str, sampler: str | None) -> Contestant:
        """Return a call of our loss, forward and backward."""
        objective, counter = rp.loss(loss).on(self.labels, self.starts, sampler=sampler), itertools.count()

        def step() -> None:
            self.packed.grad = None
            objective_value(objective, self.packed, iteration=next(counter), lists=self.lists).mean().backward()

        return step

    def dense(self, function: Callable[..., torch.Tensor], draws: int) -> Contestant:
        """Return a call of a padded formula, forward and backward."""

        def step() -> None:
            self.padded.grad = None
            for _ in range(draws):
                noise = torch.zeros_like(self.padded)
                if draws > 1:
                    noise = -torch.log(-torch.log(torch.rand_like(self.padded).clamp(1e-7, 1 - 1e-7)))
                (function(self.padded + noise, self.padded_labels, self.mask).mean() / draws).backward()

        return step


def measure_formulas(batch: Batch, effort: Effort, threads: int) -> Iterator[Measurement]:
    """Measure ours beside the padded formulas."""
    for what, loss, sampler, function, draws, target in CONTESTS:
        rounds = by_turns(
            {"rankplug": batch.ours(loss, sampler), "padded": batch.dense(function, draws)},
            effort.rounds,
            calls=max(1, CALLS // draws),
        )
        yield measured(
            f"{what}: padded tensors over ours, forward and backward",
            rounds,
            lambda seconds: seconds["padded"] / seconds["rankplug"],
            threads=threads,
            target=target if threads == 1 else None,
        )


def measure_peers(batch: Batch, effort: Effort, threads: int) -> Iterator[Measurement | Table]:
    """Measure ours beside what allRank and Rax compute, and name what of theirs cannot be run here."""
    failed = []
    for peer in PEERS:
        for loss, theirs in peer.losses.items():
            try:
                yield measure_peer(peer, loss, theirs, batch, effort, threads)
            except PeerError as error:
                failed.append((peer.title, theirs, str(error)))
    if failed:
        yield Table("not run", ("peer", "loss", "why"), tuple(failed))


def measure_peer(peer: Peer, loss: str, theirs: str, batch: Batch, effort: Effort, threads: int) -> Measurement:
    """Measure one of our losses beside a peer's."""
    scores, labels, mask = (part.detach().numpy() for part in (batch.padded, batch.padded_labels, batch.mask))
    with PeerProcess(peer, install(peer), theirs, threads, scores=scores, labels=labels, mask=mask) as process:
        rounds = by_turns({"rankplug": batch.ours(loss, None), peer.name: process.contestant}, effort.rounds)
    return measured(
        f"{loss}: {peer.name} over ours, forward and backward",
        rounds,
        lambda seconds: seconds[peer.name] / seconds["rankplug"],
        threads=threads,
        note=f"{peer.title}, {theirs}",
    )


def measure(effort: Effort) -> Iterator[Measurement | Table]:
    """Measure on one thread, which the targets are about, then on all."""
    batch = Batch(effort.size(BATCH, 8))
    for threads in effort.threads:
        with use_threads(threads):
            yield from measure_formulas(batch, effort, threads)
            if effort.peers and threads == 1:
                yield from measure_peers(batch, effort, threads)
