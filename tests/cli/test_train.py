"""``rankplug train`` saves a model that ``rankplug evaluate`` measures as the library does."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import ModelFileError
from rankplug.registry import registry

DATA = "synthetic[queries=20,documents=10]"


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def two_folds(parameters, fold, seed):
    features = np.random.default_rng(fold).normal(size=(3, 100, 3)).astype(np.float32)
    return rp.Split(*(rp.Lists(part, part[:, 0] > 0.5, np.arange(0, 101, 10)) for part in features))


def test_train_saves_what_evaluate_measures(tmp_path):
    registry().add(rp.DatasetSpecification(name="two_folds", summary="x", implementation=two_folds, folds=2))
    out = tmp_path / "model.txt"
    words = ["--scorer", "trees[rounds=5,leaves=4]", "--loss", "cross_entropy", "--transform", "standardise"]
    said = run("train", "two_folds", *words, "--fold", 2, "--out", out)
    assert said.exit_code == 0
    assert "iteration" in said.output and "valid ndcg@5" in said.output
    data = rp.load("two_folds", fold=2, transforms=["standardise"]).test
    expected = rp.evaluate(rp.load_model(out), data, "ndcg@3").mean()
    assert run("evaluate", out, "--metric", "ndcg@3").output.startswith(f"ndcg@3 {expected:.6f} (")


def test_a_dry_run_creates_no_folder(tmp_path):
    words = ["train", "synthetic[queries=10]", "--scorer", "trees[rounds=1]", "--loss", "mse", "--dry-run"]
    assert run(*words, "--out", tmp_path / "a" / "b" / "model.txt").exit_code == 0
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFileError, match="cannot write"):
        run(*words, "--out", tmp_path / "file" / "model.txt")


def test_train_replaces_a_model_and_nothing_else(tmp_path):
    out, beside = tmp_path / "model.txt", tmp_path / "model.txt.rankplug.json"
    words = ["train", DATA, "--scorer", "trees[rounds=1]", "--loss", "cross_entropy", "--out", out]
    for first, second in ((b"1 qid:1 1:0.5\n", None), (None, b"[1]"), (b"1 qid:1 1:0.5\n", b'{"format": "other 1"}')):
        for path, content in ((out, first), (beside, second)):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is there already and is no model of rankplug"):
            run(*words)
        assert [path.read_bytes() if path.exists() else None for path in (out, beside)] == [first, second]
    beside.unlink()
    out.write_bytes(b"")
    made = set()
    for seed in (0, 1):
        assert run(*words, "--seed", seed).exit_code == 0
        made.add(beside.read_bytes())
        assert rp.load_model(out).record.data["seed"] == seed
    assert len(made) == 2
