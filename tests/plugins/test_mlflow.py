"""A trial becomes a run of MLflow with its parts, curve and files; without MLflow nothing is imported."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from rankplug.store import Combination, Store, Trial
from rankplug.sweeps import sweep

GRID = {
    "dataset": "synthetic[queries=20,documents=10]",
    "backend": "lightgbm",
    "scorer": "trees[rounds=4,min_data=1]",
    "loss": "mse",
    "metrics": ["ndcg@5", "mrr"],
}
installed = pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="MLflow is not installed")


@pytest.mark.parametrize("address", ["mlruns", "./mlruns", "{cwd}/mlruns", "file://{cwd}/mlruns"])
def test_runs_in_folders_go_to_a_database(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankplug_mlflow.plugin import tracking_uri

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    assert tracking_uri(address.format(cwd=tmp_path)) == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    for other in ("sqlite:///x.db", "http://localhost:5000", "databricks", "databricks://profile", "databricks-uc"):
        assert tracking_uri(other) == other


def test_a_failing_store_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankplug_mlflow import plugin

    def log_trial(address: str, result: object) -> None:
        raise OSError("no such server")

    logger = types.ModuleType("rankplug_mlflow.logger")
    logger.log_trial = log_trial  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rankplug_mlflow.logger", logger)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:1")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(5):
            plugin.rankplug_trial_finished(trial=None, result=None)
    assert [str(warning.message) for warning in caught] == [
        "trials are not recorded in MLflow at http://localhost:1: OSError: no such server"
    ]


@installed
def test_a_sweep_into_a_folder_warns_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", str(tmp_path / "mlruns"))
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*MLflow|.*mlflow|.*observer")
        sweep(GRID, store=Store(tmp_path / "results"), trials=2, progress=False)
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("rankplug").experiment_id])
    assert len(runs) == 2 and {path.name for path in tmp_path.iterdir()} == {"mlruns", "results"}


@installed
def test_a_trial_is_a_run_with_parameters_curve_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    where = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", where)
    monkeypatch.chdir(tmp_path)
    outcome = sweep(GRID, store=Store(tmp_path / "results"), trials=3, jobs=3, progress=False)
    sweep(GRID, store=Store(tmp_path / "again"), trials=3, progress=False)
    client = MlflowClient(tracking_uri=where)
    runs = client.search_runs([client.get_experiment_by_name("rankplug").experiment_id])
    assert sorted(run.data.params["trial"] for run in runs) == ["0", "1", "2"]
    for run in runs:
        assert run.info.status == "FINISHED"
        assert run.data.params["loss"] == "mse"
        result = outcome.store.read(Trial(Combination(**GRID), 1, int(run.data.params["trial"])))
        assert run.data.metrics["test ndcg_5"] == pytest.approx(np.nanmean(result.queries["ndcg@5"]))
        curve = [point.value for point in client.get_metric_history(run.info.run_id, "valid ndcg_5")]
        assert curve == pytest.approx(result.curve.columns["valid ndcg@5"])
        files = {item.path for item in client.list_artifacts(run.info.run_id)}
        assert files == {"record.json", "queries.csv"}
        record = json.loads(Path(client.download_artifacts(run.info.run_id, "record.json")).read_text())
        assert record["identity"] == outcome.plan.trials[0].combination.identity
