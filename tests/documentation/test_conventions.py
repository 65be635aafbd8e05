"""The names of NDCG in docs/conventions.md give the numbers of the tools in whose rows they stand, ties included."""

from __future__ import annotations

import re
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import rankplug as rp

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()


def lightgbm_ndcg(scores, labels):
    """Return the NDCG of a booster without trees, whose scores are the initial ones."""
    settings = {"verbose": -1, "feature_pre_filter": False}
    group, start = [len(scores)], np.asarray(scores, float)
    data = lgb.Dataset(
        np.zeros((*start.shape, 1)), np.asarray(labels, float), group=group, init_score=start, params=settings
    )
    parameters = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [len(scores)], "verbose": -1}
    return lgb.Booster(parameters, data).eval_train()[0][2]


def xgboost_ndcg(scores, labels, name="ndcg", **parameters):
    data = xgb.DMatrix(
        np.zeros((len(scores), 1)), np.asarray(labels, float), group=[len(scores)], base_margin=np.asarray(scores)
    )
    booster = xgb.Booster({"objective": "rank:ndcg", "eval_metric": name, "base_score": 0, **parameters}, [data])
    return float(booster.eval(data).rpartition(":")[2])


def catboost_ndcg(scores, labels):
    metrics = pytest.importorskip("catboost.utils")
    return metrics.eval_metric(
        np.asarray(labels, float), np.asarray(scores, float), "NDCG", group_id=[0] * len(scores)
    )[0]


def scikit_learn_ndcg(scores, labels):
    from sklearn.metrics import ndcg_score

    return ndcg_score([labels], [scores])


def named(scores, labels):
    names = [f"d{position}" for position in range(len(scores))]
    return {"q": dict(zip(names, map(int, labels), strict=True))}, {
        "q": dict(zip(names, map(float, scores), strict=True))
    }


def ranx_ndcg(scores, labels):
    ranx = pytest.importorskip("ranx")
    relevant, retrieved = named(scores, labels)
    return float(ranx.evaluate(ranx.Qrels(relevant), ranx.Run(retrieved), "ndcg"))


TOOLS = {
    "LightGBM": lightgbm_ndcg,
    "XGBoost": xgboost_ndcg,
    "CatBoost": catboost_ndcg,
    "scikit-learn": scikit_learn_ndcg,
    "ranx": ranx_ndcg,
}


SECTION = PAGE[PAGE.index("## What others do: metrics") :].partition("\n## ")[0]
ROWS = {name: cells.split("|") for name, cells in re.findall(r"^\| \*\*(.*?)\*\* \|(.*)\|$", SECTION, re.MULTILINE)}


# ranx compiles itself for a dozen seconds.
RUN = [pytest.param(tool, marks=pytest.mark.slow) if tool == "ranx" else tool for tool in TOOLS]


@pytest.mark.parametrize("tool", RUN)
def test_the_name_of_the_same_metric_here_gives_the_tools_numbers(tool: str) -> None:
    reference, _, restriction = ROWS[tool][5].strip(" `").partition("` ")
    assert restriction in ("", "without ties")
    generator = np.random.default_rng(4)
    for length in (2, 3, 7, 20):
        labels = generator.integers(0, 4, length)
        scores = generator.permutation(length) if restriction else generator.integers(0, length // 2 + 1, length)
        ours = rp.metric(reference).mean(scores, labels, [0, length])
        assert ours == pytest.approx(TOOLS[tool](scores, labels), abs=1e-6)
