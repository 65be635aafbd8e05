"""The study of the paper: every figure and table, from one smoke run, and what each profile trains."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from rankplug_stochastic.study import exhibits, protocol
from rankplug_stochastic.study.exhibits import METRIC

import rankplug as rp
from rankplug.report import layout
from rankplug.studies import PROFILES
from rankplug.system import trial_seed

pytestmark = pytest.mark.xdist_group("draw stochastic")
STUDY = rp.study("stochastic")
FIXED, TUNED, CROSSED, NOISE, MENTIONED = (
    f"{group} {protocol.WEB30K}" for group in ("fixed", "tuned", "crossed", "noise", "mentioned")
)


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


def test_in_bfloat16_networks_differ_in_nothing_else_and_only_the_paper_profile_has_it():
    assert [profile for profile, size in protocol.SIZES.items() if size.bfloat16] == ["paper"]
    plain = dataclasses.replace(protocol.SIZES["paper"], bfloat16=False)
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
    assert len(frame) == len(protocol.MODELS) * 2 * len(exhibits.SIZES) and len(figure.axes) == 6
    (first, *_) = results.rankings(FIXED, "lambdaMART")
    run = first["lambdaMART"]
    assert run.trial.number == 0
    kept = results.by_query(FIXED, METRIC)["lambdaMART"].loc[0, 1]
    assert exhibits.quality(run) == pytest.approx(kept[[str(name) for name in run.lists.query_ids]].to_numpy())
    # Noise that outweighs all scores leaves the order of noise alone, for any model.
    draws = np.random.default_rng([0, 1]).normal(size=(exhibits.NOISY_RANKINGS, run.scores.size))
    alone = np.mean([rp.evaluate(noise, run.lists, METRIC).to_numpy() for noise in draws], axis=0)
    assert exhibits.quality(run, 1e9 * draws) == pytest.approx(alone)
    centred = np.concatenate([one - one.mean() for one in np.split(run.scores, run.lists.starts[1:-1])])
    assert exhibits.spread(run) == pytest.approx(np.sqrt(np.mean(centred**2)))


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
