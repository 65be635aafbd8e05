"""Libraries that are no dependencies of ours, fetched into the cache when asked for and run in processes of their own.

A peer's process gets its packages by ``PYTHONPATH``, builds its loss once, and then answers every line it reads with
the seconds one call took. So it takes its turns like any contestant, and imports and transport are not timed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

from rankplug.errors import RankplugError
from rankplug.system import cache_folder, thread_environment, whole_folder
from rankplug_benchmarks.harness.rounds import SelfTimedContestant


class PeerError(RankplugError):
    """A library that cannot be fetched or run here."""


@dataclass(frozen=True)
class Peer:
    """A library.

    Args:
        name: of it.
        version: that is fetched.
        packages: to fetch one after another, with the options of the installer.
        program: beside this file, which runs it.
        losses: our loss -> what the library calls its own.
        predictions: its ways to predict with trees of LightGBM.
        readings: its ways to read text.
        trainings: its ways to train trees.
        in_torch: whether its losses are PyTorch's, with the cost of its graph.
    """

    name: str
    version: str
    packages: tuple[tuple[str, ...], ...]
    program: str
    losses: Mapping[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    trainings: tuple[str, ...] = ()
    in_torch: bool = False

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


PEERS = (
    Peer(
        "allRank",
        "1.4.3",
        (("gcsfs", "flatten-dict", "setuptools<81"), ("--no-deps", "allrank==1.4.3")),
        "peer_losses/allrank_losses.py",
        {
            "approx_ndcg": "approxNDCGLoss",
            "lambdaloss": "lambdaLoss",
            "ranknet": "rankNet",
            "listmle": "listMLE",
            "listnet": "listNet",
        },
        in_torch=True,
    ),
    Peer(
        "Rax",
        "0.4.0",
        (("rax==0.4.0", "jax==0.6.2"),),
        "peer_losses/rax_losses.py",
        {
            "approx_ndcg": "approx_t12n of ndcg_metric",
            "ranknet": "pairwise_logistic_loss",
            "listmle": "listmle_loss",
            "cross_entropy": "softmax_loss",
        },
    ),
    Peer(
        "lleaves",
        "1.3.0",
        # It calls what later versions of llvmlite lack.
        (("--no-deps", "lleaves==1.3.0", "llvmlite==0.43.0"),),
        "prediction/peer_trees.py",
        predictions=("machine code",),
    ),
    Peer(
        "treelite",
        "4.8.1",
        (("--no-deps", "treelite==4.8.1", "tl2cgen==1.0.0"),),
        "prediction/peer_trees.py",
        predictions=("GTIL", "tl2cgen"),
    ),
    Peer(
        "svmloader",
        "0.5.3",
        (("--no-deps", "svmloader==0.5.3"),),
        "data_sets/peer_readers.py",
        readings=("reading",),
    ),
    Peer(
        "Vowpal Wabbit",
        "9.11.9",
        (("--no-deps", "vowpalwabbit==9.11.9"),),
        "data_sets/peer_readers.py",
        readings=("learning",),
    ),
    Peer(
        "YDF",
        "0.16.1",
        (("--no-deps", "ydf==0.16.1", "absl-py", "protobuf"),),
        "boosters/peer_boosters.py",
        trainings=("LAMBDA_MART_NDCG",),
    ),
)


def install(peer: Peer) -> Path:
    """Return the folder of a peer's packages in the cache, fetched if it is not there."""
    folder = cache_folder() / "peers" / f"{peer.name}-{peer.version}-python{sys.version_info[0]}.{sys.version_info[1]}"
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder) as unfinished:
        for packages in peer.packages:
            words = ["-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
            target = ["--target", str(unfinished)]
            answer = subprocess.run([sys.executable, *words, *target, *packages], capture_output=True, text=True)
            if answer.returncode:
                raise PeerError(f"{peer.title} cannot be fetched: {_last_line(answer.stderr)}")
    return folder


class PeerProcess:
    """A process that runs one loss of a peer, or predicts, reads or trains in one of its ways.

    Args:
        peer: whose.
        folder: of its packages.
        way: loss, or way to predict, read or train, as the peer calls it.
        threads: it may use.
        arrays: padded scores, labels and mask, or what else its program loads.
    """

    def __init__(self, peer: Peer, folder: Path, way: str, threads: int, **arrays: np.ndarray) -> None:
        self.peer, self.way = peer, way
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "arrays.npz"
        np.savez(path, **arrays)
        program = Path(__file__).parent / peer.program
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(program), str(path), way, str(threads)],
            env={**os.environ, **thread_environment(threads), "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def contestant(self) -> SelfTimedContestant:
        """Takes turns with others."""
        return SelfTimedContestant(self._call)

    def _call(self) -> float:
        assert self.process.stdin and self.process.stdout and self.process.stderr
        answer = ""
        try:
            self.process.stdin.write("call\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if not answer:
            reason = _last_line(self.process.stderr.read())
            raise PeerError(f"{self.way} of {self.peer.title} ended: {reason}")
        return float(answer)

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()


def _last_line(said: str) -> str:
    return (said.strip().splitlines() or ["no reason given"])[-1]
