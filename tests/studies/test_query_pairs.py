"""Models are compared on the same queries, counts are of all of them, and what is drawn is a part."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from rankplug.studies import Results
from rankplug.studies.query_pairs import MOST_MODELS, MOST_QUERIES, query_pairs


def results_of(values: dict[str, np.ndarray], trials: int = 2) -> Results:
    """Return results of one group whose models have these values, equally many in each trial."""
    rows = [
        {"model": model, "trial": place % trials, "fold": 1, "query": f"q{place // trials}", "value": value}
        for model, several in values.items()
        for place, value in enumerate(several)
    ]
    frame = pd.DataFrame(rows).assign(measure="query", metric="ndcg@5")
    frame["model"] = pd.Categorical(frame["model"], list(values))
    return Results("smoke", {"few": frame}, pd.DataFrame())


def test_equal_values_are_ties_and_queries_without_a_value_are_left_out():
    some = np.array([0.5, 0.5, 0.2, 0.9, np.nan, 1.0])
    other = np.array([0.5 + 1e-15, 0.4, 0.3, 0.1, 0.5, 1.0])
    (pairs,) = query_pairs(results_of({"other": other, "some": some}))
    assert pairs.models == ("some", "other") and pairs.queries == 5 and pairs.metric == "ndcg@5"
    assert pairs.better == ((0, 2), (1, 0))
    assert pairs.means == pytest.approx((np.nanmean(some), other[[0, 1, 2, 3, 5]].mean()))
    named = {(trial, query): place for place, (trial, _, query) in enumerate(pairs.drawn)}
    assert [row[named[1, "q1"]] for row in pairs.values] == [0.9, 0.1] and (0, "q2") not in named


def test_of_many_queries_and_models_a_part_is_drawn_and_counts_are_of_all():
    noise = np.random.default_rng(0)
    values = {f"m{place}": noise.uniform(size=1000) + place / 100 for place in range(MOST_MODELS + 3)}
    (pairs,) = query_pairs(results_of(values))
    assert len(pairs.models) == MOST_MODELS and pairs.left_out == 3 and "m0" not in pairs.models
    assert {len(row) for row in pairs.values} == {MOST_QUERIES} and pairs.queries == 1000
    for one, other in itertools.combinations(range(3), 2):
        first, second = (values[pairs.models[place]] for place in (one, other))
        assert pairs.better[one][other] == (first > second).sum() and pairs.better[other][one] == (first < second).sum()
