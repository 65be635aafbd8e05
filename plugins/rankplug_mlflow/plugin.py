"""Observer that records trials with MLflow, if an environment variable says where."""

from __future__ import annotations

import os
from typing import Any

from rankplug import hookimpl

WHERE = "MLFLOW_TRACKING_URI"


@hookimpl
def rankplug_trial_finished(trial: Any, result: Any) -> None:
    """Record the trial, if a tracking URI is set."""
    if os.environ.get(WHERE):
        from rankplug_mlflow.logger import log_trial

        log_trial(os.environ[WHERE], result)
