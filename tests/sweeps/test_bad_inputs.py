"""Wrong grids, sweep files, questions and commands are answered before anything runs."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import pytest

import rankplug as rp
from rankplug.cli import main
from rankplug.errors import RankplugError

GRID = {"dataset": "synthetic", "backend": "lightgbm", "loss": "mse"}


def run(change: dict[str, Any] | None = None, **options: Any) -> rp.Outcome:
    """Sweep a small grid with some changes."""
    return rp.sweep({**GRID, **(change or {})}, progress=False, **options)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: rp.Combination(dataset="synthetic", backend="lightgbm"), "needs the part loss"),
        (lambda: rp.Combination(**GRID, patience=0), "patience cannot be 0"),
        (lambda: rp.Combination(**GRID, seed=1 << 63), "should be less than 9223372036854775808"),
        (lambda: rp.Combination(**GRID, train_curve="often"), "train_curve cannot be 'often'"),
        (lambda: rp.Combination(**{**GRID, "loss": "x y"}), "expected the end at character 3"),
        (lambda: run({"los": "mse"}), "did you mean loss"),
        (lambda: run({"loss": []}), "the part loss of a grid has no value"),
        (lambda: run({"loss": ["mse", "rankent"]}), "did you mean ranknet"),
        (lambda: run({"scorer": "mlp"}), "cannot fit the scorer mlp"),
        (lambda: run({"metrics": ["ndcg@0"]}), "k=0 is not possible"),
        (lambda: rp.sweep("mse", data="synthetic"), "a grid maps parts of a combination to values"),
        (lambda: run(folds=[9]), "folds 1 to 1, not 9"),
        (lambda: run(folds="every"), "folds are whole numbers"),
        (lambda: run(trials=0), "trials must be a whole number of at least 1"),
        (lambda: run(jobs="all"), "jobs must be a whole number"),
        (lambda: run(notebooks=True, keep_scores=True), "notebooks store no scores"),
        (lambda: rp.tune(GRID | {"scorer": "ranklib_trees"}), "nothing is left to choose from"),
        (lambda: rp.tune(GRID, budget=0), "budget must be a whole number of at least 1"),
        (lambda: rp.tune(GRID, search="optima"), "random or optuna"),
        (lambda: rp.results(7), "not by 7"),
    ],
)
def test_a_wrong_grid_is_refused_before_anything_runs(attempt, words):
    with pytest.raises(RankplugError, match=words):
        attempt()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sweep nowhere.yaml", "cannot read nowhere.yaml: No such file"),
        ("sweep xendgc", "did you mean xendcg"),
        ("sweep loss=mse", "needs the part dataset"),
        ("sweep loss=mse backend=lightgbm dataset=synthetic sorer=trees", "did you mean scorer"),
        ("sweep loss=mse backend=lightgbm dataset=synthetic --folds x", "folds are whole numbers"),
        ("sweep loss=mse backend=lightgbm dataset=synthetic --jobs 0", "Invalid value for '--jobs'"),
        ("tune mse", "name the parts of a combination"),
        ("results --store file.txt", "file.txt"),
        ("results --store store --where 'los = 1'", "cannot answer this query"),
        ("results --store store --group-by los", "did you mean loss"),
        ("results --store store --pivot metrik", "did you mean metric"),
        ("results --store store --bold", "add --pivot metric"),
        ("results export nowhere/results.zip --store store", "cannot write nowhere/results.zip"),
        ("results export file.txt --store store", "is no archive"),
        ("results merge nowhere --store store", "there is no store at nowhere"),
        ("results merge file.txt --store store", "file.txt is no folder of results and no archive"),
        ("train synthetic --loss lamdarank --out new.txt", "did you mean lambdarank"),
        ("train synthetic --loss mse --out store", "it is a folder"),
        ("evaluate model.txt", "there is no model file model.txt"),
        ("plugins lamdarank", "did you mean lambdarank"),
    ],
)
def test_a_wrong_command_ends_in_one_sentence(command, words, tmp_path, fill, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    fill(rp.Store("store"), {"mse": 0.0}, trials=1)
    (tmp_path / "file.txt").write_text("1 qid:1 1:0.5\n")
    monkeypatch.setattr(sys, "argv", ["rankplug", *shlex.split(command)])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code not in (0, None)
    assert words in " ".join(said.err.split()) and "Traceback" not in said.err
