"""The study of the paper: numbers of its exhibits, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from rankplug_xendcg.study import claims, protocol
from rankplug_xendcg.study.exhibits import METRIC
from scipy import stats

import rankplug as rp
from rankplug.studies import Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw xendcg")
STUDY = rp.study("xendcg")
PLACES = protocol.PLACES


@pytest.fixture
def results(results_of_study):
    return results_of_study("xendcg")


@pytest.mark.slow
def test_all_pairs_are_tested_by_design_and_corrected_for_three_tests(results):
    table, _ = STUDY.exhibit("Table 1, tests").draw(results)
    assert len(table) == 3 * 2 * 2
    family = table.iloc[:3]
    group = f"quality, {protocol.WEB30K}"
    trials = results.trials(group, "ndcg@5")
    ratio = getattr(results.design(group), "test_to_train", 0.0)
    pairs = itertools.combinations(["XE-NDCG", "lambdaMART", "ListNet"], 2)
    for (first, second), row in zip(pairs, family.to_dict("records"), strict=True):
        assert row["models"] == f"{first} - {second}"
        differences = (trials[first] - trials[second]).to_numpy()
        t = differences.mean() / (differences.std(ddof=1) * np.sqrt(1 / differences.size + ratio))
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(t), differences.size - 1))
        assert row["low"] <= row["difference"] <= row["high"] and row["over"].startswith("2 ")
    by_size = np.sort(family["p"])
    holm = np.minimum(np.maximum.accumulate(by_size * [3, 2, 1]), 1)
    assert np.allclose(np.sort(family["p, Holm"]), holm)


@pytest.mark.slow
def test_figure_2_shows_both_models_and_their_difference_at_every_level(results):
    figure, kind, place = "Figure 2d", "flips", protocol.YAHOO
    frame, drawn = STUDY.exhibit(figure).draw(results)
    levels = [100 * level for level in protocol.SIZES["smoke"].levels(kind)]
    means = frame.pivot(index="level (%)", columns="curve", values="ndcg@5 (%)")
    assert list(means.index) == levels and set(frame["place"]) == {place}
    assert np.allclose(means["difference"], means["XE-NDCG"] - means["lambdaMART"])
    upper, lower = drawn.axes
    assert np.allclose(upper.get_lines()[0].get_ydata(), means["lambdaMART"])
    assert np.allclose(lower.get_lines()[0].get_ydata(), means["difference"])
    clean = 100 * results.trials(f"quality, {place}", METRIC)["lambdaMART"].mean()
    assert means.loc[0.0, "lambdaMART"] == pytest.approx(clean)


def made(lead: float = 0.0, slope: float = 0.0, fading: float = 0.0) -> Results:
    """Make results in which XE-NDCG leads by ``lead``, by more with noise, and by less with more trees when fading."""
    levels = (0.0, 0.2, 0.4, 0.6)
    shared = {"dataset": "synthetic"}
    groups = [Runs(f"quality, {collection}", {}, shared, kind="quality", place=collection) for collection in PLACES]
    for kind, collection, level in itertools.product(("negatives", "flips", "clicks"), PLACES, levels):
        name = protocol.group_name(kind, collection, level)
        groups.append(Runs(name, {}, shared, kind=kind, place=collection, level=level))
    frames = {}
    for group, level in ((group.name, group.level) for group in groups):
        rows = []
        for trial, model in itertools.product(range(6), protocol.MODELS):
            base = 0.4 + 0.0005 * trial - 0.1 * level
            base += (lead + (slope + 0.001 * (-1) ** trial) * level + 0.001 * (-1) ** trial) * (model == "XE-NDCG")
            base -= 0.05 * (model == "ListNet")
            about = {"model": model, "trial": trial, "fold": 1, "dataset": "made", "combination": model}
            test = {**about, "measure": "query", "part": "test", "query": "1", "value": base}
            rows += [{**test, "metric": metric} for metric in protocol.METRICS]
            curve = {**about, "measure": "curve", "part": "valid", "metric": METRIC}
            rows += [
                {**curve, "iteration": tree, "value": base + fading * (10 - tree) / 10 * (model == "XE-NDCG")}
                for tree in range(20)
            ]
        frame = pd.DataFrame(rows)
        frame["model"] = pd.Categorical(frame["model"], list(protocol.MODELS))
        frames[group] = frame
    return Results("smoke", frames, STUDY.published(), runs={group.name: group for group in groups})


def verdict(statistic, results, margin=claims.POINTS):
    return Claim("claim", "", statistic, margin=margin).judge(results).verdict


@pytest.mark.parametrize(
    "statistic", [claims.ranks_better("XE-NDCG", "lambdaMART"), claims.ahead_on_clicks, claims.ahead_in_training]
)
def test_claims_of_a_lead_hold_fail_or_find_no_difference_as_the_numbers_say(statistic):
    assert verdict(statistic, made(lead=0.05)) == "holds"
    assert verdict(statistic, made(lead=-0.05)) == "fails"
    assert verdict(statistic, made(lead=0.0)) == "no difference"


@pytest.mark.parametrize("kind", ["negatives", "flips", "clicks"])
def test_a_difference_that_grows_with_noise_is_told_from_one_that_shrinks(kind):
    statistic = claims.difference_grows(kind, PLACES)
    assert verdict(statistic, made(slope=0.1)) == "holds"
    assert verdict(statistic, made(slope=-0.1)) == "fails"


@pytest.mark.parametrize(("kind", "on"), [("negatives", protocol.YAHOO), ("flips", protocol.WEB30K)])
def test_a_steeper_slope_on_one_collection_is_told_from_a_flatter_one(kind, on):
    (than,) = set(PLACES) - {on}
    steep, flat = made(slope=0.1), made(slope=-0.1)
    for own, other, found in ((steep, flat, "holds"), (flat, steep, "fails")):
        frames = {name: (own if on in name else other)[name] for name in steep.frames}
        mixed = Results("smoke", frames, STUDY.published(), runs=steep.runs)
        assert verdict(claims.more_pronounced(kind, on, than), mixed) == found


def test_the_rise_is_from_the_lowest_level_of_noise_to_the_highest():
    sample = claims.slope(made(slope=0.1), "flips", protocol.WEB30K)
    assert sample.values.mean() == pytest.approx(0.06) and sample.values.size == 6


def test_a_lead_that_fades_with_trees_is_told_from_one_that_grows():
    assert verdict(claims.ahead_most_with_few_trees, made(fading=0.02)) == "holds"
    assert verdict(claims.ahead_most_with_few_trees, made(fading=-0.02)) == "fails"
