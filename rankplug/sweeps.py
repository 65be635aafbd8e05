"""Runs combinations that are not finished yet, and leaves those that are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankplug.combinations import Combination, combinations
from rankplug.store import Store
from rankplug.threads import use_threads
from rankplug.trials import Trial, run_trial

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Plan:
    """What a sweep would do.

    Args:
        waiting: trials to run.
        done: trials that are finished.
        failed: trials whose last run failed and that are not run again.
        left_out: combinations whose backend cannot fit their scorer.
    """

    waiting: tuple[Trial, ...]
    done: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()
    left_out: int = 0

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All of them."""
        return self.waiting + self.done + self.failed

    def __str__(self) -> str:
        words = [f"{len(self.waiting)} to run", f"{len(self.done)} done"]
        if self.failed:
            words.append(f"{len(self.failed)} failed before")
        if self.left_out:
            words.append(f"{self.left_out} impossible combinations left out")
        return ", ".join(words)


@dataclass
class Outcome:
    """What a sweep did; ``frame()`` gives the results."""

    plan: Plan
    store: Store
    failures: list[str] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """All rows of the sweep's finished trials."""
        return self.store.frame(self.plan.trials)


def plan(
    chosen: Iterable[Combination],
    *,
    store: Store,
    folds: Iterable[int] = (1,),
    trials: int = 1,
    retry_failed: bool = False,
    left_out: int = 0,
) -> Plan:
    """Sorts the trials of some combinations into those to run and those that are done."""
    waiting, done, failed = [], [], []
    for combination in chosen:
        for fold in folds:
            for number in range(trials):
                trial = Trial(combination, fold, number)
                if store.has(trial):
                    done.append(trial)
                elif store.has_failed(trial) and not retry_failed:
                    failed.append(trial)
                else:
                    waiting.append(trial)
    return Plan(tuple(waiting), tuple(done), tuple(failed), left_out)


def sweep(
    grid: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    store: Store | None = None,
    folds: Iterable[int] = (1,),
    trials: int = 1,
    retry_failed: bool = False,
    progress: bool = True,
    **fixed: Any,
) -> Outcome:
    """Runs every trial of a grid that is not finished, and gives access to all results.

    Args:
        grid: values for each part of a combination, see :func:`rankplug.combinations.combinations`.
        store: where results go.
        folds: of the data set.
        trials: repetitions with seeds of their own.
        retry_failed: runs trials again that failed before.
        progress: shows a bar.
        fixed: parts that are the same in all combinations, such as ``dataset="synthetic"``.
    """
    from tqdm.auto import tqdm

    chosen, left_out = combinations(grid, **fixed)
    results = store or Store()
    todo = plan(chosen, store=results, folds=tuple(folds), trials=trials, retry_failed=retry_failed, left_out=left_out)
    outcome = Outcome(todo, results)
    with use_threads():
        for trial in tqdm(todo.waiting, unit="trial", disable=not progress):
            result = run_trial(trial)
            results.write(result)
            if result.failed:
                outcome.failures.append(f"{trial}: {result.failure.strip().splitlines()[-1]}")
    return outcome
