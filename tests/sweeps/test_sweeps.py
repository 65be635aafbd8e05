"""A sweep runs what is missing wherever it runs, records failures, and survives the death of a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import DataError
from rankplug.store import Store
from rankplug.sweeps._running import Outcome, sweep

pytestmark = pytest.mark.usefixtures("trouble")

TINY: dict[str, Any] = {
    "dataset": "trouble",
    "backend": "lightgbm",
    "scorer": "trees[rounds=3,min_data=1]",
    "loss": ["mse", "ranknet"],
    "metrics": ["ndcg@5", "mrr"],
}
WAYS = [
    pytest.param({}, id="inline"),
    pytest.param({"jobs": 2}, id="processes"),
    pytest.param({"notebooks": True, "jobs": 2}, id="notebooks", marks=pytest.mark.slow),
    pytest.param({"cluster": "local", "jobs": 2}, id="cluster", marks=pytest.mark.slow),
]


def run(store: Path, *, dataset: str | list[str] = "trouble", **options: Any) -> Outcome:
    return sweep({**TINY, "dataset": dataset}, store=Store(store), progress=False, **options)


def times_loaded(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_results_are_those_of_fit_and_evaluate(tmp_path):
    outcome = run(tmp_path, trials=1)
    for trial in outcome.plan.trials:
        combination = trial.combination
        train, valid, test = rp.load(combination.dataset, fold=1, seed=trial.seed)
        model = rp.fit("lightgbm", scorer=combination.scorer, loss=combination.loss, train=train, valid=valid,
                       seed=trial.seed, selection=("ndcg@5",))  # fmt: skip
        result = outcome.store.read(trial)
        for metric in ("ndcg@5", "mrr"):
            np.testing.assert_array_equal(result.queries[metric], rp.evaluate(model, test, metric))
        assert result.curve.columns == model.record.curve.columns
        assert result.record["test_fingerprint"] == test.fingerprint
        assert outcome.store.about(trial)["seed"] == trial.seed


def test_trials_of_two_losses_share_their_seeds_and_two_trials_do_not(tmp_path):
    trials = run(tmp_path, trials=2).plan.trials
    seeds = {trial.combination.loss: [] for trial in trials}
    for trial in trials:
        seeds[trial.combination.loss].append(trial.seed)
    assert seeds["mse"] == seeds["ranknet"]
    assert len(set(seeds["mse"])) == 2


def test_only_what_is_missing_runs(tmp_path):
    dataset = f'trouble[where="{tmp_path}"]'
    run(tmp_path / "store", dataset=dataset, trials=1)
    assert times_loaded(tmp_path) == 2
    more = run(tmp_path / "store", dataset=dataset, trials=3)
    assert (len(more.plan.done), len(more.plan.waiting)) == (2, 4)
    assert times_loaded(tmp_path) == 6
    run(tmp_path / "store", dataset=dataset, trials=3)
    assert times_loaded(tmp_path) == 6


def test_all_folds_are_those_of_the_data_set(tmp_path):
    assert {trial.fold for trial in run(tmp_path, folds="all").plan.trials} == {1, 2, 3}
    with pytest.raises(DataError, match="has folds 1 to 3, not 4"):
        run(tmp_path, folds=[1, 4])


PROCESSES = pytest.param({"jobs": 2}, id="processes", marks=pytest.mark.slow)
SLOWER_WAYS = [*WAYS[1:2], pytest.param({"notebooks": True}, id="notebooks", marks=pytest.mark.slow), *WAYS[3:4]]


@pytest.mark.parametrize("way", [*WAYS[:1], PROCESSES, *SLOWER_WAYS[1:2]])
def test_a_failing_combination_stops_nothing_and_is_recorded_with_its_traceback(tmp_path, way):
    outcome = run(tmp_path, dataset=["trouble[how=raise]", "trouble"], **way)
    assert len(outcome.failures) == 2
    assert all("ValueError: trouble was asked for" in failure for failure in outcome.failures)
    assert outcome.frame()["dataset"].unique().tolist() == ["trouble"]
    for record in outcome.store.failures():
        assert "Traceback" in record["failure"]
        assert "trouble_data.py" in record["failure"]
        assert record["combination"]["dataset"] == "trouble[how=raise]"
    if way.get("notebooks"):
        failed = next((tmp_path / "notebooks").glob("trouble-how-raise*mse*.ipynb")).read_text()
        assert "trouble was asked for" in failed and '"output_type": "error"' in failed


def test_a_failed_trial_is_left_alone_until_it_is_asked_to_be_run_again(tmp_path):
    dataset = f'trouble[how=mend,where="{tmp_path}"]'
    assert len(run(tmp_path / "store", dataset=dataset).failures) == 2
    (tmp_path / "mended").touch()
    again = run(tmp_path / "store", dataset=dataset)
    assert len(again.plan.failed) == len(again.failures) == times_loaded(tmp_path) == 2
    mended = run(tmp_path / "store", dataset=dataset, retry_failed=True)
    assert not mended.failures and not mended.store.failures()
    assert len(mended.store.paths()) == 2


@pytest.mark.parametrize("way", SLOWER_WAYS)
def test_a_worker_that_dies_is_replaced_and_its_trial_runs_again(tmp_path, way):
    dataset = f'trouble[how="die once",where="{tmp_path}"]'
    outcome = run(tmp_path / "store", dataset=dataset, trials=2, **way)
    assert not outcome.failures
    assert len(outcome.store.paths()) == 4
    assert times_loaded(tmp_path) >= 5


@pytest.mark.parametrize("way", [PROCESSES, *SLOWER_WAYS[1:2]])
def test_a_trial_that_kills_every_worker_is_recorded_as_failed(tmp_path, way):
    outcome = run(tmp_path, dataset=["trouble[how=die]", "trouble"], **way)
    assert len(outcome.failures) == 2
    assert all("2 workers died of it" in failure for failure in outcome.failures)
    assert {about["dataset"] for about in outcome.frame().to_dict("records")} == {"trouble"}


def test_a_claimed_trial_waits_for_its_owner_and_is_not_run_twice(tmp_path):
    store = Store(tmp_path)
    done = run(tmp_path / "elsewhere")
    trial = done.plan.waiting[0]
    with store.claim(trial) as mine, store.claim(trial) as twice:
        assert mine and not twice
        store.write(done.store.read(trial))
    outcome = run(tmp_path)
    assert outcome.plan.done == (trial,)


def command(*words: str) -> Any:
    return CliRunner().invoke(app, ["sweep", *words])


def test_the_command_says_what_it_would_do_and_does_it(tmp_path):
    words = ["dataset=[trouble,trouble[how=raise]]", "backend=lightgbm", "scorer=trees[rounds=3]", "loss=mse"]
    store = ["--store", str(tmp_path)]
    dry = command(*words, *store, "--dry-run")
    assert dry.exit_code == 0 and "2 to run, 0 done" in dry.output
    assert not list(tmp_path.rglob("*.parquet"))
    ran = command(*words, *store)
    assert ran.exit_code == 1
    assert "1 of 2 trials failed" in ran.output and "trouble was asked for" in ran.output
    assert "0 to run, 1 done, 1 failed before" in command(*words, *store, "--dry-run").output
    assert "1 to run, 1 done" in command(*words, *store, "--dry-run", "--retry-failed").output
    assert (
        "10 to run, 1 done, 1 failed" in command(*words, *store, "--dry-run", "--trials", "2", "--folds", "all").output
    )


def test_what_an_interrupted_sweep_had_claimed_is_free_for_the_next_one_of_the_session(tmp_path, monkeypatch):
    def interrupted(task: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("rankplug.sweeps._workers.run_task", interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            sweep(TINY, store=tmp_path, progress=False)
    # The traceback holds the frames of the interrupted sweep, as that of a notebook's last error does.
    assert caught.tb is not None
    assert len(sweep(TINY, store=tmp_path, progress=False).plan.waiting) == 2
