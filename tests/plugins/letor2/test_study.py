"""LETOR's own baselines: the committed numbers, and rows and verdicts from forged runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rankplug_letor2.study import protocol, rows

import rankplug as rp
from rankplug.registry import canonical
from rankplug.studies import Results

pytestmark = pytest.mark.xdist_group("draw letor2")
STUDY = rp.study("letor2")
MAP = protocol.MEASURES["MAP"]


def forged(shift, spread=0.0):
    """Return runs whose test numbers are the official ones of RankBoost, moved by some points."""
    printed = STUDY.published()
    noise = np.random.default_rng(0)
    values = []
    for metric in protocol.MEASURES.values():
        official = printed.query("exhibit == 'test part' and model == 'RankBoost' and metric == @metric")
        for fold in range(1, 6):
            value = official.set_index("dataset").loc[f"fold {fold}", "value"] + shift + spread * noise.normal()
            for query, sign in enumerate((-1, 1)):
                values.append((fold, str(query), canonical("metric", metric), value + 0.1 * sign))
    frame = pd.DataFrame(values, columns=["fold", "query", "metric", "value"])
    frame = frame.assign(measure="query", trial=0, combination="one", dataset=protocol.DATASET)
    frame["model"] = pd.Categorical(["RankBoost"] * len(frame))
    (runs,) = STUDY.runs("real", None)
    return Results("real", {protocol.GROUP: frame}, printed, (), {protocol.GROUP: runs})


def verdict(results, name="RankBoost"):
    (claim,) = (claim for claim in STUDY.claims if claim.text.startswith(f"Our {name} "))
    return str(claim.judge(results).verdict)


def test_the_means_of_the_release_are_those_of_its_folds():
    printed = STUDY.published()
    wide = printed.pivot_table(index=["exhibit", "model", "metric"], columns="dataset", values="value")
    folds = wide[[f"fold {fold}" for fold in range(1, 6)]].mean(axis=1)
    assert len(wide) == 3 * 7 * 5
    assert np.abs(folds - wide["mean of the folds"]).max() < 2e-6


def test_frank_repeats_its_test_part_as_training_part():
    printed = STUDY.published().query("model == 'FRank'").set_index(["exhibit", "dataset", "metric"])["value"]
    assert printed["train part"].equals(printed["test part"])


@pytest.mark.parametrize(
    ("shift", "spread", "expected"),
    [(0.01, 0.005, "holds"), (-0.08, 0.005, "fails"), (0.08, 0.005, "fails"), (0.0, 0.3, "inconclusive")],
)
def test_a_row_is_judged_by_the_differences_of_its_folds(shift, spread, expected):
    assert verdict(forged(shift, spread)) == expected


def test_the_difference_of_a_row_is_that_of_the_means():
    results = forged(0.02)
    table, _ = rows.table(results)
    assert table["difference"].to_numpy() == pytest.approx(np.full(5, 2.0))
    assert rows.official(results, "RankBoost", MAP).index.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("shift", "count"), [(0.0, 5), (0.2, 0)])
def test_a_row_lies_within_its_interval_where_that_holds_the_official_number(shift, count):
    (observation,) = STUDY.observations
    assert observation.seen(forged(shift, 0.02)) == f"of 5 measures: RankBoost {count}"
