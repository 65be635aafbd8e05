"""The study of the paper: every figure and table, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from rankplug_stochastic.study import claims, protocol
from rankplug_stochastic.study.experiments import comparisons, perturbed_scores
from rankplug_stochastic.study.experiments.convergence import METRIC
from rankplug_stochastic.study.theory import (
    concrete_density,
    cross_entropy_bound,
    exact_checks,
    law_of_differences,
    rank_schema,
)
from rankplug_stochastic.study.theory.best_gap import best_expected_gap, best_gap
from rankplug_stochastic.study.theory.pair_push import push

import rankplug as rp
from rankplug.studies import PROFILES, Claim, Results, Runs, layout
from rankplug.system import trial_seed

pytestmark = pytest.mark.xdist_group("draw stochastic")
STUDY = rp.study("stochastic")
FIXED, TUNED, CROSSED, NOISE, MENTIONED = (
    f"{group} {protocol.WEB30K}" for group in ("fixed", "tuned", "crossed", "noise", "mentioned")
)


@pytest.fixture
def results(results_of_study):
    return results_of_study("stochastic")


def test_every_figure_and_table_of_the_paper_is_there():
    names = [exhibit.name for exhibit in STUDY.exhibits]
    paper = ["Figure 1", "Figure 2", "Figure 3a", "Figure 3b", "Figure 3c", "Figure 4", "Table 1"]
    assert [name for name in names if name in paper] == paper


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_asks_for_both_settings_of_all_models(profile):
    runs = {group.name: group for group in STUDY.runs(profile, None)}
    assert list(runs)[:4] == [FIXED, TUNED, f"fixed {protocol.YAHOO}", f"tuned {protocol.YAHOO}"]
    assert list(runs)[4:] == [CROSSED, NOISE, MENTIONED][: 1 if profile == "quick" else 3]
    assert tuple(runs[FIXED].models) == protocol.MODELS
    for model in ("CrossEntropy", "ApproxNDCG", "lambdaMART"):
        plain, expected = runs[FIXED].models[model], runs[FIXED].models[f"E[{model}]"]
        assert {**expected, "sampler": ""} == plain
        assert expected["sampler"].startswith("gumbel[beta=0.25" if model == "lambdaMART" else "gumbel[beta=1.0")
    assert runs[TUNED].models["E[lambdaMART]"] == runs[FIXED].models["E[lambdaMART]"]
    assert "adam" in runs[TUNED].models["E[ApproxNDCG]"]["backend"]


def test_the_paper_profile_has_the_published_settings():
    runs = {group.name: group for group in STUDY.runs("paper", None)}
    web, yahoo = runs[FIXED].models, runs[f"fixed {protocol.YAHOO}"].models
    assert runs[FIXED].trials == 10
    assert "layers=(1024,512,256,128,64,32,16)" in web["ApproxNDCG"]["scorer"]
    assert "layers=(1024,512,256),batch_norm=true" in runs[TUNED].models["E[ApproxNDCG]"]["scorer"]
    assert "momentum=0.2" in web["ApproxNDCG"]["scorer"] and "momentum=0.01" in yahoo["ApproxNDCG"]["scorer"]
    assert "optimiser=adagrad,lr=0.005,reduction=sum,batch=128" in web["ApproxNDCG"]["backend"]
    assert "leaves=400,learning_rate=0.05,rounds=1000,l2=0,min_data=50,min_hessian=200.0" in web["lambdaMART"]["scorer"]
    assert "min_data=100,min_hessian=10.0" in yahoo["lambdaMART"]["scorer"]
    assert web["lambdaMART"]["patience"] == 200


def test_the_paper_profile_spares_what_no_exhibit_shows_and_tells_it():
    runs = {group.name: group for group in STUDY.runs("paper", None)}
    assert all(parts.get("train_curve", True) for parts in runs[FIXED].models.values())
    assert {name for name, parts in runs[TUNED].models.items() if not parts.get("train_curve", True)} == {
        "E[CrossEntropy]",
        "E[ApproxNDCG]",
    }
    shared = {"beta = 1", "N = 8", protocol.NO_NOISE}
    assert {name for name, parts in runs[NOISE].models.items() if parts.get("train_curve", True)} == shared
    for name in (f"fixed {protocol.YAHOO}", f"tuned {protocol.YAHOO}", CROSSED, MENTIONED):
        assert not any(parts.get("train_curve", True) for parts in runs[name].models.values())
    assert {name: group.choosing for name, group in runs.items()} == dict.fromkeys(runs, 3) | {NOISE: 0}
    for profile in PROFILES[:-1]:
        for group in STUDY.runs(profile, None):
            assert not group.choosing and all("train_curve" not in parts for parts in group.models.values())


def test_in_bfloat16_networks_differ_in_nothing_else():
    plain = protocol.SIZES["paper"]
    collection = plain.collections[0]
    for name, model in protocol.BY_NAME.items():
        both = [
            protocol.parts_of(model, size, collection, tuned=True)
            for size in (plain, dataclasses.replace(plain, bfloat16=True))
        ]
        assert both[1]["backend"].replace(",autocast=true", "") == both[0]["backend"], name
        assert ("autocast=true" in both[1]["backend"]) != model.trees
        assert {**both[1], "backend": both[0]["backend"]} == both[0]


def test_a_data_set_can_be_named(results):
    runs = list(STUDY.runs("smoke", "ohsumed"))
    assert [group.shared["dataset"] for group in runs] == ["ohsumed"] * 5


@pytest.mark.parametrize("profile", PROFILES)
def test_crossed_models_differ_in_loss_noise_and_network_only_and_choose_from_equally_many_rates(profile):
    crossed = {group.name: group for group in STUDY.runs(profile, None)}[CROSSED].models
    assert len(crossed) == 8
    assert len({rates_of(parts) for parts in crossed.values()}) == 1
    for loss in ("CrossEntropy", "ApproxNDCG"):
        for network in protocol.NETWORKS:
            plain, noisy = (crossed[protocol.arm(one, network)] for one in (loss, f"E[{loss}]"))
            assert {**noisy, "sampler": ""} == plain
        engines = [
            {key: crossed[protocol.arm(loss, network)][key] for key in ("backend", "scorer")} for network in "AB"
        ]
        assert {**crossed[protocol.arm(loss, "A")], **engines[1]} == crossed[protocol.arm(loss, "B")]


def rates_of(parts):
    """Return how many learning rates a model chooses from."""
    rates = re.search(r"lr=(\[[^]]*\]|[^,]*)", parts["backend"])[1]
    return rates.count(",") + 1


def test_at_quick_the_crossed_models_of_the_paper_are_its_own_runs():
    runs = {group.name: group for group in STUDY.runs("quick", None)}
    crossed = runs[CROSSED].models
    for network, setting in (("A", FIXED), ("B", TUNED)):
        assert crossed[f"E[ApproxNDCG], {network}"] == runs[setting].models["E[ApproxNDCG]"]
    assert crossed["ApproxNDCG, A"] == runs[FIXED].models["ApproxNDCG"]


def test_what_both_changes_give_is_the_sum_of_what_each_gives(results):
    table, _ = STUDY.exhibit("Noise and network").draw(results)
    for _, rows in table.groupby("loss"):
        gains = rows.set_index("what is added")["gain"]
        network, noise, both = (gains[name] for name in (gains.index[2], gains.index[1], gains.index[4]))
        assert both == pytest.approx(network + noise)
    quality = STUDY.exhibit("Four models").draw(results)[0].set_index(["loss", "network"])["ours"]
    own = table[table["loss"] == "ApproxNDCG"].set_index("what is added")["gain"]
    assert own["noise, with A"] == pytest.approx(quality["E[ApproxNDCG]", "A"] - quality["ApproxNDCG", "A"])


def test_kinds_of_noise_are_drawn_where_they_were_run(results):
    frame, figure = STUDY.exhibit("Kinds of noise").draw(results)
    assert len(frame) == len(protocol.SCALES) + len(protocol.DRAWS) + len(protocol.LAWS) + 1
    known = frame.set_index("noise")["ours"]
    assert known["beta = 1"] == known["N = 8"]
    without = dataclasses.replace(results, frames={FIXED: results[FIXED]})
    assert STUDY.exhibit("Kinds of noise").draw(without)[0].empty
    assert figure.axes[0].get_ylabel() == "test NDCG@5 (%)"


def test_noise_on_scores_takes_what_scores_with_noise_lack(results):
    frame, figure = STUDY.exhibit("Perturbed scores").draw(results)
    assert len(frame) == len(protocol.MODELS) * 2 * len(perturbed_scores.SIZES) and len(figure.axes) == 6
    (first, *_) = results.rankings(FIXED, "lambdaMART")
    run = first["lambdaMART"]
    assert run.trial.number == 0
    kept = results.by_query(FIXED, METRIC)["lambdaMART"].loc[0, 1]
    assert perturbed_scores.quality(run) == pytest.approx(kept[[str(name) for name in run.lists.query_ids]].to_numpy())
    # Noise that outweighs all scores leaves the order of noise alone, for any model.
    draws = np.random.default_rng([0, 1]).normal(size=(perturbed_scores.DRAWS, run.scores.size))
    alone = np.mean([rp.evaluate(noise, run.lists, METRIC).to_numpy() for noise in draws], axis=0)
    assert perturbed_scores.quality(run, 1e9 * draws) == pytest.approx(alone)
    centred = np.concatenate([one - one.mean() for one in np.split(run.scores, run.lists.starts[1:-1])])
    assert perturbed_scores.spread(run) == pytest.approx(np.sqrt(np.mean(centred**2)))


def test_robustness_is_judged_where_scores_were_kept_only(results):
    statistic = perturbed_scores.loses_less(perturbed_scores.OF_SPREAD, "lambdaMART")
    assert verdict(statistic, results) != "not run"
    assert verdict(statistic, made(0.05)) == "not run"
    index = pd.MultiIndex.from_product([range(6), [1], ["1"]], names=("trial", "fold", "query"))
    for saves, found in ((0.05, "holds"), (-0.05, "fails"), (0.0, "no difference")):
        lost = {
            (model, unit, size): pd.Series(0.1 - saves * model.startswith("E["), index)
            for model in protocol.MODELS
            for unit, size in perturbed_scores.JUDGED.items()
        }
        forged = made(0.0)
        forged.once("perturbed scores", lambda lost=lost: lost)
        assert verdict(statistic, forged) == found


def test_the_variance_of_draws_is_told_from_that_of_one_draw_repeated():
    assert verdict(exact_checks.variance_falls_with_draws, None, None) == "holds"
    frame, figure = STUDY.exhibit("Variance and draws").draw(None)
    known = frame.set_index(["draws", "estimator", "scores of spread"])["variance"]
    assert (known[1] / known[8]).to_numpy() == pytest.approx(8, rel=0.3) and len(figure.axes) == 3


def test_version_2_of_pl_rank_has_a_smaller_variance_than_version_1():
    pytest.importorskip("rankplug_plrank")
    frame, _ = STUDY.exhibit("Variance").draw(None)
    spread = frame.set_index("estimator")["scores of spread 1"]
    assert spread["PL-Rank-2 and -3"] < spread["PL-Rank-1"]


@pytest.mark.parametrize("figure", ["Figure 3a", "Figure 3b", "Figure 3c"])
def test_figure_3_shows_both_losses_on_training_and_validation_data(results, figure):
    frame, drawn = STUDY.exhibit(figure).draw(results)
    baseline = {"a": "CrossEntropy", "b": "ApproxNDCG", "c": "lambdaMART"}[figure[-1]]
    assert set(frame["model"]) == {baseline, f"E[{baseline}]"} and set(frame["part"]) == {"train", "valid"}
    (axes,) = drawn.axes
    assert axes.get_ylabel() == "NDCG@5 (%)" and axes.get_xlabel().startswith("training iteration")
    assert len(axes.get_lines()) == 4
    iterations = frame["iteration"].nunique()
    assert all(len(line.get_xdata()) == iterations for line in axes.get_lines())
    mean = frame[(frame["model"] == baseline) & (frame["part"] == "train")].groupby("iteration")
    assert np.allclose(axes.get_lines()[0].get_ydata(), mean["ndcg@5 (%)"].mean())
    # 24 training queries in batches of 8 make three steps an epoch; a tree is one step.
    assert np.allclose(
        axes.get_lines()[0].get_xdata(), (1 if figure.endswith("c") else 3) * np.arange(1, iterations + 1)
    )


def test_figure_4_shows_the_six_models_on_validation_data(results):
    frame, drawn = STUDY.exhibit("Figure 4").draw(results)
    assert set(frame["model"]) == set(protocol.MODELS) and set(frame["part"]) == {"valid"}
    assert [len(axes.get_lines()) for axes in drawn.axes] == [4, 2]


def test_figure_4_cuts_no_curve_off(results):
    _, drawn = STUDY.exhibit("Figure 4").draw(results)
    for axes in drawn.axes:
        low, high = axes.get_ylim()
        values = np.concatenate([line.get_ydata() for line in axes.lines])
        assert low <= values.min() and values.max() <= high


def test_table_1_has_the_papers_thirty_numbers_beside_ours(results):
    table, _ = STUDY.exhibit("Table 1").draw(results)
    assert len(table) == 30 and table[["ours", "half width", "published"]].notna().all(axis=None)
    assert table["difference"].isna().all()  # On made data the published numbers are no yardstick.
    row = table[(table["model"] == "E[ApproxNDCG]") & (table["metric"] == "ndcg@5")].set_index("published on")
    assert row["published"].to_dict() == {protocol.WEB30K: 47.48, protocol.YAHOO: 72.69}
    trials = results.trials(TUNED, "ndcg@5")["E[ApproxNDCG]"]
    assert row.loc[protocol.WEB30K, "ours"] == pytest.approx(100 * trials.mean())


def test_table_1_is_laid_out_as_in_the_paper(results):
    wide = layout(STUDY.exhibit("Table 1").draw(results)[0])
    assert list(wide.columns) == ["NDCG@1", "NDCG@5", "NDCG@10"]
    assert [model for _, model in wide.index] == 2 * [*protocol.MODELS, *protocol.MODELS[2:]]
    assert wide["NDCG@1"].str.contains("<b>").sum() >= 2


@pytest.mark.parametrize("fact", ["test queries", "features", "mean documents per query"])
def test_the_papers_facts_about_its_data_are_beside_ours(results, fact):
    table = STUDY.exhibit("Section 6.1").draw(results)[0].set_index(["paper's data", "fact"])
    assert len(table) == 8
    assert table.loc[(protocol.WEB30K, fact), "published"] == {"test queries": 6306, "features": 136}.get(fact, 120)
    lists = rp.load(results[FIXED]["dataset"].iloc[0], seed=trial_seed(0, 0))
    documents = sum(part.documents for part in lists) / sum(map(len, lists))
    ours = {"test queries": len(lists.test), "features": 136}.get(fact, documents)
    assert table.loc[(protocol.WEB30K, fact), "ours"] == pytest.approx(ours)


def test_every_claim_is_judged(results):
    for claim in STUDY.claims:
        assert claim.judge(results).sentence
        assert not claim.exhibit or STUDY.exhibit(claim.exhibit)


def test_nothing_is_run_twice(results):
    identities = [record["identity"] + str(record["trial"]) for record in results.records]
    # 6 models, 2 of which have settings of their own; 4 and 1 on the second collection; two plain losses with the
    # network of setting B; nine kinds of noise beside the paper's; four models it only mentions; two trials.
    assert len(identities) == len(set(identities)) == 2 * (8 + 5 + 2 + 9 + 4)


def test_what_the_paper_mentions_differs_in_what_it_names():
    groups = {group.name: group for group in STUDY.runs("full", None)}
    models, plain = groups[MENTIONED].models, groups[FIXED].models["ApproxNDCG"]
    assert {**models["RankNet"], "loss": plain["loss"]} == plain and models["RankNet"]["loss"] == "ranknet"
    longer = models[protocol.LONGER]
    assert {**longer, "backend": longer["backend"].replace("epochs=90", "epochs=30")} == plain
    tuned, elsewhere = groups[TUNED].models["E[ApproxNDCG]"], models[protocol.ELSEWHERE]
    assert elsewhere["scorer"] == tuned["scorer"].replace("dropout=0.5", "dropout=(0.5,0.5,0.5)")
    papers = {group.name: group for group in STUDY.runs("paper", None)}
    assert "dropout=(0.5,0.5,0.5)" in papers[TUNED].models["E[ApproxNDCG]"]["scorer"]
    assert "dropout=0.5]" in papers[MENTIONED].models[protocol.ELSEWHERE]["scorer"]


def test_what_the_paper_mentions_stands_beside_its_baselines(results):
    frame, _ = STUDY.exhibit("Mentioned").draw(results)
    assert set(protocol.WEAK) | {protocol.LONGER, protocol.ELSEWHERE, "lambdaMART"} <= set(frame["model"])
    assert frame["combination"].str.len().min() > 0
    frame, figure = STUDY.exhibit("Figure 3, Yahoo").draw(results)
    assert set(frame["model"]) == set(protocol.MODELS[2:]) and len(figure.axes) == 2
    without = dataclasses.replace(results, frames={FIXED: results[FIXED]})
    assert STUDY.exhibit("Mentioned").draw(without)[0].empty
    assert STUDY.exhibit("Figure 3, Yahoo").draw(without)[0].empty
    for statistic in (comparisons.weak_losses, comparisons.longer_training_falls_short, comparisons.similar_on_yahoo):
        assert verdict(statistic, without) == "not run"


def test_leads_of_trials_are_counted_and_tested_against_one_half():
    for lead, found in ((0.05, "holds"), (-0.05, "fails")):
        judged = Claim("", comparisons.whichever_trial, margin=claims.OF_TRIALS).judge(made(lead))
        assert judged.verdict == found
        assert verdict(comparisons.whichever_trial, made(lead, trials=5)) == "not run"
        assert f"in {6 if lead > 0 else 0} of 6 trainings" in judged.sentence + " ".join(judged.notes)


def test_the_constant_of_equation_14_is_an_expectation():
    draws = np.random.default_rng(2).uniform(1e-3, 1 - 1e-3, 400_000)
    assert np.log(np.mean(1 / -np.log(draws))) == pytest.approx(
        cross_entropy_bound.log_mean_exponential(1e-3), abs=0.02
    )
    assert np.mean((-np.log(draws)) ** -0.5) == pytest.approx(cross_entropy_bound.mean_root(1e-3), rel=0.01)
    assert cross_entropy_bound.mean_root(1e-100) == pytest.approx(np.sqrt(np.pi), rel=1e-6)
    for eps, value in ((1e-6, 2.5831), (1e-10, 3.1112), (1e-20, 3.8172)):
        assert cross_entropy_bound.log_mean_exponential(eps) == pytest.approx(value, abs=5e-5)


def test_our_loss_under_our_noise_lies_between_equation_8_and_equation_14():
    frame = cross_entropy_bound.bound_frame()
    assert (frame["E[H]"] > frame["H"] - 0.02).all() and (frame["bound"] > frame["E[H]"]).all()
    row = frame[(frame["documents"] == 10) & (frame["spread of the scores"] == 0) & (frame["eps"] == 1e-10)].iloc[0]
    labels = np.where(np.arange(10) % 4 == 0, 2.0, np.arange(10) % 2)
    ours = rp.loss("cross_entropy").evaluate(np.zeros(10), labels, [0, 10], sampler="gumbel[beta=1,samples=4000]")
    assert ours.value[0] == pytest.approx(row["E[H]"], abs=0.08)
    assert (
        verdict(exact_checks.bound_holds, None, None)
        == verdict(exact_checks.constant_has_no_limit, None, None)
        == "holds"
    )
    assert verdict(exact_checks.best_scores_stay, None, None) == "fails"
    assert verdict(exact_checks.best_order_stays, None, None) == "holds"


def test_the_push_on_an_ordered_pair_is_that_of_exact_integrals():
    frame, figure = STUDY.exhibit("Margins").draw(None)
    approx = frame[frame["loss"] == "ApproxNDCG"].set_index("gap")
    for gap, plain, expected in ((0.05, 0.9134, 0.0915), (0.5, 0.0473, 0.0874), (2.0, 0.0, 0.0410)):
        row = approx.iloc[np.abs(approx.index - gap).argmin()]
        assert row["plain"] == pytest.approx(plain, abs=1e-4)
        assert row["expected"] == pytest.approx(expected, abs=0.01)
    assert len(figure.axes) == 2
    assert verdict(exact_checks.margins_widen, None, None) == "holds"


def test_noise_of_pairs_is_logistic_unless_the_noise_of_documents_is_gaussian(monkeypatch):
    assert verdict(exact_checks.differences_are_logistic, None, None) == "holds"
    right = law_of_differences.distance_from_logistic
    gaussian = {"gumbel": "gaussian", "gaussian": "gumbel"}
    monkeypatch.setattr(exact_checks, "distance_from_logistic", lambda beta, law="gumbel": right(beta, gaussian[law]))
    assert verdict(exact_checks.differences_are_logistic, None, None) == "fails"


RUNS = {
    FIXED: Runs(FIXED, {}, {"dataset": "synthetic"}, kind="fixed", place=protocol.WEB30K),
    TUNED: Runs(TUNED, {}, {"dataset": "synthetic"}, kind="tuned", place=protocol.WEB30K),
}


def made(lead: float, trials: int = 6, noise: float = 0.001) -> Results:
    """Make results in which an expected loss leads its baseline by ``lead``, give or take a little by trial."""
    level = {"CrossEntropy": 0.30, "ApproxNDCG": 0.40, "lambdaMART": 0.50}
    rows = []
    for trial in range(trials):
        for model in protocol.MODELS:
            base = level[model.removeprefix("E[").removesuffix("]")]
            base += (lead + noise * (-1) ** trial) * model.startswith("E[")
            about = {"model": model, "trial": trial, "fold": 1, "dataset": "made", "combination": model}
            test = {**about, "measure": "query", "part": "test", "query": "1", "value": base}
            curve = {**about, "measure": "curve", "part": "valid", "metric": METRIC, "value": base}
            rows += [{**test, "metric": metric} for metric in protocol.METRICS]
            rows += [{**curve, "iteration": iteration} for iteration in range(12)]
    frame = pd.DataFrame(rows)
    frame["model"] = pd.Categorical(frame["model"], protocol.MODELS)
    return Results("smoke", {FIXED: frame, TUNED: frame}, STUDY.published(), runs=RUNS)


def verdict(statistic, results, margin=claims.POINTS):
    return Claim("", statistic, margin=margin).judge(results).verdict


LEADS = [
    comparisons.approx_reaches_higher,
    comparisons.early_lead("lambdaMART"),
    comparisons.early_lead("ApproxNDCG"),
    comparisons.better_at_every_cutoff("E[ApproxNDCG]", "ApproxNDCG"),
    comparisons.better_at_every_cutoff("E[lambdaMART]", "lambdaMART"),
]


@pytest.mark.parametrize("statistic", LEADS)
def test_claims_of_a_lead_hold_fail_or_stay_open_as_the_numbers_say(statistic):
    assert verdict(statistic, made(0.05)) == "holds"
    assert verdict(statistic, made(-0.05)) == "fails"
    assert verdict(statistic, made(0.0)) == "no difference"
    assert verdict(statistic, made(0.0, noise=0.05)) == "inconclusive"


@pytest.mark.parametrize("statistic", [comparisons.cross_entropy_unchanged, comparisons.cross_entropy_pair_alike])
def test_claims_of_no_difference_fail_where_there_is_one(statistic):
    assert verdict(statistic, made(0.0)) == "holds"
    assert verdict(statistic, made(0.05)) == "fails"
    assert verdict(statistic, made(-0.05)) == "fails"
    assert verdict(statistic, made(0.0, noise=0.05)) == "inconclusive"


@pytest.mark.parametrize("statistic", [comparisons.early_lead("lambdaMART"), comparisons.approx_overfits_earlier])
def test_curves_that_early_stopping_ended_are_not_compared(statistic):
    results = made(0.05)
    records = tuple({"identity": model, "record": {"stopped": "patience"}} for model in protocol.MODELS)
    stopped = dataclasses.replace(results, records=records)
    verdict = Claim("", statistic, margin=claims.POINTS).judge(stopped)
    assert verdict.verdict == "not run" and "not run to the end" in verdict.sentence


def test_an_earlier_best_epoch_is_told_from_a_later_one():
    frame = made(0.0)[FIXED]
    expected = (frame["model"] == "E[ApproxNDCG]") & (frame["measure"] == "curve")
    rises = frame["iteration"].where(frame["measure"] == "curve", 0)
    for peak, found in ((2, "holds"), (11, "fails")):
        # The baseline's best is its sixth epoch, a trial more or less.
        middle = 5 + frame["trial"] % 2
        top = np.where(expected, peak, middle)
        results = Results(
            "smoke", {FIXED: frame.assign(value=frame["value"] - 0.01 * (rises - top).abs())}, None, runs=RUNS
        )
        assert verdict(comparisons.approx_overfits_earlier, results, claims.TRAINING) == found


def test_the_order_of_the_losses_is_judged_from_the_numbers():
    assert verdict(comparisons.better_at_every_cutoff("lambdaMART", "ApproxNDCG"), made(0.0)) == "holds"
    assert verdict(comparisons.better_at_every_cutoff("CrossEntropy", "ApproxNDCG"), made(0.0)) == "fails"


def test_a_growing_gap_is_told_from_a_shrinking_one():
    growing = made(0.0)
    frame = growing[FIXED]
    expected = frame["model"].str.startswith("E[") & (frame["measure"] == "curve")
    grows, early = (
        next(claim for claim in STUDY.claims if words in claim.sentence) for words in ("gap between", "fewer trees")
    )
    for sign, verdict in ((1, "holds"), (-1, "fails")):
        changed = frame.assign(value=frame["value"] + sign * 0.01 * frame["iteration"].fillna(0) * expected)
        results = Results("smoke", {FIXED: changed}, growing.published, runs=RUNS)
        assert grows.judge(results).verdict == verdict
        assert early.judge(results).verdict == {"holds": "fails", "fails": "holds"}[verdict]


def test_figure_1_shares_of_draws_are_those_of_the_closed_density():
    frame = concrete_density.density_frame()
    for _, shares in frame.groupby("alpha"):
        assert shares["sampled share"].sum() == pytest.approx(1.0)
        assert shares["density share"].sum() == pytest.approx(1.0, abs=0.01)
        # Chance alone moves 100,000 draws in 900 cells by about 0.4 sqrt(900 / 100,000) = 0.038 of their mass.
        assert abs(shares["sampled share"] - shares["density share"]).sum() / 2 < 0.04


def test_figure_1_has_its_mass_at_the_heaviest_document_and_b_is_symmetric():
    frame = concrete_density.density_frame()
    first = frame[frame["alpha"] == "(1.5, 5.0, 2.0)"]
    means = [(first[f"y{one}"] * first["sampled share"]).sum() for one in (1, 2, 3)]
    assert means[1] > means[2] > means[0]
    second = frame[frame["alpha"] == "(5.0, 5.0, 2.0)"]
    assert (second["y1"] * second["density share"]).sum() == pytest.approx(
        (second["y2"] * second["density share"]).sum(), rel=1e-9
    )


def test_draws_that_miss_the_density_are_told(monkeypatch):
    assert verdict(exact_checks.samples_follow_the_density, None, None) == "holds"
    draws = concrete_density.sampled_points
    monkeypatch.setattr(concrete_density, "sampled_points", lambda weights, beta: draws(weights, 1.9 - beta))
    assert verdict(exact_checks.samples_follow_the_density, None, None) == "fails"


def test_noise_that_is_independent_from_pair_to_pair_makes_other_ranks():
    assert rank_schema.largest_difference(independent=True) > 0.1
    assert verdict(exact_checks.noise_enters_either_way, None, None) == "holds"


@pytest.mark.parametrize("beta", [0.25, 1.0, 2.0])
def test_sorted_draws_follow_the_plackett_luce_law(beta):
    weights = (1.5, 5.0, 2.0)
    points = concrete_density.sampled_points(weights, beta, samples=20_000)
    found = np.argsort(-points, axis=1)
    for order, chance in concrete_density.order_chances(weights, beta).items():
        share = (found == order).all(axis=1).mean()
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / 20_000) + 1e-4


def test_figure_2_has_equal_ranks_both_ways_and_noise_that_depends_between_pairs():
    frame, drawn = STUDY.exhibit("Figure 2").draw(None)
    assert frame.filter(like="largest difference").to_numpy().max() < 1e-12
    assert len(drawn.axes) == 2
    gumbel = np.random.default_rng(1).gumbel(size=(100_000, 3))
    first, second = gumbel[:, 0] - gumbel[:, 1], gumbel[:, 1] - gumbel[:, 2]
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(-0.5, abs=0.01)
    assert rank_schema.largest_difference() < 1e-12


@pytest.mark.parametrize(("gap", "plain", "expected"), [(0.05, 0.9134, 0.0893), (0.5, 0.0473, 0.0864), (2, 0, 0.0438)])
def test_the_expected_loss_keeps_pushing_a_pair_apart(gap, plain, expected):
    gaps = np.array([gap], float)
    assert push(gaps, "approx_ndcg[eta=10]", None)[0] == pytest.approx(plain, abs=1e-4)
    assert push(gaps, "approx_ndcg[eta=10]", "gumbel[samples=200000]")[0] == pytest.approx(expected, abs=0.004)


@pytest.mark.parametrize(
    ("share", "plain", "expected"), [(0.6, 0.4055, 0.607), (0.75, 1.0986, 1.632), (0.9, 2.1972, 3.189)]
)
def test_noise_stretches_the_best_gap_of_cross_entropy(share, plain, expected):
    assert best_gap(share) == pytest.approx(plain, abs=1e-4)
    gap = best_expected_gap(share)
    assert gap == pytest.approx(expected, abs=1e-3)
    ratio = np.exp(gap)
    # The mean of sigma(gap + Z) over a standard logistic Z in closed form.
    assert ratio * (ratio - 1 - gap) / (ratio - 1) ** 2 == pytest.approx(share, abs=1e-9)
