"""Observer that records trials with MLflow, if the environment variable ``MLFLOW_TRACKING_URI`` names its store."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rankplug import hookimpl

ADDRESS = "MLFLOW_TRACKING_URI"
FOLDERS_ALLOWED = "MLFLOW_ALLOW_FILE_STORE"
DATABASE = "mlflow.db"
_warned: set[str] = set()


@hookimpl
def rankplug_trial_finished(trial: Any, result: Any) -> None:
    """Record the trial, if a tracking URI is set; a failure is reported once, not for every trial."""
    if not (address := os.environ.get(ADDRESS)):
        return
    try:
        from rankplug_mlflow.logger import log_trial

        log_trial(tracking_uri(address), result)
    except Exception as error:
        message = f"trials are not recorded in MLflow at {address}: {type(error).__name__}: {error}"
        if message not in _warned:
            _warned.add(message)
            warnings.warn(message, stacklevel=2)


def tracking_uri(address: str) -> str:
    """Return the address of MLflow's store; for a folder that of a SQLite database in it, as MLflow advises.

    MLflow stores runs in databases; plain folders such as ``./mlruns`` are in maintenance mode and refused unless
    ``MLFLOW_ALLOW_FILE_STORE`` is set.

    >>> tracking_uri("/results/mlruns"), tracking_uri("https://mlflow.example.org")
    ('sqlite:////results/mlruns/mlflow.db', 'https://mlflow.example.org')
    """
    parts = urlsplit(address)
    named = address.partition("-")[0] in ("databricks", "uc")
    if parts.scheme not in ("", "file") or named or os.environ.get(FOLDERS_ALLOWED, "").lower() in ("true", "1"):
        return address
    folder = Path(unquote(parts.path) if parts.scheme else address).absolute()
    return f"sqlite:///{(folder / DATABASE).as_posix()}"
