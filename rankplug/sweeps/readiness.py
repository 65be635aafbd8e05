"""Checks before trials run: the packages of their backends and their data are here, data prepared once for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from rankplug.errors import FitError, MissingPackageError, NotRunError, RankplugError
from rankplug.registry import registry, require_packages
from rankplug.store import Combination, read_combination
from rankplug.system import require_modules

if TYPE_CHECKING:
    from rankplug.store import Store, Trial
    from rankplug.sweeps.plans import Plan


def require(trials: Iterable[Trial], modules: Iterable[str] = ()) -> None:
    """Check that trials have their packages and data, naming all problems in one error, and prepare data that lie in
    files.

    Without it every trial would find out for itself, and every worker would wait for the one that prepares.

    Args:
        trials: to be run.
        modules: what is to be done with their results needs.
    """
    several = list(trials)
    problems: dict[str, None] = {}
    commands: set[str] = set()
    for module in modules:
        try:
            require_modules(module)
        except MissingPackageError as error:
            # One package of an extra stands for all that the same command installs.
            *_, command = str(error).rpartition(": ")
            if command not in commands:
                problems[str(error)] = None
            commands.add(command)
    for backend in dict.fromkeys(trial.combination.backend for trial in several):
        try:
            require_packages(registry().specification("backend", backend))
        except FitError as error:
            problems[str(error)] = None
    for dataset, fold in dict.fromkeys((trial.combination.dataset, trial.fold) for trial in several):
        try:
            _prepare(dataset, fold)
        except RankplugError as error:
            problems[str(error)] = None
    if problems:
        raise NotRunError(f"nothing has run, as something is missing: {'; '.join(problems)}")


def _prepare(dataset: str, fold: int) -> None:
    """Prepare a fold of a data set that lies in files, where that has not been done."""
    from rankplug.data import StoredDataset

    specification, parameters = registry().resolve("dataset", dataset)
    stored = specification.load()
    if isinstance(stored, StoredDataset):
        stored(parameters, fold, 0)


def renewed(todo: Plan, store: Store) -> Plan:
    """Plan again once the data are prepared: the fingerprints of some data sets, which name results, are known only
    then.
    """
    there: dict[str, bool] = {}
    for trial in todo.waiting:
        dataset = trial.combination.dataset
        if dataset not in there:
            there[dataset] = _again(trial.combination).data_fingerprint == trial.combination.data_fingerprint
    if all(there.values()):
        return todo
    fresh: dict[str, Combination] = {}
    trials = []
    for trial in todo.trials:
        planned = trial.combination
        if planned.identity not in fresh:
            fresh[planned.identity] = planned if there.get(planned.dataset, True) else _again(planned)
        trials.append(replace(trial, combination=fresh[planned.identity]))
    done = {trial.identity for trial in trials if store.has(trial)}
    failed = {trial.identity for trial in trials[len(todo.waiting) :] if store.has_failed(trial)} - done
    waiting = tuple(trial for trial in trials if trial.identity not in done | failed)
    asked = {trial.identity for trial in todo.scored}
    scored = {fresh.identity for planned, fresh in zip(todo.trials, trials, strict=True) if planned.identity in asked}
    return replace(
        todo,
        waiting=waiting,
        measurable=store.with_scores(waiting),
        scored=tuple(trial for trial in waiting if trial.identity in scored),
        done=tuple(trial for trial in trials if trial.identity in done),
        failed=tuple(trial for trial in trials if trial.identity in failed),
    )


def _again(combination: Combination) -> Combination:
    """Read a combination again, without what it knew of its data."""
    return read_combination(combination.model_dump())
