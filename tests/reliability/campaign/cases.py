"""Cases of a campaign, with their log: kills, failing disks, and stores that several sweeps share."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from children import NO_STATE, ask, finish, modules_of, orphans, output_of, start, watch
from commands import COMMANDS, TINY, WRITERS, litter_of
from counts import is_good
from failing_writes import FailingDisk, LimitedFiles, can_mount, small_disk
from filelock import FileLock
from toy_study import install
from undisturbed import Undisturbed

from rankplug.registry import registry

UNFORESEEN = ("Traceback", "unexpected ", "defect of rankplug", "Fatal Python error")
LATEST_KILL = 0.95
"""Share of the usual time of a command by which it is killed."""
SMALLEST, LARGEST = 1 << 8, 1 << 22
"""Bytes of the smallest and the largest disk that is tried, and of files likewise."""
NEXT_SWEEP = ["sweep", *TINY, "loss=ranknet", "--trials", "2", "--jobs", "2", "--store", "other-store"]
PROBE, PROBED = re.compile(r"[a-z0-9_]{8}"), 4
"""Name and size of the file by which Python's ``tempfile`` tries a folder."""
OLD = 1e9
"""A time long ago."""


class Campaign:
    """Cases of one folder, with their log."""

    def __init__(self, folder: Path, names: Sequence[str] = ()) -> None:
        self.folder = folder
        self.commands = {name: command for name, command in COMMANDS.items() if not names or name in names}
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = FileLock(folder / "campaign.lock")
        # What a second campaign has among the temporary files would be taken for what a command left.
        self.lock.acquire(blocking=False)
        os.environ.setdefault("RANKPLUG_CACHE", str(folder / "cache"))
        # Of the campaign alone, so that what stays there is found.
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        os.environ["TMPDIR"] = str(self.temporary)
        self.log = folder / "log.jsonl"
        self.done = (
            {json.loads(line)["case"] for line in self.log.read_text().splitlines()} if self.log.exists() else set()
        )
        install(folder / "toy")
        self.known = Undisturbed(folder / "undisturbed.json")
        self.spent = sum(os.times()[:4])
        registry()

    def undisturbed(self, name: str) -> str:
        """Return the state that a command leaves: the same twice, the second time as fast as it usually is."""
        if name not in self.known.states:
            states = set()
            for _ in range(2):
                folder = self.fresh(f"undisturbed {name}")
                COMMANDS[name].prepare(folder)
                began = time.monotonic()
                child = self.start(name, folder, names_modules=True)
                computed = watch(child)
                code, took = finish(child), time.monotonic() - began
                assert code == 0, output_of(folder).read_text()
                state = ask(COMMANDS[name].state, folder)
                assert not state.startswith(NO_STATE), f"{name}: {state}"
                self.known.leaves(name, state, modules_of(folder).read_text().split())
                states.add(state)
            assert len(states) == 1, f"what {name} leaves is called different after the same: {states}"
            self.known.took(name, took, computed)
        return self.known.states[name]

    def start(self, name: str, folder: Path, fault: Any = None, names_modules: bool = False) -> int:
        return start(folder, COMMANDS[name].words, COMMANDS[name].variables, fault, names_modules)

    def fresh(self, name: str) -> Path:
        folder = self.folder / name.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        output_of(folder).unlink(missing_ok=True)
        folder.mkdir()
        return folder

    def record(self, case: str, **facts: Any) -> dict[str, Any]:
        spent = sum(os.times()[:4])
        line = {"case": case, **facts, "seconds": round(spent - self.spent, 2)}
        self.spent = spent
        with self.log.open("a") as log:
            log.write(json.dumps(line) + "\n")
        return line

    def again(self, case: str, name: str, folder: Path, **facts: Any) -> dict[str, Any]:
        """Run a command undisturbed in the folder where it was disturbed, and compare."""
        output = output_of(folder)
        # A command that is killed at once has said nothing.
        said = output.read_text(errors="replace") if output.exists() else ""
        unforeseen = [word for word in UNFORESEEN if word in said]
        reading = ""
        if (folder / "store").is_dir():
            child = start(folder, ["results", "--store", "store"])
            reading = "" if finish(child) == 0 else "reading failed"
        if output.exists():
            # What the command says in the end is compared too.
            output.rename(output.with_suffix(".before"))
        code = finish(self.start(name, folder))
        state = ask(COMMANDS[name].state, folder)
        equal = state == self.undisturbed(name) and (code == 0 or COMMANDS[name].again_fails)
        litter = self.litter(name, folder)
        line = self.record(
            case, command=name, equal=equal, code=code, unforeseen=unforeseen, reading=reading, litter=litter, **facts
        )
        if is_good(line):
            shutil.rmtree(folder, ignore_errors=True)
            output.unlink(missing_ok=True)
            output.with_suffix(".before").unlink(missing_ok=True)
        else:
            print("FOUND", line, state[:300], self.undisturbed(name)[:300], flush=True)
        return line

    def litter(self, name: str, folder: Path) -> list[str]:
        """Return what stays for good: what neither the command removes once it is old, nor cleaning."""
        self._remove_probes()
        places = {folder, self.temporary}
        if not any(map(litter_of, places)) and not list(self.temporary.iterdir()):
            return []
        for place in places:
            for path in place.rglob("*"):
                with contextlib.suppress(OSError):
                    os.utime(path, (OLD, OLD), follow_symlinks=False)
        finish(self.start(name, folder))
        if (folder / "store").is_dir():
            finish(start(folder, ["results", "clean", "--yes", "--store", "store"]))
        # The next sweep removes what earlier ones left among the temporary files.
        finish(start(folder, NEXT_SWEEP))
        shutil.rmtree(folder / "other-store", ignore_errors=True)
        return [*litter_of(folder), *(path.name for path in self.temporary.iterdir())]

    def _remove_probes(self) -> None:
        """Remove what Python writes to learn whether it may, where it is killed before it takes it away again."""
        for path in self.temporary.iterdir():
            if PROBE.fullmatch(path.name) and path.is_file() and path.stat().st_size <= PROBED:
                path.unlink()

    def kills(self, number: int) -> Iterator[dict[str, Any]]:
        """Kill a command at a random moment, alone or with all that it started."""
        for seed in range(number):
            chance = random.Random(seed)
            weights = [command.weight for command in self.commands.values()]
            name = chance.choices(list(self.commands), weights)[0]
            case = f"kill {seed} {name}"
            moment, group, by_work = LATEST_KILL * chance.random(), chance.random() < 0.5, chance.random() < 0.5
            if case in self.done:
                continue
            self.undisturbed(name)
            usual = {"seconds": self.known.seconds[name], "computed": self.known.computed[name]}
            folder = self.fresh(case)
            COMMANDS[name].prepare(folder)
            began = time.monotonic()
            child = self.start(name, folder)
            # By the clock kills meet what waits, by processor time what computes, however busy the machine is.
            clock = "computed" if by_work else "seconds"
            killed, computed = self._kill(child, group, **{clock: moment * usual[clock]})
            if not killed:
                # The machine was busier when the time was taken.
                self.known.took(name, time.monotonic() - began, computed)
            facts = {"killed": killed, "group": group, "share": round(min(computed / usual["computed"], 1), 2)}
            yield self.again(case, name, folder, **facts, orphans=orphans(child, folder))

    @staticmethod
    def _kill(child: int, group: bool, seconds: float = math.inf, computed: float = math.inf) -> tuple[bool, float]:
        """Kill a command after some time; tell whether that was before its end, and what it had computed."""
        until = time.monotonic() + seconds
        so_far = watch(child, lambda now: now >= computed or time.monotonic() >= until)
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(child, signal.SIGKILL)
        return finish(child) == -signal.SIGKILL, so_far

    def disk(self, number: int) -> Iterator[dict[str, Any]]:
        """Let every call that writes fail in turn, once and from then on; of each command at most ``number`` calls."""
        for name in self.commands:
            if name not in WRITERS:
                continue
            for at in range(1, number + 1):
                line = None
                for stays in (False, True):
                    case = f"disk {name} {at} {'stays' if stays else 'once'}"
                    if case in self.done:
                        line = {}
                        continue
                    disk = FailingDisk(at, stays, self.folder / "failed")
                    line = self._failing(case, name, disk, disk.has_failed)
                    if line is not None:
                        yield line
                if line is None:
                    break

    def limit(self, number: int) -> Iterator[dict[str, Any]]:
        """Let every file fail beyond some bytes, of ``number`` sizes; also what C code and child processes write."""
        for name, most in self._sizes(number):
            case = f"limit {name} {most}"
            if case in self.done:
                continue
            line = self._failing(case, name, LimitedFiles(most))
            if line is None:
                self.record(case, command=name, room=True)
            else:
                yield line

    def full(self, number: int) -> Iterator[dict[str, Any]]:
        """Let the disk have room for some bytes, of ``number`` sizes, beside what the command needs."""
        if not can_mount():
            print("only who may mount file systems can make a small one")
            return
        for name, most in self._sizes(number):
            case = f"full {name} {most}"
            if case in self.done:
                continue
            folder = self.fresh(case)
            with small_disk(folder) as resize:
                COMMANDS[name].prepare(folder)
                used = sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))
                resize(used + most)
                child = self.start(name, folder)
                code, left = finish(child), orphans(child, folder)
                resize(1 << 30)
                line = self.again(case, name, folder, failing=code, orphans=left) if code else None
                if line is None:
                    self.record(case, command=name, room=True)
            shutil.rmtree(folder, ignore_errors=True)
            if line is not None:
                yield line

    def _sizes(self, number: int) -> Iterator[tuple[str, int]]:
        for name in self.commands:
            if name in WRITERS:
                for step in range(number):
                    yield name, int(SMALLEST * (LARGEST / SMALLEST) ** (step / max(number - 1, 1)))

    def _failing(
        self, case: str, name: str, fault: Any, failed: Callable[[], bool] = lambda: False
    ) -> dict[str, Any] | None:
        folder = self.fresh(case)
        COMMANDS[name].prepare(folder)
        child = self.start(name, folder, fault)
        code, left = finish(child), orphans(child, folder)
        if not code and not failed():
            shutil.rmtree(folder)
            output_of(folder).unlink(missing_ok=True)
            return None
        return self.again(case, name, folder, failing=code, orphans=left)

    def share(self, number: int) -> Iterator[dict[str, Any]]:
        """Let four sweeps share a store, of which two are killed."""
        name = "sweep"
        for seed in range(number):
            case = f"share {seed}"
            if case in self.done:
                continue
            chance = random.Random(seed)
            self.undisturbed(name)
            folder = self.fresh(case)
            children = [self.start(name, folder) for _ in range(4)]
            for victim in chance.sample(children, 2):
                time.sleep(chance.random() * self.known.seconds[name])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            codes = [finish(child) for child in children]
            complete = ask(COMMANDS[name].state, folder) == self.undisturbed(name)
            left = [one for child in children for one in orphans(child, folder)]
            yield self.again(case, name, folder, codes=codes, complete=complete, orphans=left)
