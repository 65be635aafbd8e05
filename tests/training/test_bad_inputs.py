"""What cannot be trained or measured is refused before training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import DataError, NotRunError, RankplugError

RNG = np.random.default_rng(0)
LISTS = rp.Lists(RNG.random((60, 3), np.float32), np.arange(60) % 3, np.arange(0, 61, 5))
OTHER = rp.Lists(RNG.random((60, 2), np.float32), np.arange(60) % 3, np.arange(0, 61, 5))


def fit(backend: str = "lightgbm", loss: str = "mse", **parts: Any) -> rp.Model:
    """Fit a small model."""
    return rp.fit(backend, loss=loss, progress=False, **{"train": LISTS, "valid": LISTS, **parts})


@pytest.fixture(scope="module")
def model() -> rp.Model:
    """Return a model of three features."""
    return fit(scorer="trees[rounds=2,leaves=3,min_data=1]")


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: fit("lightgmb"), "did you mean lightgbm"),
        (lambda: fit("torch[lr=fast]"), "lr='fast' is not possible"),
        (lambda: fit("torch[device=abacus]"), "the device abacus cannot be used"),
        (lambda: fit(scorer="mlp"), "backend lightgbm cannot fit the scorer mlp"),
        (lambda: fit(debias="ips"), "needs clicks"),
        (lambda: fit(patience=0), "patience must be a whole number of at least 1"),
        (lambda: fit(train=LISTS[:0]), "there is no list"),
        (lambda: fit(train=LISTS.features), r"train must be rankplug\.Lists, got ndarray"),
        (lambda: fit(valid=OTHER), "training data have 3 features, validation data 2"),
        (lambda: fit("torch[epochs=1,steps=1]"), "not in both"),
        (lambda: fit("torch", scorer="attention[width=5,heads=2]"), "no multiple of heads=2"),
        (lambda: rp.load_model("nowhere.txt"), "there is no model file nowhere.txt"),
    ],
)
def test_what_cannot_be_fitted_is_refused(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(RankplugError, match=words):
        attempt()


def test_a_model_refuses_lists_of_other_features(model: rp.Model) -> None:
    with pytest.raises(RankplugError, match="trained on 3 features"):
        rp.evaluate(model, OTHER, "ndcg@5")


@pytest.fixture
def lists():
    features = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return rp.Lists(features, (features[:, 0] > 0).astype(np.float32), np.arange(0, 41, 10))


def test_a_sweep_reads_all_data_before_any_trial(tmp_path):
    rows = pd.DataFrame({"query": np.repeat(np.arange(30), 10), "label": 1, "age": np.arange(300) * 0.5})
    rows.to_csv(tmp_path / "good.csv")
    rows.drop(columns="label").to_csv(tmp_path / "bad.csv")
    store = rp.Store(tmp_path / "results")
    data = [f"{tmp_path}/{name}.csv[query=query,label=label]" for name in ("good", "bad")]
    with pytest.raises(NotRunError, match=r"bad\.csv has no column for labels label"):
        rp.sweep({"dataset": data, "backend": "lbfgs", "loss": "mse"}, store=store, progress=False)
    assert rp.results(store=store).empty


def test_infinite_features_are_refused_by_networks(lists):
    features = lists.features.copy()
    features[7, 1] = np.inf
    with pytest.raises(DataError, match="feature 2 of document 7"):
        rp.fit("torch", loss="cross_entropy", train=rp.Lists(features, lists.labels, lists.starts))
