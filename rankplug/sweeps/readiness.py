"""Checks before trials run: the packages of their backends and their data are here, data prepared once for all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from rankplug.errors import DataError, FitError, MissingPackageError, NotRunError, RankplugError
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
    for fold, group in itertools.groupby(sorted(several, key=_fold_of), key=_fold_of):
        try:
            _prepare(*fold, [trial.combination for trial in group])
        except RankplugError as error:
            problems[str(error)] = None
    if problems:
        raise NotRunError(f"nothing has run, as something is missing: {'; '.join(problems)}")


def _fold_of(trial: Trial) -> tuple[str, int]:
    return trial.combination.dataset, trial.fold


def _prepare(dataset: str, fold: int, combinations: Iterable[Combination]) -> None:
    """Prepare a fold of a data set that lies in files, and check that the backends can use its missing values."""
    from rankplug.data import StoredDataset, load
    from rankplug.training import check_complete

    specification, parameters = registry().resolve("dataset", dataset)
    stored = specification.load()
    if not isinstance(stored, StoredDataset):
        return
    split = stored(parameters, fold, 0)
    for backend, transforms in dict.fromkeys((part.backend, tuple(part.transforms)) for part in combinations):
        engine = registry().specification("backend", backend)
        if engine.missing_values:
            continue
        try:
            check_complete(str(engine), split._asdict())
        except DataError:
            # Transforms may fill in values, or leave features out.
            if transforms:
                split_of_trial = load(dataset, fold=fold, transforms=transforms)
                check_complete(str(engine), split_of_trial._asdict())
            else:
                raise


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
