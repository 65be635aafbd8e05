"""Metrics measured on kept scores are those of training again, bit by bit; else models are trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.store import Store, StoreError, merge, outdated, remove
from rankplug.store._transfer import export
from rankplug.sweeps import Outcome, sweep

GRID: dict[str, Any] = {"dataset": "synthetic[queries=20]", "loss": "mse"}
TREES = {"backend": "lightgbm", "scorer": "trees[rounds=3]"}
OTHERS = ("map", "err@5[ymax=4]")


def run(store: Path, metrics: tuple[str, ...], **options: Any) -> Outcome:
    return sweep({**TREES, **GRID, "metrics": metrics}, store=store, progress=False, **options)


@pytest.mark.parametrize(
    "fitter",
    [
        TREES,
        {"backend": "lbfgs", "scorer": "linear"},
        {"backend": "torch[epochs=1]", "scorer": "mlp[layers=(4,)]"},
    ],
    ids=lambda fitter: fitter["backend"].partition("[")[0],
)
def test_metrics_of_kept_scores_are_those_of_training_again(tmp_path, fitter):
    grid, options = {**GRID, **fitter}, {"progress": False, "trials": 2}
    first = sweep({**grid, "metrics": ("ndcg@5",)}, store=tmp_path / "kept", keep_scores=True, **options)
    assert (first.measured, first.trained) == (0, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankplug.training.fit", lambda *_, **__: pytest.fail("something was trained"))
        again = sweep({**grid, "metrics": OTHERS}, store=tmp_path / "kept", **options)
    assert (again.measured, again.trained) == (2, 0) and not again.failures
    anew = sweep({**grid, "metrics": OTHERS}, store=tmp_path / "trained", **options)
    assert (anew.measured, anew.trained) == (0, 2)
    frames = [one.frame().drop(columns="fit_seconds") for one in (again, anew)]
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    for trial in anew.plan.trials:
        one, other = again.store.about(trial)["record"], anew.store.about(trial)["record"]
        assert one["measured_from"] == first.plan.trials[0].combination.identity and "measured_from" not in other
        same = ("test_fingerprint", "best_iteration", "iterations", "stopped", "documents", "queries")
        assert [one[name] for name in same] == [other[name] for name in same]


def test_kept_scores_are_the_models_in_a_table_that_others_read(tmp_path):
    (trial,) = run(tmp_path, ("ndcg@5",), keep_scores=True).plan.trials
    (path,) = (tmp_path / "scores").glob("*/*.parquet")
    rows = pd.read_parquet(path)
    train, valid, test = rp.load(GRID["dataset"], seed=trial.seed)
    model = rp.fit("lightgbm", loss="mse", scorer=TREES["scorer"], train=train, valid=valid, seed=trial.seed)
    np.testing.assert_array_equal(rows["score"], model.predict(test))
    assert rows["query"].tolist() == [str(name) for name in np.repeat(test.query_ids, test.lengths)]


def test_another_loss_seed_or_selection_is_trained(tmp_path):
    run(tmp_path, ("ndcg@5",), keep_scores=True)
    for part in ({"loss": "ranknet"}, {"seed": 1}, {"selection": "map"}, {"scorer": "trees[rounds=2]"}):
        outcome = sweep({**TREES, **GRID, **part, "metrics": OTHERS}, store=tmp_path, progress=False)
        assert (outcome.measured, outcome.trained) == (0, 1)


def test_scores_of_other_test_documents_are_not_measured(tmp_path, monkeypatch):
    (trial,) = run(tmp_path, ("ndcg@5",), keep_scores=True).plan.trials
    store = Store(tmp_path)
    kept = store.stored_scores(trial)
    for change in ({"record": {**kept.record, "test_fingerprint": "other"}}, {"scores": kept.scores[:-1]}):
        other = type(kept)(**{**vars(kept), **change})
        monkeypatch.setattr(Store, "stored_scores", lambda *_, other=other: other)
        metrics = ("map",) if "record" in change else ("mrr",)
        outcome = run(tmp_path, metrics)
        assert (outcome.measured, outcome.trained) == (0, 1)


def test_damaged_scores_are_told_and_trained_again(tmp_path):
    (trial,) = run(tmp_path, ("ndcg@5",), keep_scores=True).plan.trials
    (path,) = (tmp_path / "scores").glob("*/*.parquet")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(StoreError, match="is damaged"):
        Store(tmp_path).stored_scores(trial)
    with pytest.warns(UserWarning, match=f"{path.name} is damaged .*; until then it is trained"):
        outcome = run(tmp_path, OTHERS)
    assert (outcome.measured, outcome.trained) == (0, 1)


def test_kept_scores_go_with_the_store_and_are_cleaned_when_outdated(tmp_path, monkeypatch):
    (trial,) = run(tmp_path / "a", ("ndcg@5",), keep_scores=True).plan.trials
    archive = export(Store(tmp_path / "a"), tmp_path / "a.zip")
    there = Store(tmp_path / "b")
    assert merge(there, [archive]).new == 1
    np.testing.assert_array_equal(there.stored_scores(trial).scores, Store(tmp_path / "a").stored_scores(trial).scores)
    assert outdated(there) == ([], [])
    monkeypatch.setattr("rankplug.store._combination.version_of", lambda package: "0.0.1")
    stale, unknown = outdated(there)
    assert len(stale) == 2 and not unknown
    assert all("lightgbm" in finding.why for finding in stale)
    remove(stale)
    assert not list(there.folder.rglob("*.parquet")) and not list((there.folder / "scores").iterdir())
