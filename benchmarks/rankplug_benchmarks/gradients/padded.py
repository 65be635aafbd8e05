"""Forward and backward of a mini-batch of 128 lists, beside padded and packed tensors.

The padded contestants are :mod:`rankplug_benchmarks.gradients.padded_formulas`, the n x n expressions that allRank,
TF-Ranking and the papers' own code compute; the packed ones, :mod:`rankplug_benchmarks.gradients.packed_formulas`,
spare the padding. Both run as they are and compiled by ``torch.compile``. With ``--peers`` allRank's and Rax's own
losses run too, in processes of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
from rankplug_torch.loss_modules import objective_value

import rankplug as rp
from rankplug.system import use_threads
from rankplug_benchmarks.gradients import packed_formulas, padded_formulas
from rankplug_benchmarks.gradients.packed_formulas import PackedLists
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_least, measured
from rankplug_benchmarks.harness.rounds import Contestant, by_turns, calls_a_turn
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import lists_like_mslr
from rankplug_benchmarks.peers import PEERS, Peer, PeerError, PeerProcess, install

BATCH = 128
WAYS = {
    "padded": "padded tensors",
    "padded, compiled": "padded tensors, compiled by torch,",
    "packed": "packed tensors",
    "packed, compiled": "packed tensors, compiled by torch,",
}
"""Ways to write a loss in PyTorch, in words."""
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
        self.packed_lists = PackedLists(self.labels[: self.starts[lists]], self.starts[: lists + 1])

    def ours(self, loss: str, sampler: str | None) -> Contestant:
        """Return a call of our loss, forward and backward."""
        objective, counter = rp.loss(loss).on(self.labels, self.starts, sampler=sampler), itertools.count()

        def step() -> None:
            self.packed.grad = None
            objective_value(objective, self.packed, iteration=next(counter), lists=self.lists).mean().backward()

        return step

    def without_torch(self, loss: str) -> Contestant:
        """Return a call of our loss for its values and gradient, which is all that some peers compute."""
        objective, scores = rp.loss(loss).on(self.labels, self.starts), self.packed.detach().numpy()
        return lambda: objective(scores, lists=self.lists, dtype=np.float32)

    def dense(self, function: Callable[..., torch.Tensor], draws: int = 1) -> Contestant:
        """Return a call of a padded formula, forward and backward."""
        return _draws_of(lambda scores: function(scores, self.padded_labels, self.mask), self.padded, draws)

    def sparse(self, function: Callable[..., torch.Tensor], draws: int = 1) -> Contestant:
        """Return a call of a packed formula, forward and backward."""
        return _draws_of(lambda scores: function(scores, self.packed_lists), self.packed, draws)


def _draws_of(function: Callable[[torch.Tensor], torch.Tensor], scores: torch.Tensor, draws: int) -> Contestant:
    """Return a call of a loss forward and backward, of several draws with noise of Gumbel's law."""

    def step() -> None:
        scores.grad = None
        for _ in range(draws):
            noise = torch.zeros_like(scores)
            if draws > 1:
                noise = -torch.log(-torch.log(torch.rand_like(scores).clamp(1e-7, 1 - 1e-7)))
            (function(scores + noise).mean() / draws).backward()

    return step


def measure_formulas(batch: Batch, effort: Effort, threads: int) -> Iterator[Measurement | Table]:
    """Measure ours beside the formulas in PyTorch, and name those that cannot be compiled here."""
    failed = []
    for what, loss, sampler, padded, draws, target in CONTESTS:
        packed = getattr(packed_formulas, loss)
        contestants = {
            "rankplug": batch.ours(loss, sampler),
            "padded": batch.dense(padded, draws),
            "packed": batch.sparse(packed, draws),
        }
        compiled = {}
        # Compiling takes minutes, so tiny sizes do without. It is for the number of threads that are set.
        if not effort.quick:
            torch.compiler.reset()
            compiled = {
                "padded, compiled": batch.dense(torch.compile(padded), draws),
                "packed, compiled": batch.sparse(torch.compile(packed), draws),
            }
        for way, contestant in compiled.items():
            try:
                contestant()
            except Exception as error:
                failed.append((f"{what}, {way}", f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"))
            else:
                contestants[way] = contestant
        calls = calls_a_turn(contestants["padded"])
        rounds = by_turns(contestants, effort.rounds, calls=calls, yardstick="padded")
        for way, words in WAYS.items():
            if way in contestants:
                yield measured(
                    f"{what}: {words} over ours, forward and backward",
                    rounds,
                    lambda seconds, way=way: seconds[way] / seconds["rankplug"],
                    threads=threads,
                    target=target if threads == 1 and way == "padded" else None,
                )
    if failed:
        yield Table(f"not compiled on {threads} threads", ("contest", "why"), tuple(failed))


def measure_peers(batch: Batch, effort: Effort, threads: int) -> Iterator[Measurement | Table]:
    """Measure ours beside what allRank and Rax compute, and name what of theirs cannot be run here."""
    failed = []
    for peer in PEERS:
        for loss, theirs in peer.losses.items():
            try:
                yield from measure_peer(peer, loss, theirs, batch, effort, threads)
            except PeerError as error:
                failed.append((peer.title, theirs, str(error)))
    if failed:
        yield Table("not run", ("peer", "loss", "why"), tuple(failed))


def measure_peer(
    peer: Peer, loss: str, theirs: str, batch: Batch, effort: Effort, threads: int
) -> Iterator[Measurement]:
    """Measure one of our losses beside a peer's; beside one without PyTorch also without it."""
    scores, labels, mask = (part.detach().numpy() for part in (batch.padded, batch.padded_labels, batch.mask))
    ours = {"forward and backward": batch.ours(loss, None)}
    if not peer.in_torch:
        ours["value and gradient, ours without PyTorch"] = batch.without_torch(loss)
    with PeerProcess(peer, install(peer), theirs, threads, scores=scores, labels=labels, mask=mask) as process:
        contestants = {**ours, peer.name: process.contestant}
        rounds = by_turns(contestants, effort.rounds, calls=calls_a_turn(process.contestant))
    for what in ours:
        yield measured(
            f"{loss}: {peer.name} over ours, {what}",
            rounds,
            lambda seconds, what=what: seconds[peer.name] / seconds[what],
            threads=threads,
            note=f"{peer.title}, {theirs}",
        )


def measure(effort: Effort) -> Iterator[Measurement | Table]:
    """Measure on one thread, which the targets are about, then on all."""
    batch = Batch(effort.size(BATCH, 8))
    for threads in effort.threads:
        with use_threads(threads):
            yield from measure_formulas(batch, effort, threads)
            if effort.peers:
                yield from measure_peers(batch, effort, threads)
