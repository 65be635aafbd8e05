"""The crossing of all losses and backends, from one smoke run; verdicts that come from the numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from rankplug_crossover.study import claims, comparisons, pictures, protocol
from scipy import stats

import rankplug as rp
from rankplug.registry import registry
from rankplug.studies import PROFILES, Claim, Results, Runs

# Thirty losses on all backends train for these tests, even at smoke.
pytestmark = [pytest.mark.xdist_group("draw crossover"), pytest.mark.slow]
STUDY = rp.study("crossover")
GROUP = "made as OHSUMED"


@pytest.fixture
def results(results_of_study):
    return results_of_study("crossover")


@pytest.mark.parametrize("profile", PROFILES)
def test_losses_are_crossed_with_every_backend(profile):
    for runs in STUDY.runs(profile, None):
        if runs.kind == protocol.PAIRS:
            assert list(runs.models) == list(protocol.COMPARED)
            continue
        if runs.kind == protocol.TUNED:
            assert list(runs.models) == list(protocol.TUNED_MODELS)
            continue
        only = {loss for loss, _, _ in protocol.PUBLISHED} if protocol.SIZES[profile].papers_only else None
        crossed = {(parts["loss"].split("[")[0], parts["backend"].split("[")[0]) for parts in runs.models.values()}
        installed = {plugin.specification.name for plugin in registry().plugins("loss")}
        for loss in only or installed - protocol.STEPS_OF_A_DERIVATION - protocol.ENGINE_OF_ITS_OWN:
            for backend in protocol.BACKENDS:
                assert (loss, backend) in crossed
        noisy = {parts["loss"].split("[")[0] for parts in runs.models.values() if parts.get("sampler")}
        assert noisy == (only or set(protocol.losses())) - protocol.NOISE_OF_THEIR_OWN


@pytest.mark.parametrize("profile", PROFILES)
def test_tuned_models_have_equal_budgets_and_an_engine_the_same_draws(profile):
    size = protocol.SIZES[profile]
    groups = [group for group in STUDY.runs(profile, None) if group.kind == protocol.TUNED]
    assert len(groups) == len(size.tuned_on) and (len(groups) > 1 or profile == "quick")
    for group in groups:
        by_engine = {}
        for name, parts in group.models.items():
            budget = {len(value) for value in parts.values() if isinstance(value, list)}
            drawn = parts["backend"].count(",", 0, parts["backend"].index(")")) + 1 if not budget else budget.pop()
            assert drawn == size.draws and not budget
            engine = protocol.TUNED_MODELS[name].backend
            by_engine.setdefault(engine, []).append((parts["backend"], parts["scorer"]))
        assert set(by_engine) == {"lightgbm", "torch", "lbfgs"}
        assert all(one == same[0] for same in by_engine.values() for one in same)


def test_ranks_of_tuned_models_are_over_collections(results):
    table, _ = STUDY.exhibit("Tuned").draw(results)
    assert len(table) == 2 * len(protocol.TUNED_MODELS) and set(table["draws"]) == {2}
    assert set(table["paper"]) == {"stochastic", "xendcg", "uniquerating", "logrank"}
    frame, figure = STUDY.exhibit("Tuned, ranks").draw(results)
    by_collection = table.pivot(index="collection", columns="model", values="ours")
    expected = by_collection.rank(axis=1, ascending=False).mean()
    assert frame.set_index("model")["mean rank"].to_dict() == pytest.approx(expected.to_dict())
    assert figure is not None and f"of {8 * 7 // 2} pairs" in claims.some_are_told_apart(results)
    one_group = dataclasses.replace(results, frames={GROUP: results[GROUP]})
    assert STUDY.exhibit("Tuned").draw(one_group)[0].empty and STUDY.exhibit("Tuned, ranks").draw(one_group)[1] is None
    assert (
        Claim("claim", "", claims.tuned_better("uMart", "lambdaMART"), margin=claims.POINTS).judge(one_group).verdict
        == "not run"
    )


def test_the_heat_map_shows_the_mean_over_trials(results):
    frame, _ = pictures.draw_heat_map(results)
    row = frame.set_index("model").loc["umart, xgboost"]
    values = 100 * results.trials(GROUP, "ndcg@5")["umart, xgboost"]
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    assert row["ours"] == pytest.approx(values.mean())
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half)


def test_ranks_are_of_the_leaders_by_validation_data(results):
    frame, _ = STUDY.exhibit("Ranks").draw(results)
    values = results.trials(GROUP, "ndcg@5")[frame["model"]]
    expected = values.rank(axis=1, ascending=False).mean()
    assert np.allclose(frame.set_index("model")["mean rank"], expected)
    # Nemenyi's difference for 12 models over 2 trials, not over the queries of two trained models.
    assert np.allclose(frame["critical difference"], 3.268 * np.sqrt(12 * 13 / (6 * 2)), rtol=1e-3)


def test_the_chosen_are_the_best_on_validation_data(results):
    table, _ = STUDY.exhibit("Chosen on validation").draw(results)
    assert list(table["chosen among"]) == list(comparisons.WHO)
    frame = results[GROUP]
    watched = frame[(frame["measure"] == "curve") & (frame["part"] == "valid") & (frame["metric"] == "ndcg@5")]
    best = watched.groupby(["model", "trial"], observed=True)["value"].max().groupby("model", observed=True).mean()
    rows = table.set_index("chosen among")
    papers = best.index.map(protocol.paper_of)
    for who, candidates in (
        (comparisons.ANY, best),
        (comparisons.NEW, best[papers == ""]),
        ("xendcg", best[papers == "xendcg"]),
    ):
        assert rows.loc[who, "validation"] == pytest.approx(100 * candidates.max())
        assert candidates[rows.loc[who, "model"]] == pytest.approx(candidates.max())


def test_a_fold_that_chooses_for_itself_is_measured_on_its_own_test_part():
    """One model is best on validation data in fold 1, another in fold 2, which the test data do not like there."""
    values = {("one", 1): [0.5, 0.6], ("one", 2): [0.1, 0.1], ("other", 1): [0.9, 0.9], ("other", 2): [0.3, 0.5]}
    rows = [
        {"model": model, "fold": fold, "trial": 0, "query": f"{fold}{index}", "value": value}
        for (model, fold), found in values.items()
        for index, value in enumerate(found)
    ]
    frame = pd.DataFrame(rows).assign(measure="query", metric="ndcg@5")
    frame["model"] = pd.Categorical(frame["model"])
    results = Results("smoke", {GROUP: frame}, STUDY.published())
    validation = pd.DataFrame({1: [0.4, 0.3], 2: [0.6, 0.8]}, index=["one", "other"])
    own = comparisons.choice(validation, comparisons.ANY)
    assert own == {1: "one", 2: "other"}
    assert comparisons.mean_of_choice(results, GROUP, "ndcg@5", own).point == pytest.approx((0.5 + 0.6 + 0.3 + 0.5) / 4)


def made(lead: float, trials: int = 12, dataset: str = "synthetic") -> Results:
    """Make results in which ``umart, xgboost`` leads the best of the papers by about ``lead`` in each trial."""
    noise = np.random.default_rng(3)
    level = dict.fromkeys(protocol.models_of(protocol.SIZES["smoke"]), 0.4)
    level["lambdarank, lightgbm"], level["umart, xgboost"] = 0.5, 0.5 + lead
    rows, records = [], []
    for model, mean in level.items():
        about = {"model": model, "combination": model, "dataset": "made", "fold": 1, "selection": "ndcg@5"}
        values = mean + 0.002 * noise.standard_normal(trials)
        for trial, value in enumerate(values):
            test = {**about, "trial": trial, "measure": "query", "part": "test", "query": "1", "value": value}
            rows += [{**test, "metric": metric} for metric in protocol.METRICS]
            curve = {**about, "trial": trial, "measure": "curve", "metric": "ndcg@5", "part": "valid"}
            rows.append({**curve, "iteration": 0, "value": mean})
            record = {"test_fingerprint": str(trial), "pool": str(trial), "queries": [6, 2, 2]}
            records.append({"identity": model, "fold": 1, "trial": trial, "record": record})
    frame = pd.DataFrame(rows)
    frame["model"] = pd.Categorical(frame["model"], list(level))
    runs = {GROUP: Runs(GROUP, {}, {"dataset": dataset}, kind=protocol.GRID, place=GROUP)}
    return Results("smoke", {GROUP: frame}, STUDY.published(), tuple(records), runs)


def verdict(statistic, results):
    return Claim("claim", "", statistic, margin=claims.POINTS).judge(results).verdict


def test_a_combination_is_better_only_where_the_numbers_say_so():
    led = comparisons.better_than_papers(made(0.05), GROUP).set_index("model")
    assert led["reference"].unique().tolist() == ["lambdarank, lightgbm"]
    assert led.index[led["better"]].tolist() == ["umart, xgboost"]
    assert led.loc["umart, xgboost", "difference"] == pytest.approx(5.0, abs=0.5)
    assert not comparisons.better_than_papers(made(-0.05), GROUP)["better"].any()


def test_p_values_are_one_sided_and_corrected_for_all_candidates():
    results = made(0.004)
    frame = comparisons.better_than_papers(results, GROUP)
    values = results.trials(GROUP, "ndcg@5")
    row = frame.set_index("model").loc["umart, xgboost"]
    expected = stats.ttest_rel(values["umart, xgboost"], values[row["reference"]], alternative="greater").pvalue
    assert row["p"] == pytest.approx(expected)
    assert row["p (Holm)"] == pytest.approx(min(1.0, len(frame) * frame["p"].min()))


@pytest.mark.parametrize(("lead", "found"), [(0.05, "holds"), (-0.05, "fails")])
def test_verdicts_follow_the_numbers(lead, found):
    results = made(lead)
    assert verdict(claims.some_is_better, results) == found
    assert verdict(claims.better("umart, xgboost", "lambdarank, lightgbm"), results) == found
    assert verdict(claims.same("umart, xgboost", "lambdarank, lightgbm"), results) == "fails"
    assert verdict(claims.same("urank, torch", "umart, lightgbm"), results) == "holds"


def test_the_choice_is_judged_against_the_papers_own_choice():
    verdict = Claim("claim", "", claims.chosen_beats_papers, margin=claims.POINTS).judge(made(0.05))
    assert verdict.verdict == "holds" and "umart, xgboost - lambdarank, lightgbm" in verdict.sentence
