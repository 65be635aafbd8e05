"""One trial of a combination: load, fit, measure. The unit that is stored, repeated and never computed twice."""

from __future__ import annotations

import platform
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.combinations import Combination
from rankplug.errors import RankplugError
from rankplug.learning_curve import LearningCurve
from rankplug.registry import registry
from rankplug.seeds import trial_seed


@dataclass(frozen=True)
class Trial:
    """A fold and a repetition of a combination.

    Args:
        combination: what is trained on what.
        fold: of the data set, from 1.
        number: of the repetition, from 0; each has a seed of its own, shared by all combinations with one master seed.
    """

    combination: Combination
    fold: int = 1
    number: int = 0

    @property
    def identity(self) -> str:
        """The name of its result."""
        return f"{self.combination.identity}-f{self.fold}-t{self.number}"

    @property
    def seed(self) -> int:
        """Its seed, which does not depend on losses, scorers or backends, so that these are compared in pairs."""
        return trial_seed(self.combination.seed, self.number)

    def __str__(self) -> str:
        return f"{self.combination} fold {self.fold} trial {self.number}"


@dataclass(frozen=True)
class Result:
    """What a trial gave.

    Args:
        trial: whose result it is.
        queries: metric -> one value a test query, nan where the metric is undefined.
        query_ids: names of the test queries.
        curve: the metrics on train and validation data after each iteration.
        record: timings, versions, fingerprints; plain values.
        failure: the traceback of a trial that failed, empty otherwise.
    """

    trial: Trial
    queries: dict[str, NDArray[Any]] = field(default_factory=dict)
    query_ids: tuple[str, ...] = ()
    curve: LearningCurve = field(default_factory=LearningCurve)
    record: dict[str, Any] = field(default_factory=dict)
    failure: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure)


def run_trial(trial: Trial, progress: bool = False) -> Result:
    """The result of a trial; one that fails gives a result that says how, and raises nothing.

    Only a keyboard interrupt passes through: what was interrupted is neither done nor failed.
    """
    hooks = registry().manager.hook
    hooks.rankplug_trial_started(trial=trial)
    started = time.time()
    try:
        result = _run(trial, progress)
    except RankplugError as error:
        result = Result(trial, failure=f"{type(error).__name__}: {error}", record=_machine(started))
    except Exception:
        result = Result(trial, failure=traceback.format_exc(), record=_machine(started))
    hooks.rankplug_trial_finished(trial=trial, result=result)
    return result


def _run(trial: Trial, progress: bool) -> Result:
    from rankplug.datasets import load
    from rankplug.fitting import fit
    from rankplug.metrics import evaluate

    combination = trial.combination
    hooks = registry().manager.hook
    begin = time.perf_counter()
    train, valid, test = load(combination.dataset, fold=trial.fold, seed=trial.seed, transforms=combination.transforms)
    loaded = time.perf_counter()
    started = time.time()
    model = fit(
        combination.backend,
        scorer=combination.scorer or None,
        loss=combination.loss,
        sampler=combination.sampler or None,
        train=train,
        valid=valid,
        seed=trial.seed,
        selection=combination.selection,
        patience=combination.patience,
        progress=progress,
        callbacks=[
            lambda iteration, metrics: hooks.rankplug_trial_progressed(
                trial=trial, iteration=iteration, metrics=dict(metrics)
            )
        ],
    )
    fitted = time.perf_counter()
    scores = model.predict(test.features)
    queries = {metric: evaluate(scores, test, metric).to_numpy(np.float64) for metric in combination.metrics}
    measured = time.perf_counter()
    record = {
        **_machine(started),
        "versions": model.record.versions,
        "stopped": model.record.stopped,
        "load_seconds": loaded - begin,
        "fit_seconds": fitted - loaded,
        "measure_seconds": measured - fitted,
        "best_iteration": model.record.best_iteration,
        "train_fingerprint": train.fingerprint,
        "test_fingerprint": test.fingerprint,
        "queries": [len(train), len(valid), len(test)],
        "documents": [train.documents, valid.documents, test.documents],
        "features": train.features.shape[1],
        "memory_mb": _peak_memory(),
    }
    return Result(trial, queries, tuple(str(name) for name in test.query_ids), model.record.curve, record)


def _machine(started: float) -> dict[str, Any]:
    return {"started": started, "machine": platform.node(), "python": platform.python_version()}


def _peak_memory() -> float:
    """The largest resident memory of this process so far, in MB."""
    try:
        import resource
    except ImportError:
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
