"""``rankplug train`` saves a model that ``rankplug evaluate`` measures as the library does."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import GrammarError, ModelFileError
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


def test_words_and_options_train_the_same_model(tmp_path):
    scorer = "trees[rounds=2,leaves=4]"
    options = ["--loss", "mse", "--scorer", scorer, "--metric", "mrr", "--seed", 3, "--transform", "standardise"]
    run("train", DATA, *options, "--out", tmp_path / "options.txt")
    words = [f"dataset={DATA}", "loss=mse", f"scorer={scorer}", "selection=mrr", "seed=3", "transforms=standardise"]
    run("train", *words, "--out", tmp_path / "words.txt")
    first, second = (rp.load_model(tmp_path / f"{name}.txt") for name in ("options", "words"))
    assert (tmp_path / "options.txt").read_bytes() == (tmp_path / "words.txt").read_bytes()
    assert first.record.data == second.record.data
    with pytest.raises(GrammarError, match="name one data set"):
        run("train", DATA, "other", "loss=mse", "--out", tmp_path / "none.txt")


def test_an_impossible_file_is_refused_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFileError, match="cannot write"):
        run("train", DATA, "--loss", "mse", "--dry-run", "--out", tmp_path / "file" / "model.txt")


def test_train_replaces_a_model_and_nothing_else(tmp_path):
    out, beside = tmp_path / "model.txt", tmp_path / "model.txt.rankplug.json"
    words = ["train", DATA, "--scorer", "trees[rounds=1]", "--loss", "cross_entropy", "--out", out]
    for files in ({out: b"1 qid:1 1:0.5\n"}, {beside: b"[1]"}, {out: b"1\n", beside: b'{"format": "other 1"}'}):
        for path, content in files.items():
            path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is there already and is no model of rankplug"):
            run(*words)
        for path, content in files.items():
            assert path.read_bytes() == content
            path.unlink()
    out.write_bytes(b"")
    for seed in (0, 1):
        assert run(*words, "--seed", seed).exit_code == 0
        assert rp.load_model(out).record.data["seed"] == seed
