"""Simulated schedules obey the laws of scheduling, and estimates of cost count what the protocol counts."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_benchmarks.many_runs.paper_costs import (
    SHORT,
    SIZES,
    TRAINING_SHARE,
    Kind,
    UnitCost,
    documents_of,
    iterations_of,
    kind_of,
    pytorchs_own_steps,
    trials_of,
    with_bfloat16,
)
from rankplug_benchmarks.many_runs.schedule import STEPS, TrialCost, datasets_table, hours_table, savings_table
from rankplug_benchmarks.many_runs.simulation import limit, makespan

from rankplug.store import Combination
from rankplug.studies import studies

DURATIONS = st.lists(st.floats(0.01, 100.0), min_size=1, max_size=30)


def by_hand(durations: list[float], workers: int) -> float:
    """Return the same without a heap and a client: each trial goes to the worker that is free first."""
    free = [0.0] * workers
    for duration in durations:
        first = free.index(min(free))
        free[first] += duration
    return max(free)


@given(DURATIONS, st.integers(1, 8))
def test_without_a_client_it_is_greedy_list_scheduling(durations, workers):
    assert makespan(durations, workers) == pytest.approx(by_hand(durations, workers))


@given(DURATIONS, st.integers(1, 300), st.floats(0.0, 1.0))
def test_no_schedule_beats_its_lower_bounds_or_grahams_upper_bound(durations, workers, client):
    found = makespan(durations, workers, client=client)
    work, longest, served = sum(durations), max(durations), client * len(durations)
    assert found >= max(work / workers, longest, served) - 1e-9
    assert found <= work / workers + longest + served + 1e-9


@given(DURATIONS, st.floats(0.0, 1.0))
def test_one_worker_does_everything_one_after_another(durations, client):
    assert makespan(durations, 1, client=client) == pytest.approx(sum(durations) + client * len(durations))


def test_a_sweep_of_equal_trials_stops_where_the_client_is_always_busy():
    spans = [makespan([1.0] * 200, workers, client=0.1) for workers in (1, 5, 10, 20, 200)]
    assert spans[0] / spans[1] == pytest.approx(5, rel=0.1)
    assert spans[3] == pytest.approx(200 * 0.1 + 1.0) and spans[4] == spans[3]
    assert limit([1.0] * 200, 20, client=0.1) == "the client"


def test_what_limits_a_sweep_is_named():
    assert limit([1.0] * 100, 2) == "the work"
    assert limit([1.0, 1.0, 50.0], 8) == "the longest trial"
    assert limit([10.0] * 7 + [70.0], 2) == "trials of unequal length, in the order of the plan"


@pytest.mark.parametrize(
    ("parts", "iterations"),
    [
        ({"backend": "lightgbm", "scorer": "trees[rounds=500]", "loss": "xe_ndcg"}, 500),
        ({"backend": "torch[epochs=30]", "scorer": "mlp", "loss": "urank"}, 30),
        ({"backend": "torch[epochs=30]", "scorer": "uboost[learners=5]", "loss": "urank"}, 150),
        ({"backend": "lbfgs[C=(0.1,1.0,10.0),iterations=40,restarts=2]", "loss": "ranksvm"}, 3 * 40 * 3),
        ({"backend": "lbfgs[iterations=40]", "loss": "logrank_mle"}, 40),
        ({"backend": "lbfgs[iterations=40]", "loss": "approx_ndcg"}, 40 * 10),
        ({"backend": "cutting_planes[C=(0.1,1.0),planes=30]", "loss": "svm_map"}, 60),
        ({"backend": "rankboost", "scorer": "stumps[rounds=70]", "loss": "rankboost"}, 70),
    ],
)
def test_all_iterations_of_a_protocol_are_counted(parts, iterations):
    assert iterations_of(Combination(dataset="ohsumed", **parts)) == iterations


def test_documents_are_the_published_ones_for_training_and_grow_with_negatives():
    web30k = Combination(dataset="mslr-web30k", backend="lightgbm", loss="xe_ndcg")
    assert documents_of(web30k) == pytest.approx(0.6 * 3_771_125)
    yahoo = Combination(dataset="yahoo-c14", backend="lightgbm", loss="xe_ndcg")
    assert documents_of(yahoo) == 473_134
    more = web30k.model_copy(update={"transforms": ("negative_augmentation[share=0.5]",)})
    assert documents_of(more) > 1.2 * documents_of(web30k)


def test_trials_that_cost_the_same_are_measured_once():
    first, other = (
        Combination(dataset="ohsumed", backend=f"torch[lr={lr},epochs={epochs}]", scorer="mlp", loss="urank")
        for lr, epochs in ((0.1, 30), (0.01, 300))
    )
    assert kind_of(first) == kind_of(other)
    assert f"epochs={SHORT['epochs']}" in kind_of(first).backend
    larger = Combination(dataset="ohsumed", backend="torch", scorer="mlp[layers=(512,)]", loss="urank")
    assert kind_of(larger).scorer != kind_of(first).scorer


def test_a_unit_cost_is_a_line():
    assert UnitCost(0.5, 0.001).of(1000) == pytest.approx(1.5)


def test_what_a_trial_would_cost_otherwise_is_that_of_the_same_training():
    from rankplug_torch import plain_steps

    parts = {"dataset": "mslr-web30k", "scorer": "mlp", "loss": "approx_ndcg"}
    full, half = (Combination(backend=f"torch[epochs=30,batch=128{more}]", **parts) for more in ("", ",autocast=true"))
    assert with_bfloat16(full.backend, there=True) == half.backend
    assert with_bfloat16(half.backend, there=False) == full.backend
    assert kind_of(half) != kind_of(full) and kind_of(full).network
    without = full.model_copy(update={"train_curve": False})
    assert not kind_of(without).train_curve and replace(kind_of(without), train_curve=True) == kind_of(full)
    ours = plain_steps.plain_steps_of
    with pytorchs_own_steps():
        assert plain_steps.plain_steps_of(None, None) is None
    assert plain_steps.plain_steps_of is ours


def test_trees_are_measured_where_they_have_all_their_leaves():
    for shape, documents in (("mslr", 120), ("yahoo", 24)):
        kind = Kind(shape, "lightgbm", "trees[leaves=400,min_data=100]", "xe_ndcg", "")
        assert min(kind.sizes()) * documents * TRAINING_SHARE > 400 * 100
        network = replace(kind, backend="torch", scorer="mlp")
        assert network.sizes() == SIZES[shape] and kind.sizes(quick=True) == network.sizes(quick=True)


def test_tables_add_up_hours_by_study_and_by_data_set():
    hours = {"a": 1, "b": 2, "c": 1}
    costs = {"paper": [TrialCost(name, 3600.0 * hour) for name, hour in hours.items()]}
    assert hours_table(costs, 0.0).rows == (("paper", 3, 4.0, 2.0, 2.0, 2.0),)
    assert datasets_table(costs).rows == tuple(
        ("paper", name, 1, float(hour), 60.0 * hour) for name, hour in hours.items()
    )
    other = {"paper": costs["paper"][:1], "another": costs["paper"][:2]}
    table = savings_table({"nothing": {**costs, "another": costs["paper"]}, "something": other})
    assert table.rows == (("nothing", 4.0, 4.0, 8.0, "100%"), ("something", 1.0, 3.0, 4.0, "50%"))


@pytest.mark.parametrize("name", ["stochastic", "uniquerating"])
def test_without_savings_there_are_all_trials_with_all_curves_in_full_precision(name):
    """The oracle counts by hand: what is left out are the later trials of all learning rates but one."""
    study = next(study for study in studies() if study.name == name)
    whole, spared = list(trials_of(study, ())), list(trials_of(study))
    assert all(trial.combination.train_curve and "autocast" not in trial.combination.backend for trial in whole)
    assert any(not trial.combination.train_curve for trial in spared)
    by_hand = {trial.identity for trial in spared}
    for runs in study.runs("paper", None):
        for model in runs.models:
            trials = runs.trials_of(model)
            several = len({trial.combination.identity for trial in trials}) > 1
            needed = sum(trial.number < runs.choosing for trial in trials)
            needed += len(runs.folds) * max(runs.trials - runs.choosing, 0)
            assert sum(trial.identity in by_hand for trial in trials) >= (
                needed if several and runs.choosing else len(trials)
            )
    assert STEPS[0].savings == () and set(STEPS[-1].savings) == {"curves", "choosing", "bfloat16"}
    if name == "stochastic":
        assert len(whole) == 580
        networks = [trial.combination.backend for trial in spared if trial.combination.backend.startswith("torch")]
        assert networks and all("autocast=true" in backend for backend in networks)


@pytest.mark.slow
def test_trials_of_a_paper_are_counted_once():
    for study in studies():
        names = [trial.identity for trial in itertools.islice(trials_of(study), 2000)]
        assert len(names) == len(set(names))
        # The baselines of LETOR 2.0 have no randomness: one trial a combination and official fold.
        assert len(names) == 35 if study.name == "letor2" else len(names) > 100, study.name
