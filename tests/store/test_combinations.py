"""A combination's identity changes with everything that changes its results, and with nothing else."""

from __future__ import annotations

import pytest

from rankplug.errors import GrammarError, RankplugError
from rankplug.registry import registry
from rankplug.store import Combination, combinations
from rankplug.sweeps import read_file, read_words

BASE = {"dataset": "synthetic", "backend": "lightgbm", "loss": "lambdarank"}


def identity(**changes: object) -> str:
    return Combination(**{**BASE, **changes}).identity


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "lambdarank[sigma=2]"},
        {"loss": "mse"},
        {"dataset": "synthetic[queries=300]"},
        {"scorer": "trees[leaves=9]"},
        {"sampler": "gumbel"},
        {"selection": "ndcg@10"},
        {"selection": "loss"},
        {"selection": ("ndcg@5", "loss")},
        {"metrics": ("ndcg@5",)},
        {"patience": 10},
        {"seed": 1},
        {"backend": "xgboost"},
        {"debias": "ips"},
        {"train_curve": False},
    ],
    ids=str,
)
def test_what_changes_results_changes_the_identity(changes):
    assert identity(**changes) != identity()


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": " lambdarank[ ] "},
        {"loss": "lambdarank[sigma=1]"},
        {"loss": "lambdarank[sigma=1.0]"},
        {"loss": {"name": "lambdarank", "sigma": 1}},
        {"loss": "rankplug:lambdarank"},
        {"scorer": "trees"},
        {"scorer": "trees[leaves=none,rounds=300]"},
        {"scorer": "trees[rounds=300,leaves=none]"},
        {"selection": ["ndcg[k=5]"]},
        {"debias": None},
        {"train_curve": True},
    ],
    ids=str,
)
def test_other_words_for_the_same_have_the_same_identity(changes):
    assert identity(**changes) == identity()


def test_another_version_of_a_plugin_or_of_the_data_changes_the_identity(trouble, monkeypatch):
    before = identity(dataset="trouble")
    assert identity(dataset="trouble") == before
    import trouble_data

    monkeypatch.setattr(trouble_data, "version", "2")
    other_data = identity(dataset="trouble")
    metadata = trouble / "trouble-1.0.dist-info" / "METADATA"
    text = metadata.read_text()
    metadata.write_text(text.replace("Version: 1.0", "Version: 1.1"))
    registry.cache_clear()
    try:
        other_plugin = identity(dataset="trouble")
    finally:
        metadata.write_text(text)
    assert len({before, other_data, other_plugin}) == 3


def test_grids_expand_and_impossible_combinations_are_counted():
    chosen, left_out = combinations(
        {**BASE, "backend": ["lightgbm", "torch"], "scorer": ["trees[leaves=[4,8]]", "mlp"], "loss": ["mse", "ranknet"]}
    )
    assert len(chosen) == 2 * 3 and left_out == 2 * 3
    assert {(one.backend, one.scorer) for one in chosen} == {
        ("lightgbm", "trees[leaves=4]"),
        ("lightgbm", "trees[leaves=8]"),
        ("torch", "mlp"),
    }


def test_lists_of_transforms_and_metrics_are_one_chain_and_lists_of_lists_are_grids():
    one = combinations({**BASE, "metrics": ["ndcg@1", "mrr"]})[0]
    two = combinations({**BASE, "metrics": [["ndcg@1", "mrr"], ["map"]]})[0]
    assert [combination.metrics for combination in one] == [("ndcg@1", "mrr")]
    assert [combination.metrics for combination in two] == [("ndcg@1", "mrr"), ("map",)]


def test_words_files_and_python_name_the_same_combinations(tmp_path):
    python = {
        "dataset": "synthetic[queries=60]",
        "backend": ["lightgbm", "xgboost"],
        "loss": ["lambdarank[sigma=[1,2]]", "mse"],
        "metrics": ["ndcg@5", "mrr"],
    }
    words = [
        "dataset=synthetic[queries=60]",
        "backend=[lightgbm,xgboost]",
        "loss=[lambdarank[sigma=[1,2]],mse]",
        "metrics=[ndcg@5,mrr]",
    ]
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "dataset: {name: synthetic, queries: 60}\nbackend: [lightgbm, xgboost]\n"
        "loss:\n- {name: lambdarank, sigma: [1, 2]}\n- mse\nmetrics: [ndcg@5, mrr]\n"
    )
    grids = [python, *read_words(words).grids, *read_file(path).grids]
    names = [[combination.identity for combination in combinations(grid)[0]] for grid in grids]
    assert names[0] == names[1] == names[2]
    assert len(names[0]) == 2 * 3


def test_a_file_has_profiles_and_several_grids(tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "dataset: synthetic\nbackend: lightgbm\nfolds: all\ntrials: 3\n"
        "grids:\n- {loss: mse}\n- {loss: [ranknet, urank]}\n"
        "profiles:\n  smoke: {dataset: 'synthetic[queries=60]', trials: 1}\n"
    )
    whole, small = read_file(path), read_file(path, "smoke")
    assert (whole.trials, whole.folds, small.trials) == (3, "all", 1)
    assert [combination.dataset for combination in combinations(small.grids)[0]] == ["synthetic[queries=60]"] * 3
    with pytest.raises(GrammarError, match="has no profile smok: did you mean smoke"):
        read_file(path, "smok")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("loss: [mse\n", "is not YAML in UTF-8: .* line 2"),
        ("- mse\n", "must map the parts"),
        ("loss: mse\ntrials: 0\n", "trials must be a whole number of at least 1, got 0"),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    with pytest.raises(RankplugError, match=sentence):
        read_file(path)
