"""The study of the paper: every figure and table, from one smoke run, and what each profile trains."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_uniquerating.study import exhibits, protocol

import rankplug as rp
from rankplug.report import layout
from rankplug.studies import PROFILES, Results
from rankplug.system import trial_seed

pytestmark = pytest.mark.xdist_group("draw uniquerating")
STUDY = rp.study("uniquerating")
PLACES = tuple(protocol.PLACES)
ALL_MODELS = {*protocol.OURS, *protocol.BENCHMARKS}


def test_every_figure_and_table_of_the_paper_is_there():
    names = [exhibit.name for exhibit in STUDY.exhibits]
    assert {"Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Figure 1"} <= set(names)
    assert sum(name.startswith("Section 5") for name in names) == 2


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_has_all_nine_models_where_the_paper_has_them(profile):
    runs = {group.name: group for group in STUDY.runs(profile, None)}
    for collection in set(PLACES) & set(runs):
        lacks = set() if collection in (protocol.OHSUMED, protocol.MQ2007) else {"MDPRank"}
        assert set(runs[collection].models) == ALL_MODELS - lacks
    assert {protocol.OHSUMED, protocol.MQ2007} <= set(runs)


@pytest.mark.parametrize("profile", PROFILES)
def test_only_groups_that_say_so_are_selected_on_the_test_part(profile):
    for group in STUDY.runs(profile, None):
        named = group.kind in (protocol.TEST_SELECTED, protocol.LIGHTGBM_EVALUATION)
        for parts in group.models.values():
            assert (protocol.ON_TEST in parts["transforms"]) == named


def test_the_paper_profile_has_the_published_settings():
    runs = {group.name: group for group in STUDY.runs("paper", None)}
    ohsumed, mq2007, web = (runs[collection].models for collection in PLACES[:3])
    assert "layers=(100,50),activation=elu" in ohsumed["uRank"]["scorer"]
    assert "layers=(100,100)" in mq2007["uRank"]["scorer"] and "layers=(200,200)" in web["uRank"]["scorer"]
    assert "optimiser=adam,lr=0.0001,batch=1,clip=5.0,epochs=1000" in ohsumed["uRank"]["backend"]
    assert "lr=1e-05" in mq2007["uRank"]["backend"]
    assert ohsumed["uRank"]["patience"] == 200
    assert ohsumed["uRank"]["selection"] == ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"]
    assert [models["uMart"]["loss"] for models in (ohsumed, mq2007, web)] == [
        "umart[window=2]",
        "umart[window=10]",
        "umart[window=2]",
    ]
    assert "learning_rate=0.05,rounds=1000,l2=0,bagging=0.9,min_data=5,min_hessian=5.0" in web["uMart"]["scorer"]
    assert "learners=5" in ohsumed["uBoost"]["scorer"] and "learners=2" in ohsumed["urBoost"]["scorer"]
    assert ohsumed["LambdaMart-R"]["scorer"].startswith("ranklib_trees") and ohsumed["LambdaMart-R"]["patience"] == 100


def test_the_real_profile_trains_on_the_official_folds_of_ohsumed_and_mq2008():
    runs = {group.name: group for group in STUDY.runs("real", None)}
    assert runs[protocol.OHSUMED].shared["dataset"] == "ohsumed"
    assert runs[protocol.MQ2007].shared["dataset"] == "mq2008"
    assert runs[protocol.OHSUMED].folds == (1, 2, 3, 4, 5)


def test_validating_on_the_test_part_changes_nothing_else():
    plain = rp.load("synthetic[shape=ohsumed,queries=20,documents=5]", seed=1)
    changed = rp.load("synthetic[shape=ohsumed,queries=20,documents=5]", seed=1, transforms=[protocol.ON_TEST])
    assert [part.fingerprint for part in changed] == [plain.train.fingerprint, *[plain.test.fingerprint] * 2]


def test_table_1_has_the_papers_28_numbers_beside_those_of_the_lists(results):
    table, _ = STUDY.exhibit("Table 1").draw(results)
    assert len(table) == 28 and table[["ours", "published"]].notna().all(axis=None)
    ohsumed = table[table["paper's data"] == "OHSUMED"].set_index("fact")
    assert ohsumed["published"].tolist() == [106, 16140, 45, 3, 68.12, 320, 71.87]
    parts = rp.load(results.runs[protocol.OHSUMED].shared["dataset"], seed=trial_seed(0, 0))
    lists = [one.labels for part in parts for one in (part[i : i + 1] for i in range(len(part)))]
    shares = [(labels == 0).mean() for labels in lists]
    zeros = sum((labels == 0).sum() for labels in lists) / sum(labels.size for labels in lists)
    assert ohsumed["ours"].tolist() == pytest.approx(
        [25, sum(map(len, lists)), 45, 3, 100 * zeros, max(map(len, lists)), 100 * np.mean(shares)]
    )


@pytest.mark.parametrize(("exhibit", "models"), [("Table 2", 9), ("Table 3", 9), ("Table 4", 8), ("Table 5", 8)])
def test_tables_2_to_5_have_ndcg_and_err_at_four_cutoffs_beside_the_published(results, exhibit, models):
    table, _ = STUDY.exhibit(exhibit).draw(results)
    assert len(table) == 8 * models and table[["ours", "published"]].notna().all(axis=None)
    assert table["difference"].isna().all() and set(table["data"].str[:14]) == {"made data for "}
    assert table["metric"].unique().tolist() == [*protocol.NDCG, *protocol.ERR]
    assert layout(table, 3).shape == (2 * models, 8)


def test_table_2_has_the_printed_numbers(results):
    table, _ = STUDY.exhibit("Table 2").draw(results)
    rows = table[table["metric"].isin(protocol.NDCG)].pivot(index="model", columns="metric", values="published")
    assert rows.loc["uRank", list(protocol.NDCG)].tolist() == [0.602, 0.511, 0.481, 0.455]
    assert rows.loc["urBoost", list(protocol.NDCG)].tolist() == [0.612, 0.529, 0.494, 0.467]


def test_a_table_of_a_collection_that_was_not_run_shows_the_published_numbers(results):
    some = Results("real", {}, results.published)
    table, _ = STUDY.exhibit("Table 5").draw(some)
    assert len(table) == 64 and table["ours"].isna().all() and table["published"].notna().all()
    assert set(table["ours on"]) == {"no data"} and layout(table, 3).shape == (8, 8)
    facts, _ = STUDY.exhibit("Table 1").draw(some)
    assert len(facts) == 28 and facts["ours"].isna().all()


def test_table_6_counts_one_where_nothing_is_relevant(results):
    table, _ = STUDY.exhibit("Table 6").draw(results)
    assert set(table["model"]) == {"uMart", "LambdaMart-L"} and len(table) == 2 * 4 * 4
    printed = table[table["published"].notna()]
    # The row of LambdaMart-L on Web30K is lost in the paper's text.
    assert len(printed) == 12 and table["ours"].notna().all()
    for parts in results.runs[f"LightGBM evaluation {protocol.WEB10K}"].models.values():
        assert "drop_empty" not in parts["transforms"]


def test_figure_1_has_bars_for_every_collection_and_metric(results):
    frame, drawn = STUDY.exhibit("Figure 1").draw(results)
    ours, published = frame[frame["on"] == "made data"], frame[frame["on"] == exhibits.PUBLISHED]
    assert len(ours) == len(published) == 4 * 8 and len(frame) == 2 * 4 * 8
    assert ours["published (%)"].isna().all() and published["ours (%)"].isna().all()
    # On made data the paper's own numbers are of other data, so that they are rings and no bars beside ours.
    assert len(drawn.axes) == 8 and all(len(axes.patches) == 4 for axes in drawn.axes)
    rings = [line for line in drawn.axes[0].lines if "reference" in line.get_label()]
    assert list(rings[0].get_ydata()) == pytest.approx(list(published["published (%)"].iloc[:4])) and len(rings) == 1
    facts, _ = STUDY.exhibit("Table 1").draw(results)
    assert facts["ours"].notna().any() and facts["difference"].isna().all(), "made data have sizes of their own"
    trials = results.trials(protocol.OHSUMED, "ndcg@5")
    ours, best = trials[list(protocol.OURS)].max(axis=1), trials[list(protocol.BENCHMARKS)].max(axis=1)
    row = frame[(frame["collection"] == "OHSUMED") & (frame["metric"] == "ndcg@5")].iloc[0]
    assert row["ours (%)"] == pytest.approx(100 * ((ours - best) / best).mean())


@pytest.mark.parametrize(
    ("place", "ndcg", "err"),
    [
        ("OHSUMED", (8.70, 18.26, 12.02, 11.19), (17.48, 13.50, 11.97, 11.86)),
        ("MQ2007", (4.90, 2.97, 3.14, 2.73), (28.63, 18.50, 20.44, 22.76)),
        ("MSLR-WEB10K", (2.78, 3.77, 3.72, 4.21), (2.78, 2.54, 2.23, 2.17)),
        ("MSLR-WEB30K", (3.27, 4.70, 4.66, 4.49), (3.37, 2.83, 2.52, 2.28)),
    ],
)
def test_the_published_gains_follow_from_the_published_tables(place, ndcg, err):
    published = STUDY.published()
    found = [exhibits.published_gain(published, place, name) for name in (*protocol.NDCG, *protocol.ERR)]
    assert found == pytest.approx([*ndcg, *err], abs=0.006)


def test_choices_differ_from_the_papers_own_in_one_thing():
    runs = {group.name: group for group in STUDY.runs("full", None)}
    tried, own = runs[f"choices {protocol.OHSUMED}"].models, runs[protocol.OHSUMED].models
    assert tried["uMart, u = 5"]["loss"] == "umart[window=5]"
    assert {**tried["uMart, u = 5"], "loss": "umart[window=2]"} == own["uMart"]
    assert {**tried["uRank, by validation loss"], "selection": list(protocol.NDCG)} == own["uRank"]
    assert {**tried[protocol.OVER_ALL], "transforms": own["uRank"]["transforms"]} == own["uRank"]
    scorers = {name: tried[name]["scorer"] for name in (protocol.URRANK, *protocol.OTHER_CELLS, protocol.ONE_BY_ONE)}
    plain = scorers[protocol.URRANK]
    assert scorers["urRank, LSTM"] == plain[:-1] + ",rnn=lstm]"
    assert scorers[protocol.ONE_BY_ONE] == plain.replace("conditional_rnn", "sequential_rnn")
    assert plain in own["urBoost"]["scorer"]


def test_sparse_models_differ_from_the_tables_in_their_features_only():
    for profile, place in (("full", protocol.WEB10K), ("real", protocol.OHSUMED)):
        runs = {group.name: group for group in STUDY.runs(profile, None)}
        sparse, own = runs[f"sparse {place}"], runs[place]
        assert sparse.shared == own.shared and set(sparse.models) == {"uRank", "uMart"}
        for name, parts in sparse.models.items():
            first, *rest = parts["transforms"]
            assert first.startswith("sparse_features") and {**parts, "transforms": rest} == own.models[name]


def test_features_made_sparse_are_zero_for_their_share_of_the_training_documents_and_keep_their_order():
    dense = rp.load("synthetic[queries=60,documents=10]", seed=1)
    sparse = rp.load("synthetic[queries=60,documents=10]", seed=1, transforms=["sparse_features[share=0.7]"])
    bounds = np.array([np.sort(column)[int(np.ceil(0.7 * column.size)) - 1] for column in dense.train.features.T])
    for before, after in zip(dense, sparse, strict=True):
        assert after.features == pytest.approx(np.maximum(before.features - bounds, 0))
        assert after.labels.tolist() == before.labels.tolist()
    assert (sparse.train.features == 0).mean(axis=0).min() >= 0.7 - 1e-9


def test_the_tests_compare_with_the_papers_reference(results):
    table, _ = STUDY.exhibit("Tables 2-5, tests").draw(results)
    assert len(table) == 4 * 4 * 4
    references = table.groupby("collection")["reference"].unique().map(list).to_dict()
    assert references["OHSUMED"] == ["LambdaLoss"] and references["MQ2007"] == ["LambdaMart-L"]
    assert set(table["on"]) == {f"made data for {place}" for place in PLACES}
    assert (table["p (Holm)"] >= table["p"] - 1e-12).all()
    assert table["difference"].between(table["low"], table["high"]).all()
    stars = table.set_index(["collection", "model", "metric"])["published"].sort_index()
    assert (stars["OHSUMED", "uRank"] == "*").all() and stars["OHSUMED", "uMart", "ndcg@10"] == ""
    assert (stars["MSLR-WEB30K", "uMart"] == "*").all() and (stars["MSLR-WEB30K", "uRank"] == "").all()
    values = results.trials(protocol.MQ2007, "ndcg@3")
    row = table[(table["collection"] == "MQ2007") & (table["model"] == "uMart") & (table["metric"] == "ndcg@3")]
    assert row["difference"].iloc[0] == pytest.approx((values["uMart"] - values["LambdaMart-L"]).mean())


def test_err_by_the_collections_largest_rating_is_never_above_the_querys(results):
    table, _ = STUDY.exhibit("Tables 2-5, ERR").draw(results)
    assert len(table) == 34
    assert (table["ours on"] == "made data for " + table["collection"]).all()
    assert (table["ERR@1, collection's largest"] <= table["ERR@1, query's largest"] + 1e-12).all()
    urank = table[(table["collection"] == "MQ2007") & (table["model"] == "uRank")]["published ratio"].iloc[0]
    assert urank == pytest.approx(0.295 / 0.481)


def test_our_err_grows_with_the_cutoff_for_every_query(results):
    for collection in PLACES:
        rows = results[collection][results[collection]["metric"].isin(protocol.ERR)]
        wide = rows.pivot_table(index=["model", "trial", "query"], columns="metric", values="value", observed=True)
        assert (wide[list(protocol.ERR)].diff(axis=1).iloc[:, 1:] >= -1e-12).all(axis=None)


def test_training_time_is_that_of_the_records(results):
    table, _ = STUDY.exhibit("Section 5, training time").draw(results)
    assert set(table["model"]) == set(exhibits.TIMED)
    assert set(table["on"]) <= {f"made data for {place}" for place in PLACES}
    times = exhibits.epoch_seconds(results, protocol.OHSUMED)
    assert times.shape == (2, 4) and (times > 0).all(axis=None)
    record = next(
        about["record"]
        for about in results.records
        if about["combination"]["loss"] == "mdprank"
        and about["combination"]["dataset"] == results.runs[protocol.OHSUMED].shared["dataset"]
        and about["trial"] == 1
    )
    assert times.loc[(1, 1), "MDPRank"] == pytest.approx(record["seconds"]["training"] / 2)


def test_every_claim_is_judged(results):
    for claim in STUDY.claims:
        assert claim.judge(results).sentence
        assert not claim.exhibit or STUDY.exhibit(claim.exhibit)
