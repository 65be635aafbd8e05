"""Plans of sweeps: grids with folds and repetitions, which of their trials are done, and how long the others take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from rankplug.errors import DataError, GrammarError, shown
from rankplug.registry import registry
from rankplug.store import Combination, Trial, combinations, read_about
from rankplug.sweeps.sweep_progress import duration
from rankplug.sweeps.validation_choice import needed_trials
from rankplug.system import whole_number

if TYPE_CHECKING:
    from rankplug.store import Store

Folds = Iterable[int] | Literal["all"]
SECONDS = ("load_seconds", "fit_seconds", "measure_seconds")
"""Fields of a record whose sum is the time that its trial took."""


@dataclass(frozen=True)
class Plan:
    """Plan of a sweep: which trials are to run and which are done.

    Args:
        waiting: trials to run.
        done: trials that are finished.
        failed: trials whose last run failed and that are not run again.
        left_out: combinations whose backend cannot fit their scorer.
        measurable: those to run whose test scores are kept, so that nothing is trained.
        scored: those to run whose test scores the store is to keep.
    """

    waiting: tuple[Trial, ...]
    done: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()
    left_out: int = 0
    measurable: tuple[Trial, ...] = ()
    scored: tuple[Trial, ...] = ()

    @staticmethod
    def joined(plans: Iterable[Plan]) -> Plan:
        """Join several plans into one, with each trial once."""
        several = list(plans)

        def once(kind: str) -> tuple[Trial, ...]:
            trials = [trial for one in several for trial in getattr(one, kind)]
            return tuple({trial.identity: trial for trial in trials}.values())

        left_out = sum(one.left_out for one in several)
        return Plan(once("waiting"), once("done"), once("failed"), left_out, once("measurable"), once("scored"))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All of them."""
        return self.waiting + self.done + self.failed

    def expected_time(self, store: Store) -> ExpectedTime:
        """Estimate the time of what would be trained, not only measured, by the times that a store has recorded."""
        measurable = {trial.identity for trial in self.measurable}
        return expected_time([trial for trial in self.waiting if trial.identity not in measurable], store)

    def outlook(self, store: Store, jobs: int) -> str:
        """Say how long a run may take; empty where nothing waits, or packages lack, of which the run itself tells."""
        try:
            expected = self.expected_time(store)
        except ModuleNotFoundError:
            return ""
        return expected.sentence(jobs) if expected.trials else ""

    def kept(self, store: Store) -> str:
        """Say how many of the trials a store has."""
        return f"{sum(store.has(trial) for trial in self.trials)} of {len(self.trials)} trials are kept"

    def __str__(self) -> str:
        from_scores = f" ({len(self.measurable)} of them measured anew, from kept scores)" if self.measurable else ""
        words = [f"{len(self.waiting)} to run{from_scores}", f"{len(self.done)} done"]
        if self.failed:
            words.append(f"{len(self.failed)} failed before")
        if self.left_out:
            words.append(f"{self.left_out} impossible combinations left out")
        return ", ".join(words)


@dataclass(frozen=True)
class ExpectedTime:
    """Seconds that some trials take one after another.

    Args:
        seconds: of those whose like the store has.
        known: how many these are.
        trials: how many there are in all.
    """

    seconds: float
    known: int
    trials: int

    def sentence(self, jobs: int = 1) -> str:
        """Say about how long the trials take, some at a time.

        >>> ExpectedTime(90.0, 3, 3).sentence(jobs=3)
        'about 30 s, by the times recorded of such trials'
        """
        if not self.known:
            return "nothing like this has run here, so how long it takes is not known"
        some = f" for {self.known} of {self.trials}" if self.known < self.trials else ""
        told = f"about {duration(self.seconds / jobs)}{some}, by the times recorded of such trials"
        return f"{told}; nothing like the others has run here" if some else told


def expected_time(trials: Iterable[Trial], store: Store) -> ExpectedTime:
    """Estimate the time of trials by those of the same combination, else of the same data, backend and scorer."""
    wanted = [trial.combination for trial in trials]
    recorded: dict[Any, list[float]] = defaultdict(list)
    # One file a combination is read, so that a store of many trials is not read in whole.
    for path in {path.parent: path for path in store.files()}.values() if wanted else ():
        about = read_about(path)
        seconds = sum(about["record"].get(name) or 0.0 for name in SECONDS)
        parts = about["combination"]
        recorded[about["identity"]].append(seconds)
        recorded[parts["dataset"], parts["backend"], parts.get("scorer", "")].append(seconds)
    times = [
        recorded.get(trial.identity) or recorded.get((trial.dataset, trial.backend, trial.scorer)) or []
        for trial in wanted
    ]
    known = [fmean(seconds) for seconds in times if seconds]
    return ExpectedTime(sum(known), len(known), len(wanted))


def folds_of(combination: Combination, folds: Folds) -> tuple[int, ...]:
    """Return the requested folds of a combination's data set, or all of them."""
    there = registry().specification("dataset", combination.dataset).folds
    if folds == "all":
        return tuple(range(1, there + 1))
    chosen = tuple(folds)
    if bad := [fold for fold in chosen if not 1 <= fold <= there]:
        raise DataError(f"dataset {combination.dataset} has folds 1 to {there}, not {bad[0]}")
    return chosen


def _fold_numbers(folds: Any) -> tuple[int, ...]:
    numbers = tuple(folds) if isinstance(folds, Iterable) and not isinstance(folds, str) else ()
    if not numbers:
        raise GrammarError(f"folds are whole numbers such as 1,2,3, or all; got {shown(folds)}")
    return tuple(whole_number(fold, "fold") for fold in numbers)


@dataclass(frozen=True)
class Sweep:
    """Grids with their folds and repetitions.

    Args:
        grids: values for each part of a combination, see :func:`rankplug.store.combinations`.
        folds: of the data set, or ``"all"``.
        trials: repetitions with seeds of their own.
        fixed: parts that are the same in all combinations.
        keep_scores: keeps the scores of all test documents.
        choosing: of how many first trials of every combination of a grid validation data choose the one of which the
            others are; 0 for all trials of all.
    """

    grids: tuple[Mapping[str, Any], ...]
    folds: Folds = (1,)
    trials: int = 1
    fixed: Mapping[str, Any] = field(default_factory=dict)
    keep_scores: bool = False
    choosing: int = 0

    def with_repetitions(self, trials: int | None, folds: str | None) -> Sweep:
        """Return the sweep with other folds and trials, where they are given."""
        changed = self if trials is None else replace(self, trials=trials)
        return changed if folds is None else replace(changed, folds=read_folds(folds))

    def plan(self, store: Store, *, retry_failed: bool = False) -> Plan:
        """Plan which of the sweep's trials are to run and which are done.

        Where the first trials choose, those of what they choose are part of the plan once the first ones are done.
        """
        if not self.choosing:
            chosen, left_out = combinations(self.grids, **self.fixed)
            return _sorted_trials(self, self._trials(chosen), store, retry_failed, left_out)
        plans = []
        for grid in self.grids:
            chosen, left_out = combinations(grid, **self.fixed)
            needed = needed_trials(self._trials(chosen), self.choosing, store)
            plans.append(_sorted_trials(self, needed, store, retry_failed, left_out))
        return Plan.joined(plans)

    def _trials(self, chosen: Iterable[Combination]) -> list[Trial]:
        whole_number(self.trials, "trials", least=1)
        wanted: Folds = "all" if self.folds == "all" else _fold_numbers(self.folds)
        return [
            Trial(combination, fold, number)
            for combination in chosen
            for fold in folds_of(combination, wanted)
            for number in range(self.trials)
        ]


def plan_sweeps(sweeps: Iterable[Sweep], store: Store, *, retry_failed: bool = False) -> Plan:
    """Plan which trials of some sweeps are to run and which are done, each trial once."""
    return Plan.joined(sweep.plan(store, retry_failed=retry_failed) for sweep in sweeps)


def further_plans(sweeps: Collection[Sweep], store: Store) -> Iterator[Plan]:
    """Yield plans of what the first trials of some sweeps chose, which is known once these are done."""
    while any(sweep.choosing for sweep in sweeps) and (plan := plan_sweeps(sweeps, store)).waiting:
        yield plan


def _sorted_trials(asked: Sweep, trials: Iterable[Trial], store: Store, retry_failed: bool, left_out: int) -> Plan:
    """Sort trials into those to run and those that are done."""
    waiting, done, failed = [], [], []
    for trial in trials:
        if store.has(trial):
            done.append(trial)
        elif store.has_failed(trial) and not retry_failed:
            failed.append(trial)
        else:
            waiting.append(trial)
    scored = tuple(waiting) if asked.keep_scores else ()
    return Plan(tuple(waiting), tuple(done), tuple(failed), left_out, store.with_scores(waiting), scored)


def read_folds(text: Any) -> Folds:
    """Read folds such as ``1,2,3`` or ``all``.

    >>> read_folds("1,2"), read_folds(3), read_folds("all")
    ((1, 2), (3,), 'all')
    """
    if text == "all":
        return "all"
    given = text if isinstance(text, (list, tuple)) else str(text).split(",") if isinstance(text, (str, int)) else []
    parts = [str(part) if isinstance(part, (str, int)) else "" for part in given]
    if not parts or not all(part.strip().isdecimal() for part in parts):
        raise GrammarError(f"folds are whole numbers such as 1,2,3, or all; got {shown(text)}")
    return tuple(int(part) for part in parts)
