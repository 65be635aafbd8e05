"""Published numbers beside ours, and models compared on the same queries."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankplug.report import layout
from rankplug.studies import Results, Runs, beside_published
from rankplug.studies.study_results import MOST_MODELS, MOST_QUERIES, query_pairs

OURS = {"one": [0.40, 0.42, 0.44], "two": [0.50, 0.51, 0.55]}


@pytest.fixture
def results():
    rows = [
        {"model": model, "trial": trial, "fold": 1, "dataset": "made", "combination": model}
        | {"measure": "query", "part": "test", "metric": "ndcg@5", "query": str(shift), "value": value + shift}
        for model, values in OURS.items()
        for trial, value in enumerate(values)
        for shift in (-0.1, 0.1, np.nan)
    ]
    frame = pd.DataFrame(rows)
    frame["model"] = pd.Categorical(frame["model"], list(OURS))
    columns = ["exhibit", "dataset", "model", "metric", "value", "half_width"]
    published = pd.DataFrame([["Table 1", "theirs", "one", "ndcg@5", 45.0, 0.5]], columns=columns)
    return Results("smoke", {"group": frame}, published, runs={"group": Runs("group", {}, {"dataset": "ohsumed"})})


def beside(results):
    return beside_published(results, "group", ("ndcg@5",), exhibit="Table 1", dataset="theirs").set_index("model")


def test_ours_is_the_mean_over_trials_beside_the_published_number(results):
    table = beside(results)
    assert table["ours"].to_dict() == pytest.approx({"one": 42.0, "two": 52.0})
    expected = stats.t.ppf(0.975, 2) * (100 * np.array(OURS["one"])).std(ddof=1) / np.sqrt(3)
    assert table.loc["one", "half width"] == pytest.approx(expected)
    assert table.loc["one", "difference"] == pytest.approx(-3.0)
    assert table.loc[["two"], ["published", "difference"]].isna().all(axis=None)


def test_on_synthetic_data_there_is_no_difference(results):
    runs = {"group": Runs("group", {}, {"dataset": "synthetic"})}
    made = beside(dataclasses.replace(results, runs=runs))
    assert made["difference"].isna().all() and made.loc["one", "published"] == 45.0
    cells = layout(made.reset_index())["NDCG@5"]
    assert cells.iloc[2].startswith('<span class="reference">45.00') and "45.00" not in "".join(cells.iloc[:2])


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
