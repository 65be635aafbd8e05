"""Checks of rp.fit before training, each told in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import DataError, FitError, UnknownPluginError


@pytest.fixture
def lists():
    features = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return rp.Lists(features, (features[:, 0] > 0).astype(np.float32), np.arange(0, 41, 10))


def test_a_scorer_the_backend_cannot_fit_is_refused_with_what_it_can_fit(lists):
    with pytest.raises(
        FitError, match=r"backend lightgbm cannot fit the scorer mlp: it fits .*trees.*mlp is fitted by torch"
    ):
        rp.fit("lightgbm", scorer="mlp", loss="cross_entropy", train=lists)


def test_an_unknown_backend_is_named_with_near_ones(lists):
    with pytest.raises(UnknownPluginError, match="did you mean lightgbm"):
        rp.fit("lightgmb", loss="cross_entropy", train=lists)


def test_lists_are_asked_for_where_an_array_is_given(lists):
    with pytest.raises(DataError, match=r"train must be rankplug\.Lists, got ndarray"):
        rp.fit("lightgbm", loss="cross_entropy", train=lists.features)


def test_validation_data_must_have_as_many_features(lists):
    narrow = rp.Lists(lists.features[:, :2], lists.labels, lists.starts)
    with pytest.raises(DataError, match="training data have 3 features, validation data 2"):
        rp.fit("lightgbm", loss="cross_entropy", train=lists, valid=narrow)


def test_an_empty_training_set_is_refused(lists):
    with pytest.raises(DataError, match="no list to train on"):
        rp.fit("lightgbm", loss="cross_entropy", train=lists[:0])


def test_features_that_are_not_finite_are_refused_by_networks(lists):
    features = lists.features.copy()
    features[7, 1] = np.nan
    with pytest.raises(DataError, match="feature 2 of document 7"):
        rp.fit("torch", loss="cross_entropy", train=rp.Lists(features, lists.labels, lists.starts))
