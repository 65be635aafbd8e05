"""The rows in bold of docs/conventions.md are what the tools do: each one is run on lists that tell the cases apart."""

from __future__ import annotations

import math
import re
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import rankplug as rp

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()
SECOND = 1 / math.log2(3)


def lightgbm_ndcg(scores, labels):
    """Return the NDCG of a booster without trees, whose scores are the initial ones."""
    data = lgb.Dataset(
        np.zeros((len(scores), 1)),
        np.asarray(labels, float),
        group=[len(scores)],
        init_score=np.asarray(scores, float),
        params={"verbose": -1, "feature_pre_filter": False},
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


def trec_eval_ndcg(scores, labels):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    relevant, retrieved = named(scores, labels)
    return pytrec_eval.RelevanceEvaluator(relevant, {"ndcg"}).evaluate(retrieved)["q"]["ndcg"]


def ir_measures_ndcg(scores, labels):
    ir_measures = pytest.importorskip("ir_measures")
    (found,) = ir_measures.iter_calc([ir_measures.nDCG], *named(scores, labels))
    return found.value


TOOLS = {
    "LightGBM": lightgbm_ndcg,
    "XGBoost": xgboost_ndcg,
    "CatBoost": catboost_ndcg,
    "scikit-learn": scikit_learn_ndcg,
    "ranx": ranx_ndcg,
    "trec_eval": trec_eval_ndcg,
    "ir_measures": ir_measures_ndcg,
}


def rows(heading: str) -> dict[str, list[str]]:
    """Return the cells of each row in bold of the table under a heading."""
    section = PAGE[PAGE.index(f"## {heading}") :].partition("\n## ")[0]
    rows = re.findall(r"^\| \*\*(.*?)\*\* \|(.*)\|$", section, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}


METRICS = rows("What others do: metrics")


def one_of(value: float, cases: dict[float, str]) -> str:
    (name,) = [name for expected, name in cases.items() if abs(value - expected) < 1e-6]
    return name


def gain(ndcg) -> str:
    """Tell the gain from labels 1 and 2 in the wrong order."""
    linear, exponential = ((low + high * SECOND) / (high + low * SECOND) for low, high in ((1, 2), (1, 3)))
    return one_of(ndcg([2, 1], [1, 2]), {linear: "y", exponential: "2^y - 1"})


def discount(ndcg) -> str:
    return one_of(ndcg([2, 1], [0, 1]), {SECOND: "log2", 1.0: "jk"})


def order_of_equal_scores(ndcg) -> str:
    """Tell the order of ties from two tied documents of which one is relevant, and from sixty of which one is."""
    cases = {
        (SECOND, 1.0): "input order",
        (SECOND, SECOND): "least relevant first",
        ((1 + SECOND) / 2, (1 + SECOND) / 2): "mean over orders",
        (1.0, SECOND): "by name, last first",
    }
    found = ndcg([0, 0], [0, 1]), ndcg([0, 0], [1, 0])
    (name,) = [name for expected, name in cases.items() if np.allclose(found, expected, atol=1e-6)]
    kept = ndcg([0] * 60, np.arange(60) == 20) == pytest.approx(1 / math.log2(22))
    return "unstable sort" if name == "input order" and not kept else name


def precision_of_scores(ndcg) -> str:
    """Tell the precision from scores that differ by less than single precision can tell."""
    close = 1 + 1e-9
    return "double" if min(ndcg([1, close], [0, 1]), ndcg([close, 1], [1, 0])) == pytest.approx(1) else "single"


# ranx compiles itself for a dozen seconds.
RUN = [pytest.param(tool, marks=pytest.mark.slow) if tool == "ranx" else tool for tool in TOOLS]


@pytest.mark.parametrize("tool", RUN)
def test_the_row_of_a_metric_is_what_the_tool_does(tool: str) -> None:
    ndcg = TOOLS[tool]
    nothing = f"{ndcg([2, 1], [0, 0]):g}"
    found = [gain(ndcg), discount(ndcg), order_of_equal_scores(ndcg), nothing, precision_of_scores(ndcg)]
    assert found == METRICS[tool][:5]


@pytest.mark.parametrize("tool", RUN)
def test_the_name_of_the_same_metric_here_gives_the_tools_numbers(tool: str) -> None:
    reference, _, restriction = METRICS[tool][5].strip("`").partition("` ")
    assert restriction in ("", "without ties")
    generator = np.random.default_rng(4)
    for length in (2, 3, 7, 20):
        labels = generator.integers(0, 4, length)
        scores = generator.permutation(length) if restriction else generator.integers(0, length // 2 + 1, length)
        ours = rp.metric(reference).mean(scores, labels, [0, length])
        assert ours == pytest.approx(TOOLS[tool](scores, labels), abs=1e-6)
