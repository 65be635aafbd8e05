"""A trial in MLflow: parts as parameters, the learning curve and the test means as metrics, the rest as files.

A run of the same trial that exists already is left unchanged, so a repeated sweep adds nothing twice.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from filelock import FileLock
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

from rankplug.store import Result, describe
from rankplug.system import cache_folder

EXPERIMENT = "rankplug"
METRICS_PER_REQUEST = 900
"""MLflow takes up to 1000 metrics in one request."""
LONGEST_VALUE = 500
SQLITE = "sqlite:///"


def log_trial(address: str, result: Result) -> str:
    """Record a result or a failure, and return the run's identifier.

    Args:
        address: MLflow's tracking URI.
        result: a trial's result.
    """
    client, experiment = _open(address)
    trial = result.trial
    earlier = client.search_runs([experiment], f"tags.trial = '{trial.identity}' and attributes.status = 'FINISHED'")
    if earlier:
        return str(earlier[0].info.run_id)
    start = int(1000 * result.record.get("started", time.time()))
    run = client.create_run(experiment, start_time=start, tags={"trial": trial.identity}, run_name=str(trial)[:250])
    identifier = str(run.info.run_id)
    parts = {**trial.combination.model_dump(mode="json"), "fold": trial.fold, "trial": trial.number}
    params = [Param(name, str(value)[:LONGEST_VALUE]) for name, value in parts.items()]
    versions = [RunTag(f"version.{name}", version) for name, version in trial.combination.versions.items()]
    client.log_batch(identifier, params=params, tags=versions)
    metrics = _metrics(result)
    while batch := list(islice(metrics, METRICS_PER_REQUEST)):
        client.log_batch(identifier, metrics=batch)
    client.log_text(identifier, json.dumps(describe(result), indent=1, default=str), "record.json")
    if result.failed:
        client.log_text(identifier, result.failure, "failure.txt")
    else:
        client.log_text(identifier, _queries(result), "queries.csv")
    client.set_terminated(identifier, "FAILED" if result.failed else "FINISHED")
    return identifier


def _open(address: str) -> tuple[MlflowClient, str]:
    """Return a client and the experiment, which is created where it does not exist."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    files = None
    if address.startswith(SQLITE):
        database = Path(address.removeprefix(SQLITE)).absolute()
        database.parent.mkdir(parents=True, exist_ok=True)
        files = (database.parent / "artifacts").as_uri()
    # The first client of a new database creates its tables; MLflow fails if several do so at once.
    with FileLock(cache_folder() / "mlflow.lock"):
        client = MlflowClient(tracking_uri=address)
        experiment = client.get_experiment_by_name(EXPERIMENT)
        if experiment is not None:
            return client, str(experiment.experiment_id)
        return client, str(client.create_experiment(EXPERIMENT, artifact_location=files))


def _metrics(result: Result) -> Iterator[Metric]:
    now = int(1000 * time.time())
    for name, values in result.queries.items():
        if not np.isnan(values).all():
            yield Metric(_name(f"test {name}"), float(np.nanmean(values)), now, 0)
    for name, column in result.curve.columns.items():
        for iteration, value in zip(result.curve.iterations, column, strict=True):
            if np.isfinite(value):
                yield Metric(_name(name), float(value), now, iteration)


def _name(metric: str) -> str:
    """Replace @ and brackets, which MLflow does not allow in names."""
    return "".join(letter if letter.isalnum() or letter in "_-. /" else "_" for letter in metric)


def _queries(result: Result) -> str:
    import pandas as pd

    sink = io.StringIO()
    pd.DataFrame({"query": result.query_ids, **result.queries}).to_csv(sink, index=False)
    return sink.getvalue()
