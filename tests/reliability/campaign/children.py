"""Commands in forks of a process that has imported everything and computed nothing, each in a session of its own."""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankplug.cli import main
from rankplug.system.watched_children import end_with_parent

NO_STATE = "no state:"
"""Begins what :func:`ask` returns where a function fails."""
MARK = "RANKPLUG_CASE"
"""Variable that names a command's folder to all programs that it starts."""
LOOK = 0.005
"""Seconds between two looks at a command that runs."""
TICKS = os.sysconf("SC_CLK_TCK")
"""Ticks a second of the clock of processor time."""


def output_of(folder: Path) -> Path:
    """Return the file beside a folder for what commands in it say."""
    return folder.with_name(f"{folder.name}.output")


def modules_of(folder: Path) -> Path:
    """Return the file beside a folder for the names of the modules that a command in it has imported."""
    return folder.with_name(f"{folder.name}.modules")


def start(
    folder: Path,
    words: Sequence[str],
    variables: Mapping[str, str] | None = None,
    fault: Any = None,
    names_modules: bool = False,
) -> int:
    """Run a command in a fork, in a session of its own; what it says goes to a file beside the folder."""
    output, campaign = output_of(folder), os.getpid()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.setsid()
            end_with_parent(campaign)
            handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            os.chdir(folder)
            os.environ[MARK] = str(folder)
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
            if names_modules:
                modules_of(folder).write_text("\n".join(sys.modules))
            # As when a program ends by itself, but without what this process had open.
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def finish(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def watch(child: int, enough: Callable[[float], bool] = lambda computed: False) -> float:
    """Wait until a command ends or has computed enough, and return the seconds that it has computed."""
    computed = 0.0
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and not enough(computed):
        time.sleep(LOOK)
        computed = max(computed, processor_time(child))
    return computed


def processor_time(process: int) -> float:
    """Return the seconds that a process has computed, and all that it has started."""
    place = Path("/proc", str(process))
    try:
        facts = (place / "stat").read_text().rpartition(")")[2].split()
        started = {
            int(pid) for task in place.joinpath("task").iterdir() for pid in (task / "children").read_text().split()
        }
    except OSError:
        return 0.0
    return sum(map(int, facts[11:15])) / TICKS + sum(map(processor_time, started))


def ask(function: Callable[[Path], str], folder: Path) -> str:
    """Call a function in a fork, so that this process computes nothing."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        try:
            answer = function(folder)
        except BaseException as error:
            answer = f"{NO_STATE} {type(error).__name__}: {error}"
        with os.fdopen(writing, "w") as pipe:
            pipe.write(hashlib.sha256(answer.encode()).hexdigest() if len(answer) > 2000 else answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def orphans(leader: int, folder: Path, seconds: float = 30) -> list[str]:
    """Return the processes that a command started and that do not end by themselves, each with what it runs."""
    until = time.monotonic() + seconds
    while (left := _started_by(leader, folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def _started_by(leader: int, folder: Path) -> list[str]:
    """Return the processes of a session, and those of other sessions whose environment names the folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                facts = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                runs = Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                ours = f"{MARK}={folder}\0".encode() in Path("/proc", entry, "environ").read_bytes() + b"\0"
            except OSError:
                continue
            if (ours or int(facts[3]) == leader) and facts[0] != "Z":
                found.append(f"{entry} {runs[:200]}")
    return found
