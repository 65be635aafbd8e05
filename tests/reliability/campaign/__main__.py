"""Kills commands at random moments, lets the disk fail at every write in turn, and compares what is there in the end.

Each case runs a command in a folder of its own, disturbs it, then runs it again undisturbed; the folder must hold what
an undisturbed run leaves. In between, reading must answer, and no process may be left. A log of one line a case makes
a campaign resumable: cases that it has are not run again. Commands run in forks of this process, which has imported
everything and computed nothing::

    python tests/reliability/campaign.py kills 500 --folder /tmp/campaign --seconds 3600
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import errno
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ |= {"RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CI": "1"}

import lightgbm  # noqa: F401
import numpy as np
import pandas as pd
import pyarrow.parquet  # noqa: F401
import rankplug_lightgbm.backend  # noqa: F401

import rankplug as rp
from rankplug.cli import main
from rankplug.registry import registry
from rankplug.system import cache_folder
from rankplug.training import load_model

TINY = ["dataset=synthetic[queries=60]", "backend=lightgbm", "scorer=trees[rounds=3]", "metrics=ndcg@5"]
SWEEP = ["sweep", *TINY, "loss=[mse,ranknet]", "--trials", "2", "--store", "store"]
UNFORESEEN = ("Traceback", "unexpected ", "defect of rankplug", "Fatal Python error")


@dataclass(frozen=True)
class Command:
    """A command with what it needs before, and what it leaves.

    Args:
        words: after ``rankplug``.
        state: says what is in the folder, as a text that equal states share.
        prepare: makes what the command needs.
        weight: how often it is chosen.
    """

    words: Sequence[str]
    state: Callable[[Path], str]
    prepare: Callable[[Path], object] = lambda folder: None
    weight: int = 1
    variables: dict[str, str] = field(default_factory=dict)


def results_of(name: str) -> Callable[[Path], str]:
    """Return a function that says which numbers the store of some name holds."""

    def state(folder: Path) -> str:
        frame = rp.Store(folder / name).frame()[
            ["loss", "fold", "trial", "measure", "part", "metric", "iteration", "query", "value"]
        ]
        order = frame.sort_values(list(frame.columns), kind="stable", ignore_index=True)
        numbers = pd.util.hash_pandas_object(order, index=False).to_numpy()
        return f"{len(order)} rows {hashlib.sha256(numbers.tobytes()).hexdigest()}"

    return state


def scores_of(folder: Path) -> str:
    test = rp.load("synthetic[queries=60]").test
    return hashlib.sha256(load_model(folder / "model.txt").predict(test).tobytes()).hexdigest()


def prepared_lists(folder: Path) -> str:
    os.environ["RANKPLUG_CACHE"] = str(folder / "cache")
    os.chdir(folder)
    parts = rp.load("letor-file[path='text.txt']")
    left = [path.name for path in (folder / "cache" / "data").iterdir() if path.suffix in (".unfinished", ".old")]
    return f"{[part.fingerprint for part in parts]} {left}"


def archive_of(folder: Path) -> str:
    with zipfile.ZipFile(folder / "all.zip") as archive:
        assert archive.testzip() is None
        return str(sorted((one.filename, one.CRC) for one in archive.infolist() if one.filename.startswith("results/")))


def files_of(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and ".rankplug-" not in str(path)]
    return str(sorted((str(path.relative_to(folder)), path.read_bytes()) for path in files))


def make_store(name: str) -> Callable[[Path], None]:
    """Return a function that puts a copy of a small store into a folder."""

    def make(folder: Path) -> None:
        template = folder.parent / "template"
        if not template.exists():
            made = folder.parent / "making"
            made.mkdir(exist_ok=True)
            assert finish(start(made, [*SWEEP, "--inline"])) == 0, (made / "output").read_text()
            (made / "store").rename(template)
        shutil.copytree(template, folder / name)

    return make


def make_text(folder: Path) -> None:
    kernels = cache_folder() / "kernels"
    if kernels.exists():
        shutil.copytree(kernels, folder / "cache" / "kernels", copy_function=os.link)
    noise = np.random.default_rng(0)
    lines = [f"{row % 3} qid:{row // 20} 1:{noise.random():.5f} 2:{noise.random():.5f}\n" for row in range(20_000)]
    (folder / "text.txt").write_text("".join(lines))


def make_litter(folder: Path) -> None:
    make_store("store")(folder)
    for number in range(40):
        (folder / "store" / ".locks").mkdir(exist_ok=True)
        (folder / "store" / ".locks" / f".rankplug-{number:08}.tmp").write_bytes(bytes(1000))


OWN_CACHE = {"RANKPLUG_CACHE": "cache"}
CLEAN, GROUPS = ["results", "clean", "--outdated", "--yes"], ["results", "--group-by", "loss"]
TRAIN = ["train", "synthetic[queries=60]", "--loss", "mse", "--scorer", "trees[rounds=3]", "--out", "model.txt"]
COMMANDS = {
    "sweep": Command([*SWEEP, "--inline"], results_of("store"), weight=8),
    "sweep of processes": Command([*SWEEP, "--inline", "--jobs", "2"], results_of("store"), weight=3),
    "sweep of notebooks": Command(SWEEP, results_of("store"), weight=1),
    "train": Command(TRAIN, scores_of, weight=6),
    "prepare": Command(["data", "prepare", "letor-file[path='text.txt']"], prepared_lists, make_text, 6, OWN_CACHE),
    "merge": Command(["results", "merge", "other", "--store", "store"], results_of("store"), make_store("other"), 5),
    "export": Command(["results", "export", "all.zip", "--store", "store"], archive_of, make_store("store"), 5),
    "clean": Command([*CLEAN, "--store", "store"], results_of("store"), make_litter, 4),
    "results": Command([*GROUPS, "--store", "store"], results_of("store"), make_store("store"), 3),
    "plot": Command(["results", "--store", "store", "--plot", "plot.png", "--group-by", "loss"], results_of("store"),
                    make_store("store"), 1),
    "new": Command(["new", "loss", "my_loss"], files_of, weight=3),
    "plugins": Command(["plugins", "--json"], files_of, weight=1),
    "doctor": Command(["doctor"], files_of, weight=1),
}  # fmt: skip


def start(folder: Path, words: Sequence[str], variables: dict[str, str] | None = None, fault: Any = None) -> int:
    """Run a command in a fork, in a session of its own; what it says goes to a file beside the folder."""
    output = folder.parent / f"{folder.name}.output"
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.setsid()
            handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            os.chdir(folder)
            for name, value in (variables or {}).items():
                os.environ[name] = str(folder / value)
            sys.argv = ["rankplug", *words]
            if fault is not None:
                fault.install(folder)
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def finish(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ask(function: Callable[[Path], str], folder: Path) -> str:
    """Call a function in a fork, so that this process computes nothing."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        try:
            answer = function(folder)
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "w") as pipe:
            pipe.write(hashlib.sha256(answer.encode()).hexdigest() if len(answer) > 2000 else answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def session(leader: int) -> list[int]:
    """Return the processes of a session that are still there."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                facts = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(facts[3]) == leader and facts[0] != "Z":
                found.append(int(entry))
    return found


def orphans(leader: int, seconds: float = 30) -> list[int]:
    until = time.monotonic() + seconds
    while (left := session(leader)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


class FailingDisk:
    """A disk that fails at one write of a folder, and from then on if it stays so."""

    def __init__(self, at: int, stays: bool, count: Path) -> None:
        self.at, self.stays, self.count, self.writes = at, stays, count, 0

    def install(self, folder: Path) -> None:
        """Put a layer over every call by which a file or folder comes about, is written out or takes its name."""
        for owner, name in (
            (os, "open"),
            (os, "replace"),
            (os, "rename"),
            (os, "mkdir"),
            (os, "fsync"),
            (builtins, "open"),
        ):
            setattr(owner, name, self._failing(name, getattr(owner, name), str(folder)))

    def _failing(self, name: str, before: Any, folder: str) -> Any:
        def call(target: Any, *words: Any, **options: Any) -> Any:
            if self._is_write(name, target, words, options, folder):
                self.writes += 1
                if self.writes == self.at or (self.stays and self.writes > self.at):
                    self.count.touch()
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target if isinstance(target, str) else None)
            return before(target, *words, **options)

        return call

    @staticmethod
    def _is_write(name: str, target: Any, words: Any, options: Any, folder: str) -> bool:
        if name == "fsync":
            return True
        if not isinstance(target, (str, os.PathLike)):
            return False
        inside = os.path.abspath(os.fspath(target)).startswith(folder)
        if name == "open":
            mode = words[0] if words else options.get("mode", "r")
            writes = bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else any(c in mode for c in "wax+")
            return inside and writes
        return inside


class Campaign:
    """Cases of one kind, with their log."""

    def __init__(self, folder: Path, names: Sequence[str] = ()) -> None:
        self.folder = folder
        self.commands = {name: command for name, command in COMMANDS.items() if not names or name in names}
        folder.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("RANKPLUG_CACHE", str(folder / "cache"))
        self.log = folder / "log.jsonl"
        self.done = (
            {json.loads(line)["case"] for line in self.log.read_text().splitlines()} if self.log.exists() else set()
        )
        self.expected: dict[str, tuple[str, float]] = {}
        registry()

    def undisturbed(self, name: str) -> tuple[str, float]:
        """Return the state that a command leaves, and how long it takes."""
        if name not in self.expected:
            folder = self.fresh(f"undisturbed {name}")
            COMMANDS[name].prepare(folder)
            began = time.monotonic()
            code = finish(start(folder, COMMANDS[name].words, COMMANDS[name].variables))
            took = time.monotonic() - began
            assert code == 0, (folder.parent / f"{folder.name}.output").read_text()
            self.expected[name] = ask(COMMANDS[name].state, folder), took
        return self.expected[name]

    def fresh(self, name: str) -> Path:
        folder = self.folder / name.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        (folder.parent / f"{folder.name}.output").unlink(missing_ok=True)
        folder.mkdir()
        return folder

    def record(self, case: str, **facts: Any) -> dict[str, Any]:
        line = {"case": case, **facts}
        with self.log.open("a") as log:
            log.write(json.dumps(line) + "\n")
        return line

    def again(self, case: str, name: str, folder: Path, **facts: Any) -> dict[str, Any]:
        """Run a command undisturbed in the folder where it was disturbed, and compare."""
        output = folder.parent / f"{folder.name}.output"
        # A command that is killed at once has said nothing.
        said = output.read_text(errors="replace") if output.exists() else ""
        unforeseen = [word for word in UNFORESEEN if word in said]
        reading = ""
        if (folder / "store").is_dir():
            child = start(folder, ["results", "--store", "store"])
            reading = "" if finish(child) == 0 else "reading failed"
        code = finish(start(folder, COMMANDS[name].words, COMMANDS[name].variables))
        state = ask(COMMANDS[name].state, folder)
        # What is there already is not made again, and says so.
        equal = state == self.undisturbed(name)[0] and (code == 0 or name == "new")
        line = self.record(case, equal=equal, code=code, unforeseen=unforeseen, reading=reading, **facts)
        if equal and not unforeseen and not reading and not facts.get("orphans"):
            shutil.rmtree(folder)
            (folder.parent / f"{folder.name}.output").unlink(missing_ok=True)
        else:
            print("FOUND", line, state[:300], self.undisturbed(name)[0][:300], flush=True)
        return line

    def kills(self, number: int) -> Iterator[dict[str, Any]]:
        """Kill a command at a random moment, alone or with all that it started."""
        for seed in range(number):
            chance = random.Random(seed)
            weights = [command.weight for command in self.commands.values()]
            name = chance.choices(list(self.commands), weights)[0]
            case = f"kill {seed} {name}"
            moment, group = chance.random(), chance.random() < 0.5
            if case in self.done:
                continue
            wait = moment * 1.05 * self.undisturbed(name)[1]
            folder = self.fresh(case)
            COMMANDS[name].prepare(folder)
            child = start(folder, COMMANDS[name].words, COMMANDS[name].variables)
            time.sleep(wait)
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(child, signal.SIGKILL)
            ended = finish(child)
            left = orphans(child)
            yield self.again(case, name, folder, killed=ended == -signal.SIGKILL, group=group, orphans=len(left))

    def disk(self, number: int) -> Iterator[dict[str, Any]]:
        """Let every write of each command fail in turn, once and from then on; ``number`` bounds the writes of each."""
        for name, command in self.commands.items():
            if " of " in name or name in ("plugins", "doctor", "results"):
                continue
            for stays in (False, True):
                for at in range(1, number + 1):
                    case = f"disk {name} {at} {'stays' if stays else 'once'}"
                    if case in self.done:
                        continue
                    folder = self.fresh(case)
                    command.prepare(folder)
                    failed = self.folder / "failed"
                    failed.unlink(missing_ok=True)
                    disk = FailingDisk(at, stays, failed)
                    code = finish(start(folder, command.words, command.variables, disk))
                    if not failed.exists():
                        shutil.rmtree(folder)
                        break
                    yield self.again(case, name, folder, failing=code)

    def share(self, number: int) -> Iterator[dict[str, Any]]:
        """Let four sweeps share a store, of which two are killed."""
        name = "sweep"
        for seed in range(number):
            case = f"share {seed}"
            if case in self.done:
                continue
            chance = random.Random(seed)
            took = self.undisturbed(name)[1]
            folder = self.fresh(case)
            children = [start(folder, COMMANDS[name].words) for _ in range(4)]
            for victim in chance.sample(children, 2):
                time.sleep(chance.random() * took)
                os.kill(victim, signal.SIGKILL)
            codes = [finish(child) for child in children]
            complete = ask(COMMANDS[name].state, folder) == self.undisturbed(name)[0]
            yield self.again(case, name, folder, codes=codes, complete=complete)


def summary(lines: Sequence[dict[str, Any]]) -> str:
    good = sum(line["equal"] and not line["unforeseen"] and not line["reading"] for line in lines)
    killed, left = (sum(line.get(name, 0) for line in lines) for name in ("killed", "orphans"))
    return f"{len(lines)} cases, {killed} ended by the kill, {good} as undisturbed, {left} processes left"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["kills", "disk", "share"])
    parser.add_argument("number", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--command", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=3600.0)
    given = parser.parse_args()
    campaign, until = Campaign(given.folder.absolute(), given.command), time.monotonic() + given.seconds
    for _ in getattr(campaign, given.kind)(given.number):
        if time.monotonic() > until:
            break
    print(summary([json.loads(line) for line in campaign.log.read_text().splitlines()]))
