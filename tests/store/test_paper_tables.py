"""Tables as papers print them: means with intervals, the best in bold, daggers for what differs from a baseline."""

from __future__ import annotations

import re

import duckdb
import numpy as np
import pytest
from scipy import stats

from rankplug.store import ResultsError, paper_table, query, write_paper_table


@pytest.fixture
def filled(store, fill):
    fill(store, {"mse": 0.0, "ranknet": 0.2, "xe_ndcg": -0.2, "listnet": 0.0}, folds=(1,))
    return store


def cell_of(table, loss, metric):
    cells = table.cells
    return cells[(cells["loss"] == loss) & (cells["metric"] == metric)].iloc[0]


def test_rows_are_models_columns_metrics_and_intervals_those_over_trials(filled):
    table = paper_table(filled)
    assert table.rows == [("listnet",), ("mse",), ("ranknet",), ("xe_ndcg",)]
    assert table.columns == [("mrr",), ("ndcg@5",)]
    rows = query("select trial, avg(value) as value from queries where loss = 'mse' and metric = 'ndcg@5' group by 1",
                 filled)["value"]  # fmt: skip
    cell = cell_of(table, "mse", "ndcg@5")
    assert cell["mean"] == pytest.approx(rows.mean())
    low, high = stats.t.interval(0.95, 2, rows.mean(), stats.sem(rows))
    assert cell.half_width == pytest.approx((high - low) / 2)


def test_daggers_are_what_holm_rejects_of_tests_over_queries(filled):
    table = paper_table(filled, versus="mse", bold=True)
    marks = table.cells.groupby("loss")["mark"].agg(set).to_dict()
    assert marks == {"mse": {""}, "listnet": {""}, "ranknet": {"†"}, "xe_ndcg": {"‡"}}
    assert table.cells.loc[table.cells["best"], "loss"].tolist() == ["ranknet"] * 2
    values = query("select loss, query, avg(value) as value from queries where metric = 'ndcg@5' group by all", filled)
    of_loss = values.pivot(index="query", columns="loss", values="value")
    gaps = (of_loss["ranknet"] - of_loss["mse"]).to_numpy()
    signs = np.random.default_rng(5).choice([-1, 1], size=(20_000, gaps.size))
    by_hand = (np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-9).mean()
    cell = cell_of(table, "ranknet", "ndcg@5")
    assert by_hand <= cell.p <= 6 * (by_hand + 2e-4)
    assert "for 6 tests" in table.note


def test_latex_has_rules_bold_daggers_and_a_cell_for_every_column(filled, fill):
    fill(filled, {"mse": 0.0, "ranknet": 0.2}, folds=(1,), dataset="synthetic[queries=60]")
    table = paper_table(filled, pivot=("dataset", "metric"), versus="mse", bold=True)
    lines = write_paper_table(table, "latex").splitlines()
    body = [line for line in lines if line.startswith(("listnet", "mse", "ranknet", r"xe\_ndcg"))]
    assert len(body) == 4 and all(line.count("&") == 4 and line.endswith(r" \\") for line in body)
    best = next(line for line in body if line.startswith("ranknet"))
    assert len(re.findall(r"\$\\mathbf\{0\.\d{4}\} \\pm 0\.\d{4}\^\{\\dagger\}\$", best)) == 4
    assert next(line for line in body if line.startswith("listnet")).endswith(r" &  &  \\")


def test_a_baseline_is_found_beside_what_else_tells_rows_apart(filled, fill):
    fill(filled, {"mse": 0.0, "ranknet": 0.2}, folds=(1,), backend="xgboost")
    table = paper_table(filled, versus="mse", metric="ndcg@5", where="loss in ('mse', 'ranknet')")
    marked = table.cells[table.cells["mark"] != ""]
    assert marked[["backend", "loss"]].values.tolist() == [["lightgbm", "ranknet"], ["xgboost", "ranknet"]]
    alone = "not (backend = 'lightgbm' and loss = 'ranknet')"
    with pytest.raises(ResultsError, match="lightgbm names 3 rows, and none or several of them differ from xg"):
        paper_table(filled, versus="lightgbm", metric="ndcg@5", where=alone)


def test_a_table_opens_the_database_once(filled, monkeypatch):
    connect, opened = duckdb.connect, []
    monkeypatch.setattr(duckdb, "connect", lambda: opened.append(1) or connect())
    paper_table(filled, bold=True)
    assert len(opened) == 1
