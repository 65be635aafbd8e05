"""Metrics by name: evaluation of models and scores, metrics of one's own, and what is said of broken ones."""

from __future__ import annotations

import math
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import BrokenPluginError, DataError
from rankplug.registry import registry
from rankplug.training import Model


class FirstFeature:
    """A model that scores by the first feature."""

    def predict(self, features):
        return features[:, 0]


@pytest.fixture
def lists() -> rp.Lists:
    features = np.array([[3, 0], [1, 0], [2, 0], [5, 0], [4, 0]], np.float32)
    return rp.Lists(features, [0, 2, 1, 0, 0], [0, 3, 5], np.array(["q7", "q9"]))


@pytest.fixture
def offer():
    """Offer a metric in this session under the name ``own``."""

    def add(implementation, parameters=rp.MetricParameters) -> rp.Metric:
        registry().add(
            rp.MetricSpecification(name="own", summary="my own", implementation=implementation, parameters=parameters)
        )
        return rp.metric("own")

    yield add
    registry()._plugins["metric"].pop("own", None)


def test_evaluating_a_model_gives_one_value_a_query_by_its_id(lists):
    found = rp.evaluate(FirstFeature(), lists, "ndcg@2")
    assert isinstance(found, pd.Series)
    assert found.index.tolist() == ["q7", "q9"] and found.index.name == "query_id" and found.name == "ndcg@2"
    ideal = 3 + 1 / math.log2(3)
    assert found["q7"] == pytest.approx((1 / math.log2(3)) / ideal) and math.isnan(found["q9"])
    assert found.mean() == found["q7"]
    assert found.attrs["metric"] == rp.metric("ndcg@2").canonical


class PlaceInList(Model):
    """A model of ours whose scores depend on where a query begins."""

    def __init__(self):
        super().__init__(SimpleNamespace(features=2, feature_names=(), encoding=None))

    def _scores(self, features, starts):
        return np.concatenate([np.arange(length)[::-1] for length in np.diff(starts)])

    def encode(self, suffix):
        return b""


def test_a_model_of_ours_knows_where_each_query_begins(lists):
    assert rp.evaluate(PlaceInList(), lists, "mrr")["q7"] == 0.5
    assert rp.evaluate(SimpleNamespace(model_=PlaceInList()), lists, "mrr")["q7"] == 0.5


def test_a_metric_survives_pickling():
    metric = pickle.loads(pickle.dumps(rp.metric("ndcg@3[ties=worst]")))
    assert str(metric) == "ndcg@3[ties=worst]" and repr(metric) == "<metric ndcg@3[ties=worst]>"
    assert metric([1.0, 1.0], [0, 1], [0, 2]) == pytest.approx([1 / math.log2(3)])
    assert rp.metric(metric) is metric


@rp.list_metric
def best_label_found(ranked, ideal):
    """Return the label at the top as a share of the best label."""
    return ranked[0] / ideal[0] if ideal[0] > 0.0 else np.nan


def test_a_compiled_function_of_ones_own_becomes_a_metric(offer):
    found = offer(best_label_found)([1.0, 2.0, 5.0, 1.0], [4, 2, 0, 0], [0, 2, 4])
    assert found[0] == 0.5 and math.isnan(found[1])


def test_a_plain_function_of_all_lists_becomes_a_metric_with_the_same_care(offer):
    def longest(scores, labels, starts, parameters):
        lengths = np.diff(starts).astype(float)
        return np.where(np.add.reduceat(labels, starts[:-1]) > 0, lengths, np.nan)

    metric = offer(longest)
    assert metric([1.0, 2.0, 3.0], [1, 0, 0], [0, 2, 3]) == pytest.approx([2.0, math.nan], nan_ok=True)
    counting = rp.metric("own[empty=0.5]")
    assert counting([1.0, 2.0, 3.0], [1, 0, 0], [0, 2, 3]).tolist() == [2.0, 0.5]
    with pytest.raises(DataError, match="the score of document 0 is nan"):
        metric([math.nan], [1], [0, 1])


def test_a_function_that_returns_too_few_values_is_named(offer):
    with pytest.raises(BrokenPluginError) as caught:
        offer(lambda scores, labels, starts, parameters: [1.0])([1.0, 2.0], [1, 1], [0, 1, 2])
    assert str(caught.value) == "metric own must return one value a list (2), got shape (1,)"


@pytest.mark.parametrize("name", ["ndcg@5", "dcg", "err@5"])
def test_labels_whose_gain_overflows_are_refused(name: str) -> None:
    scores, starts = np.array([2.0, 1.0]), np.array([0, 2])
    assert np.isfinite(rp.metric(name)(scores, np.array([999.0, 1000.0]), starts)).all()
    with pytest.raises(DataError, match="a label is 1024, and the gain 2\\^label - 1 overflows above 1000"):
        rp.metric(name)(scores, np.array([1.0, 1024.0]), starts)
