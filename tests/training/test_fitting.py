"""Checks of rp.fit before training, each told in one sentence."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import DataError, NotRunError


@pytest.fixture
def lists():
    features = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return rp.Lists(features, (features[:, 0] > 0).astype(np.float32), np.arange(0, 41, 10))


@pytest.mark.parametrize("backend", ["torch", "lbfgs", "cutting_planes"])
def test_features_with_missing_values_are_named(lists, backend):
    features = lists.features.copy()
    features[7, 1] = features[9, 2] = np.nan
    holes = rp.Lists(features, lists.labels, lists.starts)
    seen = []
    for train, valid in ((holes, lists), (lists, holes)):
        with pytest.raises(DataError, match=r"lack values of 2 of 3 features: feature 2, feature 3; fill them in"):
            rp.fit(backend, loss="mse", train=train, valid=valid, callbacks=[lambda *made: seen.append(made)])
    named = dataclasses.replace(holes, feature_names=("age", "price", "clicks"))
    with pytest.raises(DataError, match=f"backend {backend} cannot use missing values.*: price, clicks;"):
        rp.fit(backend, loss="mse", train=named)
    assert not seen


def test_a_sweep_names_missing_values_before_any_trial(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path / "data"))
    noise = np.random.default_rng(0)
    frame = pd.DataFrame({"query": np.repeat(np.arange(30), 10), "label": noise.integers(0, 3, 300),
                          "age": noise.random(300), "price": noise.random(300)})  # fmt: skip
    frame.loc[5, "price"] = np.nan
    for part in ("train", "valid", "test"):
        frame.to_parquet(tmp_path / f"{part}.parquet")
    grid = {"dataset": f'parquet[path="{tmp_path}",query=query,label=label]', "backend": ["lightgbm", "lbfgs"],
            "loss": "mse", "scorer": None}  # fmt: skip
    store = rp.Store(tmp_path / "results")
    with pytest.raises(NotRunError, match=r"backend lbfgs cannot use missing values.* 1 of 2 features: price"):
        rp.sweep(grid, store=store, progress=False)
    assert rp.results(store=store).empty


def test_infinite_features_are_refused_by_networks(lists):
    features = lists.features.copy()
    features[7, 1] = np.inf
    with pytest.raises(DataError, match="feature 2 of document 7"):
        rp.fit("torch", loss="cross_entropy", train=rp.Lists(features, lists.labels, lists.starts))
