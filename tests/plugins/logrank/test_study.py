"""The study of the paper: every figure and table, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from rankplug_logrank.study import accuracy, claims, evidence, protocol, training
from rankplug_logrank.study.protocol import MEASURES, MODELS

import rankplug as rp
from rankplug.studies import PROFILES, Claim, Results, Runs

pytestmark = pytest.mark.xdist_group("draw logrank")
STUDY = rp.study("logrank")


@pytest.fixture(scope="session")
def results(results_of_study):
    return results_of_study("logrank")


def test_every_figure_and_table_of_the_paper_is_there():
    names = [exhibit.name for exhibit in STUDY.exhibits]
    sub_tables = [f"Figure 3 {measure}" for measure in ("MAP", "NDCG@1", "NDCG@5", "NDCG@10")]
    expected = ["Figure 1", "Figure 2", *sub_tables, "Figure 4", "Figure 5", "Figure 6", "Figure 7", "Figure 8"]
    assert [name for name in names if name in expected] == expected
    assert "Section 5.3.4" in names


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_trains_all_rows_of_figure_3_on_cleaned_binary_data(profile):
    groups = {group.name: group for group in STUDY.runs(profile, None)}
    assert list(groups)[-1] == "sampler"
    assert list(groups)[-2] == "objectives"
    for name in list(groups)[:-2]:
        assert tuple(groups[name].models) == MODELS and len(MODELS) == 15
        assert groups[name].shared["transforms"][:3] == ["binarise", "drop_conflicting", "drop_empty"]
        assert groups[name].shared["metrics"][1] == "ndcg@1[discount=jk]"


def test_the_paper_profile_has_the_seven_data_sets_and_studies_the_sampler_on_hp2004():
    groups = {group.name: group for group in STUDY.runs("paper", None)}
    columns = [name.removeprefix("accuracy ") for name in groups if name not in ("objectives", "sampler")]
    assert columns == ["TD2003", "TD2004", "HP2003", "HP2004", "NP2003", "NP2004", "OHSUMED"]
    assert all(group.folds == (1, 2, 3, 4, 5) for group in groups.values())
    assert groups["sampler"].shared["dataset"] == "hp2004"
    # LETOR scales the features of .Gov; those of OHSUMED are scaled here.
    assert "query_minmax" not in groups["accuracy HP2004"].shared["transforms"]
    assert "query_minmax" in groups["accuracy OHSUMED"].shared["transforms"]
    assert "restarts=9" in groups["accuracy OHSUMED"].models["ExpGain_MAP"]["backend"]
    assert {"mostly best", "even", "mostly worst", "samples 400", "skew -10"} <= set(groups["sampler"].models)


def test_a_data_set_can_be_named():
    assert {group.shared["dataset"] for group in STUDY.runs("smoke", "mq2008")} == {"mq2008"}


def test_the_models_are_the_papers_losses():
    parts = {model: protocol.parts_of(model, protocol.SIZES["paper"]) for model in MODELS}
    assert parts["SVM-MAP"]["loss"] == "svm_map" and parts["SVM-MAP"]["backend"].startswith("cutting_planes")
    assert parts["MLE"]["loss"] == "logrank_mle"
    # Quoted by the paper, trained here, as the others are.
    assert (parts["BoltzRank"]["loss"], parts["ListNet"]["loss"]) == ("boltzrank", "listnet")
    assert parts["BoltzRank"]["backend"] == parts["ListNet"]["backend"] == parts["RankSVM"]["backend"]
    # The closed form needs no rankings.
    assert parts["ExpGain_AUC"]["loss"] == "exp_gain[gain=auc]"
    assert parts["L3_MAP"]["loss"] == "logrank_l3[gain=map,samples=200]"
    assert parts["Convex_NDCG"]["loss"] == "convex_loss[gain=ndcg,samples=200]"


@pytest.mark.parametrize("measure", MEASURES)
def test_figure_3_has_all_models_on_all_data_and_their_microaverage(results, measure):
    frame, figure = STUDY.exhibit(f"Figure 3 {measure}").draw(results)
    columns = ["made as .Gov", "made as OHSUMED", "microaverage"]
    assert list(frame["column"].unique()) == columns
    assert all(tuple(frame[frame["column"] == column]["model"]) == MODELS for column in columns)
    wide = frame.pivot(index="model", columns="column", values="mean")
    counts = frame.groupby("column")["queries"].first()
    weighted = (wide[columns[:2]] * counts[columns[:2]]).sum(axis=1) / counts[columns[:2]].sum()
    assert np.allclose(wide["microaverage"], weighted)
    group = results.queries("accuracy made as OHSUMED", MEASURES[measure])
    of_trials = group[group["model"] == "MLE"].groupby("trial")["value"].mean()
    assert wide.loc["MLE", "made as OHSUMED"] == pytest.approx(of_trials.mean())
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert set(MODELS) <= set(shown) and f"{wide.loc['MLE', 'microaverage']:.3f}" in shown


def test_figure_3_shades_the_best_three_of_each_column(results):
    frame, figure = STUDY.exhibit("Figure 3 MAP").draw(results)
    patches = figure.axes[0].patches
    for x, column in enumerate(frame["column"].unique()):
        means = frame[frame["column"] == column].reset_index()["mean"]
        best = set(np.flatnonzero(means.rank(ascending=False, method="min") <= 3))
        assert {round(patch.get_y()) for patch in patches if round(patch.get_x()) == x} == best


def test_win_counts_stand_beside_the_published_ones(results):
    table, drawn = STUDY.exhibit("Figure 3 wins").draw(results)
    rings = next(line for line in drawn.axes[0].lines if "published" in line.get_label())
    assert list(rings.get_xdata()) == list(table["published share"]) and "reference" in rings.get_label()
    assert [bar.get_width() for bar in drawn.axes[0].patches] == list(table["our share"])
    assert table["difference"].isna().all(), "these data are made"
    assert list(table["published"]) == [f"{count} of 32" for count in (16, 26, 21, 26, 29, 25, 25)]
    cells = accuracy.accuracy_frame(results).pivot(index=["column", "measure"], columns="model", values="mean")
    won = sum(cell["Convex_NDCG"] > cell["ExpGain_NDCG"] for _, cell in cells.iterrows())
    assert table["ours"].iloc[-1] == f"{won} of 12" and table["our share"].iloc[-1] == won / 12


@pytest.mark.parametrize(
    ("figure", "values"), [("Figure 4", [5, 20]), ("Figure 5", [0.1, 0.5, 0.9]), ("Figure 6", [-5, 5])]
)
def test_the_sampler_is_studied_in_four_measures(results, figure, values):
    frame, drawn = STUDY.exhibit(figure).draw(results)
    assert [axes.get_title() for axes in drawn.axes] == list(MEASURES)
    assert sorted(frame.iloc[:, 1].unique()) == values
    assert len(frame) == len(values) * len(MEASURES) * 2
    line = drawn.axes[0].get_lines()[0]
    first = frame[(frame["measure"] == "MAP") & (frame.iloc[:, 1] == line.get_xdata()[0])]
    assert line.get_ydata()[0] == pytest.approx(first["value"].mean())


def test_figure_8_has_ten_rankings_a_query_and_scores_far_above_delta(results):
    frame, figure = STUDY.exhibit("Figure 8").draw(results)
    assert (frame.groupby("query").size() == 10).all() and frame["query"].nunique() <= 10
    assert frame["Delta"].between(0, 1).all() and figure.axes[0].get_xlabel().startswith(r"$\Delta")
    train, path = training.training(training.first_trial(results), "convex_loss[gain=ndcg]", 10)
    assert np.all(path[0] == 0) and np.abs(path[1:]).max(axis=1).min() > 0 and path.shape == (11, train.documents)


def test_both_objectives_are_traced_from_the_same_start(results):
    frame, figure = STUDY.exhibit("Section 5.3.4").draw(results)
    assert [axes.get_title() for axes in figure.axes] == ["MLE", "ExpGain_AUC"]
    start = frame[(frame["iteration"] == 0) & (frame["objective"] == "ExpGain_AUC")]
    assert np.allclose(start["exact"], np.log(2))
    train, _ = training.training(training.first_trial(results), "logrank_mle[rankings=sampled]", 15)
    goods = np.add.reduceat(train.labels, train.starts[:-1])
    start = frame[(frame["iteration"] == 0) & (frame["objective"] == "MLE")]
    assert np.allclose(start["exact"], goods * (train.lengths - goods) * np.log(2))


@pytest.fixture(scope="session")
def verdicts(results):
    return {claim.id: claim.judge(results) for claim in STUDY.claims}


def test_every_claim_is_judged(verdicts):
    assert all(verdict.sentence for verdict in verdicts.values())
    assert all(STUDY.exhibit(claim.exhibit) for claim in STUDY.claims)
    for claim_id in (
        "closed-forms-are-not-over-rankings",
        "bound-is-within-an-eighth",
        "spread-is-smaller-at-the-worst",
    ):
        assert verdicts[claim_id].verdict == "holds"


def test_exact_claims_have_their_known_verdicts_and_checks_that_can_tell(verdicts):
    exact = {claim.id: claim for claim in STUDY.claims if claim.margin is None}
    verdict_of = {claim_id: verdicts[claim_id].verdict for claim_id in exact}
    fails = [claim_id for claim_id, verdict in verdict_of.items() if verdict == "fails"]
    assert fails == ["small-changes-are-likelier", "l3-is-not-convex"]
    assert "inconclusive" not in verdict_of.values()
    for claim in exact.values():
        assert all(check.tells for check in claim.statistic(None).parts.values())


def made(lead: float, spread: float = 0.001) -> Results:
    """Make results in which Convex_NDCG leads all others by a little more or less than ``lead`` in each trial."""
    noise = np.random.default_rng(0)
    rows = []
    for model, metric, trial in itertools.product(MODELS, MEASURES.values(), range(20)):
        value = 0.5 + 0.01 * trial + (lead + spread * (-1) ** trial) * (model == "Convex_NDCG")
        rows.append({"model": model, "metric": metric, "query": "1", "value": value, "fold": 1, "trial": trial})
    accuracy = pd.DataFrame(rows).assign(measure="query", dataset="made")
    size = protocol.SIZES["quick"]
    settings = list(protocol.sampler_settings(size))
    rows = []
    for name, metric, trial in itertools.product(settings, MEASURES.values(), range(5)):
        kind, _, number = name.partition(" ")
        effect = {"samples": 0.01 * np.log2(float(number)) if kind == "samples" else 0.0, "skew": 0.0}.get(kind, 0.0)
        effect -= 0.01 * float(number) if kind == "skew" else 0.0
        effect += {"mostly best": 0.2, "even": 0.1}.get(name, 0.0)
        value = 0.4 + np.sign(lead) * effect + 1e-3 * noise.normal()
        rows.append({"model": name, "metric": metric, "query": "1", "value": value, "fold": 1, "trial": trial})
    sampler = pd.DataFrame(rows).assign(measure="query", dataset="made")
    for frame, models in ((accuracy, MODELS), (sampler, settings)):
        frame["model"] = pd.Categorical(frame["model"], models)
    runs = {
        "accuracy made": Runs("accuracy made", {}, {}, kind="accuracy", place="made"),
        "sampler": Runs("sampler", {}, {}, kind="sampler", settings=protocol.sampler_settings(size)),
    }
    return Results("quick", {"accuracy made": accuracy, "sampler": sampler}, STUDY.published(), runs=runs)


def verdict(statistic, results):
    return Claim("claim", "", statistic, margin=claims.POINTS).judge(results).verdict


@pytest.mark.parametrize(
    "statistic",
    [
        evidence.ranks_better([("Convex_NDCG", "MLE")]),
        evidence.best_of("Convex_NDCG", protocol.BASELINES),
        evidence.more_rankings_help,
        evidence.best_restarts_help,
        evidence.negative_skew_helps,
    ],
)
def test_claims_hold_or_fail_as_the_numbers_say(statistic):
    assert verdict(statistic, made(0.05)) == "holds"
    assert verdict(statistic, made(-0.05)) == "fails"


def test_a_microaverage_weighs_data_sets_by_their_queries():
    results = made(0.05)
    first = results["accuracy made"]
    few = first.assign(value=first["value"] + 0.2 * (first["model"] == "MLE"))
    many = pd.concat([first, first.assign(query="2"), first.assign(query="3")])
    runs = {name: Runs(name, {}, {}, kind="accuracy") for name in ("accuracy few", "accuracy many")}
    both = dataclasses.replace(results, frames={"accuracy few": few, "accuracy many": many}, runs=runs)
    found = accuracy.microaverage(both, "map", {"Convex_NDCG": 1.0, "MLE": -1.0}).estimate
    assert found.point == pytest.approx((0.05 - 0.2 + 3 * 0.05) / 4)


def test_a_single_data_set_has_no_microaverage():
    frame = accuracy.accuracy_frame(made(0.05))
    assert list(frame["column"].unique()) == ["made"]
    counts = accuracy.win_counts(made(0.05))[0].iloc[-1]
    assert (counts["ours"], counts["won by a test"], counts["lost by a test"]) == ("4 of 4", 4, 0)
    turned = accuracy.win_counts(made(-0.05))[0].iloc[-1]
    assert (turned["ours"], turned["won by a test"], turned["lost by a test"]) == ("0 of 4", 0, 4)


def test_the_best_of_each_cell_is_counted_by_family():
    led, trailed = made(0.05), made(-0.05)
    assert evidence.families_best(led).to_dict() == {"baselines": 0, "MLE": 0, "ExpGain": 0, "L3": 0, "Convex": 4}
    assert evidence.baselines_among_the_best(led).startswith("a baseline is best in 0 of 4 cells")
    # Where all others are equal the first row counts, which is a baseline's.
    assert evidence.baselines_among_the_best(trailed).startswith("a baseline is best in 4 of 4 cells")
    assert "L3 0, Convex 4" in evidence.l3_among_the_best(led)


def test_a_lead_within_the_noise_settles_nothing():
    better = evidence.ranks_better([("Convex_NDCG", "MLE")])
    assert verdict(better, made(0.0)) == "no difference"
    assert verdict(better, made(0.0, spread=0.1)) == "inconclusive"
    assert verdict(evidence.samples_saturate, made(0.0)) == "holds"
    assert verdict(evidence.samples_saturate, made(0.05)) == "fails"


def test_equations_4_to_6_are_trained_alike_but_for_the_objective(results):
    for profile in PROFILES:
        size, models = protocol.SIZES[profile], protocol.objectives(protocol.SIZES[profile])
        assert {parts["backend"] for parts in models.values()} == {protocol.lbfgs(size, size.restarts)}
        assert models["L2_NDCG"]["loss"].replace("logrank_l2", "exp_gain") == models["ExpGain_NDCG"]["loss"]
        assert [setting["restarts"] for setting in protocol.restart_settings(size).values()] == [0, 3 * size.restarts]
    frame, _ = STUDY.exhibit("Equations 4 to 6").draw(results)
    restarts = ("ExpGain_NDCG, 0 restarts", "ExpGain_NDCG, 3 restarts")
    assert list(frame["model"]) == ["L2_NDCG", "LogExp_NDCG", "ExpGain_NDCG", *restarts]
    assert frame["combination"].str.len().min() > 0


def test_a_share_of_cells_is_counted_trial_by_trial():
    most, half = evidence.most_cells("ConvexLoss_NDCG", "beats ExpGain_NDCG"), evidence.half_of_the_cells
    assert (verdict(most, made(0.05)), verdict(most, made(-0.05))) == ("holds", "fails")
    # MLE and the baselines are equal, and ties count one half.
    assert verdict(half, made(0.05)) == "holds"
    assert accuracy.cells_above_half(made(0.05), ["Convex_NDCG"], ["MLE"]).estimate.point == 0.5


def test_the_settings_of_the_sampler_are_all_parameters_of_the_loss():
    for profile in PROFILES:
        size = protocol.SIZES[profile]
        runs = Runs(
            "sampler",
            {
                name: protocol.parts_of(protocol.DIAGNOSED, size, setting)
                for name, setting in protocol.sampler_settings(size).items()
            },
            size.collections[size.diagnosed].parts,
        )
        assert all(runs.trials_of(name) for name in runs.models)
    assert accuracy.GROUP == "sampler"
