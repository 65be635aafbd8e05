"""Commands plan without writing, estimate their time, and say what an interruption leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import Store
from rankplug.sweeps import Plan, expected_time, read_words

Make = Callable[..., Any]
GRID = ["loss=[mse,ranknet]", "backend=lightgbm", "dataset=synthetic", "metrics=[ndcg@5,mrr]"]


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


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
