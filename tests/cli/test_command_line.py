"""The command line says what it means: help as written, versions, data as JSON, time, what is kept and what is next."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import FitError
from rankplug.store import Store
from rankplug.sweeps import Plan, expected_time, read_words

Make = Callable[..., Any]
GRID = ["loss=[mse,ranknet]", "backend=lightgbm", "dataset=synthetic", "metrics=[ndcg@5,mrr]"]
"""Commands that print names of files, or another language: BibTeX, a shell's."""


RANKPLUG = Path(sys.executable).parent / "rankplug"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", {})
    if not inner or name == "results":
        yield name, command
    for word, one in inner.items():
        yield from commands(one, f"{name} {word}".strip())


def test_json_is_what_it_says(store: Store, fill: Make) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.2}, folds=(1,))
    here = ("--store", str(store.folder))
    assert len(json.loads(run("results", *here, "--json"))) == 12
    table = json.loads(run("results", "--pivot", "metric", "--versus", "mse", *here, "--json"))
    assert {(row["loss"], row["metric"]) for row in table} >= {("mse", "mrr"), ("ranknet", "ndcg@5")}
    compared = json.loads(run("results", "compare", "loss = 'mse'", "loss = 'ranknet'", *here, "--json"))
    assert {row["unit"] for row in compared} == {"trials", "queries"}
    assert json.loads(run("results", "clean", *here, "--json")) == {"found": [], "kept": []}
    assert json.loads(run("results", "merge", *here, str(store.folder), "--json")) == {
        "new": 0,
        "there": 6,
        "unlike": [],
    }
    assert "synthetic" in [entry["name"] for entry in json.loads(run("data", "list", "--json"))]
    compacted = json.loads(run("results", "compact", *here, "--json"))
    assert compacted["results"] == 6 and compacted["size"] > 0


PRINT_ONLY = {
    "check", "cite", "claims", "data check-links", "data info", "data list", "data verify",
    "doctor", "evaluate", "plugins", "results compare", "verify",
}  # fmt: skip
"""Commands that keep nothing."""
READ = {"folder", "model", "store"}
"""Parameters of these that name what they read."""


def test_every_command_that_makes_something_has_a_dry_run() -> None:
    every = dict(commands(typer.main.get_command(app)))
    with_dry_run = {
        name for name, command in every.items() if any("--dry-run" in one.opts for one in command.params)
    }  # fmt: skip
    assert set(every) - PRINT_ONLY - {"bench"} == with_dry_run
    for name in PRINT_ONLY:
        files = {given for given, kind in every[name].callback.__annotations__.items() if "Path" in str(kind)}
        assert files <= READ, f"{name} may write what its {files - READ} names"


def test_a_dry_run_says_what_would_be_and_leaves_nothing(store: Store, fill: Make, tmp_path: Path) -> None:
    fill(store, {"mse": 0.0}, folds=(1,))
    here, other, before = ("--store", str(store.folder)), tmp_path / "other", sorted(tmp_path.rglob("*"))
    assert run("results", "merge", str(store.folder), "--store", str(other), "--dry-run").startswith("3 results would")
    assert "3 results" in run("results", "compact", *here, "--dry-run")
    assert json.loads(run("results", "compact", *here, "--dry-run", "--json")) == {"results": 3}
    assert run("results", "export", str(tmp_path / "all.zip"), *here, "--dry-run").startswith("3 results of")
    assert "my_loss/rankplug_my_loss/loss.py" in run("new", "loss", "my_loss", "--into", str(tmp_path), "--dry-run")
    assert "stochastic.ipynb" in run("lab", str(tmp_path / "notebooks"), "--dry-run")
    assert "synthetic" in run("train", "synthetic", "--loss", "mse", "--out", str(tmp_path / "m.txt"), "--dry-run")
    judgements = json.loads(run("qrels", "synthetic", "--out", str(tmp_path / "qrels.txt"), "--dry-run", "--json"))
    assert judgements["judgements"] == rp.load("synthetic").test.documents and not judgements["written"]
    exported = json.loads(run("results", "export", str(tmp_path / "all.zip"), *here, "--dry-run", "--json"))
    assert (exported["results"], exported["written"]) == (3, False)
    lacking = json.loads(run("report", "xendcg", "--profile", "smoke", *here, "--dry-run", "--json"))
    assert lacking[0]["study"] == "xendcg" and lacking[0]["missing"] > 0
    assert "lacks" in run("report", "xendcg", "--profile", "smoke", *here, "--report", str(tmp_path / "r"), "--dry-run")
    assert "address: " in run("data", "get", "mslr-web10k", "--dry-run")
    assert "here: " in run("data", "prepare", "mslr-web10k", "--dry-run")
    assert run("tune", *GRID[1:3], "loss=mse", "--budget", "3", *here, "--dry-run").startswith("4 to run, 0 done")
    page = ("xendcg", *here, "--report", str(tmp_path / "board"))
    assert "pages of 0 combinations would be written" in run("scoreboard", *page, "--dry-run")
    picture = str(tmp_path / "means.png")
    assert run("results", "--group-by", "loss", "--plot", picture, *here, "--dry-run") == f"would draw {picture}\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_what_would_be_trained_must_be_possible(tmp_path: Path) -> None:
    with pytest.raises(FitError, match="backend lightgbm cannot fit the scorer mlp"):
        run("train", "synthetic", "--loss", "mse", "--out", str(tmp_path / "m"), "--scorer", "mlp", "--dry-run")


def test_tables_have_colours_in_terminals_only() -> None:
    assert "\x1b" not in run("data", "list")
    shown = in_terminal("data", "list")
    assert "\x1b[32mmade when loaded" in shown
    assert all(len(COLOUR.sub("", line)) <= 100 for line in shown.splitlines())


def in_terminal(*words: str, **variables: str) -> str:
    """Run a command in a terminal of 100 columns, and return what it wrote there."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color", **variables}
    with subprocess.Popen([RANKPLUG, *words], stdout=follower, stderr=subprocess.STDOUT, env=environment):
        os.close(follower)
        shown = b""
        with contextlib.suppress(OSError):  # the end of what a program wrote to a terminal
            while block := os.read(leader, 65536):
                shown += block
        os.close(leader)
    return shown.decode()


def test_a_plan_tells_how_long_it_takes_by_what_is_recorded(store: Store, fill: Make) -> None:
    fill(store, {"mse": 0.0}, folds=(1,))  # three trials of 1.5 seconds each
    plan = read_words(GRID).with_repetitions(5, None).plan(store)
    assert (len(plan.waiting), len(plan.done)) == (7, 3)
    expected = expected_time(plan.waiting, store)
    assert (expected.seconds, expected.known, expected.trials) == (7 * 1.5, 7, 7)
    other = read_words([*GRID[:2], "dataset=synthetic[queries=60]"]).plan(store)
    assert expected_time(other.waiting, store).known == 0
    planned = ("sweep", *GRID, "--trials", "5", "--dry-run", "--store", str(store.folder))
    assert "about 10 s, by the recorded times of such trials" in run(*planned)
    assert "about 5 s" in run(*planned, "--jobs", "2")
    told = json.loads(run(*planned, "--json"))
    assert (len(told["run"]), len(told["done"]), told["seconds"]) == (7, 3, 10.5)


def test_an_interruption_tells_what_is_kept(store: Store, made_result: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(plan: Plan, store: Store, **how: Any) -> None:
        for trial in plan.waiting[:5]:
            store.write(made_result(trial))
        raise KeyboardInterrupt

    monkeypatch.setattr("rankplug.sweeps.run", interrupted)
    told = run("sweep", *GRID, "--trials", "4", "--store", str(store.folder), code=130)
    assert "interrupted: 5 of 8 trials are stored; the same command goes on" in told


def test_a_sweep_ends_with_a_table_and_the_next_step(store: Store, fill: Make) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.2}, folds=(1,))
    told = run("sweep", *GRID, "--trials", "3", "--store", str(store.folder))
    rows = {line.split()[0] for line in told.splitlines() if line.strip()}
    assert {"loss", "mse", "ranknet", "next:"} <= rows
    *_, compare = told.splitlines()
    first, second = compare.split('"')[1::2]
    assert "permutation" in run("results", "compare", first, second, "--store", str(store.folder))
