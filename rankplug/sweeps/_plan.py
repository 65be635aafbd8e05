"""Plans of sweeps: grids from files, words or Python; which trials are done; whether data and packages are there.

A sweep file holds the parts of a grid, or a list of grids under ``grids``, with ``folds`` and ``trials`` beside them.
A grid may name its trials one by one, as pairs of a fold and a number under ``runs``. ``profiles`` names changes of the
file::

    dataset: synthetic
    backend: [lightgbm, xgboost]
    loss: [xe_ndcg, "lambdarank[sigma=[1,2]]"]
    trials: 5
    profiles:
      smoke: {dataset: "synthetic[queries=60]", trials: 1}

>>> read_words(["loss=[mse,xe_ndcg]", "backend=lightgbm", "dataset=synthetic[queries=60]"]).grids[0]["backend"]
'lightgbm'
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import yaml

from rankplug.errors import (
    DataError,
    FitError,
    GrammarError,
    MissingPackageError,
    NotRunError,
    RankplugError,
    did_you_mean,
    shown,
)
from rankplug.registry import DEEPEST, parse, registry, require_packages
from rankplug.store import IDENTITY, Combination, Trial, combinations, read_about
from rankplug.sweeps._progress import duration
from rankplug.system import require_modules, whole_number
from rankplug.training import LOSS

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Store

Folds = Iterable[int] | Literal["all"]
SECONDS = ("load_seconds", "fit_seconds", "measure_seconds")
"""Fields of a record whose sum is the time of its trial."""
MOST_COMPARED = 100
"""Combinations whose times are read to estimate those of new ones, the latest first."""
RUNS = "runs"
BESIDE_GRIDS = ("grids", "folds", "trials", "profiles")


@dataclass(frozen=True)
class Plan:
    """Plan of a sweep: which trials are to run and which are done.

    Args:
        waiting: trials to run.
        done: trials that are finished.
        failed: trials whose last run failed and that are not run again.
        left_out: number of combinations whose backend cannot fit their scorer.
        measurable: waiting trials whose test scores are stored, so that nothing is trained.
        scored: waiting trials whose test scores are to be stored.
        sweeps: the sweeps that were planned.
        retry_failed: whether trials that failed before are among the waiting ones.
    """

    waiting: tuple[Trial, ...]
    done: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()
    left_out: int = 0
    measurable: tuple[Trial, ...] = ()
    scored: tuple[Trial, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    retry_failed: bool = False

    @staticmethod
    def joined(plans: Iterable[Plan]) -> Plan:
        """Join several plans into one, with each trial once."""
        several = list(plans)
        groups: dict[str, Any] = {
            name: tuple({trial.identity: trial for plan in several for trial in getattr(plan, name)}.values())
            for name in ("waiting", "done", "failed", "measurable", "scored")
        }
        return Plan(**groups, left_out=sum(plan.left_out for plan in several))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials."""
        return self.waiting + self.done + self.failed

    def expected_time(self, store: Store) -> ExpectedTime:
        """Estimate the time of the trials that would be trained, by the times that a store has recorded."""
        measurable = {trial.identity for trial in self.measurable}
        return expected_time([trial for trial in self.waiting if trial.identity not in measurable], store)

    def outlook(self, store: Store, jobs: int) -> str:
        """Describe how long a run may take; empty where nothing waits or packages are missing."""
        try:
            expected = self.expected_time(store)
        except ModuleNotFoundError:
            return ""
        return expected.sentence(jobs) if expected.trials else ""

    def kept(self, store: Store) -> str:
        """Describe how many of the trials a store has."""
        return f"{sum(store.has(trial) for trial in self.trials)} of {len(self.trials)} trials are stored"

    def __str__(self) -> str:
        from_scores = f" ({len(self.measurable)} of them measured from stored scores)" if self.measurable else ""
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
        seconds: time of the trials for which the store has similar ones.
        known: number of these trials.
        trials: number of all trials.
    """

    seconds: float
    known: int
    trials: int

    def sentence(self, jobs: int = 1) -> str:
        """Describe how long the trials take, several at a time.

        >>> ExpectedTime(90.0, 3, 3).sentence(jobs=3)
        'about 30 s, by the recorded times of such trials'
        """
        if not self.known:
            return "first run, no time estimate"
        some = f" for {self.known} of {self.trials}" if self.known < self.trials else ""
        text = f"about {duration(self.seconds / jobs)}{some}, by the recorded times of such trials"
        return f"{text}; no estimate for the others" if some else text


def expected_time(trials: Iterable[Trial], store: Store) -> ExpectedTime:
    """Estimate the time of trials by those of the same combination, else of the same data, backend and scorer.

    At most a few hundred files are read, however large the store is.
    """
    planned = [trial.combination for trial in trials]
    times: dict[Any, list[float]] = defaultdict(list)

    def similar(parts: Mapping[str, Any]) -> tuple[str, ...]:
        return parts["dataset"], parts["backend"], parts["scorer"]

    for folder in _latest_folders(store.folder, {combination.identity for combination in planned}) if planned else ():
        for path in sorted(folder.glob("*.parquet"))[:1]:
            about = read_about(path)
            seconds = sum(about["record"].get(name) or 0.0 for name in SECONDS)
            times[about["identity"]].append(seconds)
            times[similar(about["combination"])].append(seconds)
    known = [
        fmean(seconds)
        for combination in planned
        if (seconds := times.get(combination.identity) or times.get(similar(combination.model_dump())))
    ]
    return ExpectedTime(sum(known), len(known), len(planned))


def _latest_folders(folder: Path, own: Collection[str]) -> list[Path]:
    """Return the folders of results of some combinations, and the latest of others."""
    folders = [path for path in folder.glob("*/") if IDENTITY.fullmatch(path.name)]
    folders.sort(key=lambda path: -path.stat().st_mtime)
    groups = [[path for path in folders if (path.name in own) == mine] for mine in (True, False)]
    return [path for group in groups for path in group[:MOST_COMPARED]]


def folds_of(combination: Combination, folds: Folds) -> tuple[int, ...]:
    """Return the requested folds of a combination's data set, or all of them."""
    there = registry().specification("dataset", combination.dataset).folds
    if folds == "all":
        return tuple(range(1, there + 1))
    chosen = tuple(folds)
    if bad := [fold for fold in chosen if not 1 <= fold <= there]:
        raise DataError(f"dataset {combination.dataset} has folds 1 to {there}, not {bad[0]}")
    return chosen


@dataclass(frozen=True)
class Sweep:
    """Grids with their folds and repetitions.

    Args:
        grids: values for each part of a combination, see :func:`rankplug.store.combinations`; ``runs`` in a grid names
            its trials, as pairs of a fold and a number, in place of ``folds`` and ``trials``.
        folds: folds of the data set, or ``"all"``.
        trials: number of repetitions, each with its own seed.
        fixed: parts that are the same in all combinations.
        keep_scores: whether to store the scores of all test documents.
        choosing: number of first trials of every combination of a grid by which validation data choose the one that
            the other trials are of; 0 for all trials of all combinations.
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
        apart = self.choosing or any(isinstance(grid, Mapping) and RUNS in grid for grid in self.grids)
        plans = []
        for grids in [(grid,) for grid in self.grids] if apart else [self.grids]:
            runs = grids[0].get(RUNS) if apart else None
            plain = [{**grid} if isinstance(grid, Mapping) else grid for grid in grids]
            if apart:
                plain[0].pop(RUNS, None)
            selected, left_out = combinations(plain, **self.fixed)
            trials = needed_trials(self._trials(selected, runs), self.choosing, store)
            states: dict[str, list[Trial]] = {"waiting": [], "done": [], "failed": []}
            for trial in trials:
                failed = not retry_failed and store.has_failed(trial)
                states["done" if store.has(trial) else "failed" if failed else "waiting"].append(trial)
            waiting, done, failures = map(tuple, states.values())
            scored = waiting if self.keep_scores else ()
            plans.append(Plan(waiting, done, failures, left_out, store.with_scores(waiting), scored))
        return replace(Plan.joined(plans), sweeps=(self,), retry_failed=retry_failed)

    def _trials(self, selected: Iterable[Combination], runs: Any) -> list[Trial]:
        if runs is None:
            whole_number(self.trials, "trials", least=1)
            folds = read_folds(self.folds)
            return [
                Trial(combination, fold, number)
                for combination in selected
                for fold in folds_of(combination, folds)
                for number in range(self.trials)
            ]
        pairs = runs if isinstance(runs, (list, tuple)) else ()
        if not pairs or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise GrammarError(
                f"runs are pairs of a fold and the number of a trial, such as [[1, 0]]; got {shown(runs)}"
            )
        return [
            Trial(combination, fold, whole_number(number, "the number of a trial"))
            for combination in selected
            for number_of_fold, number in pairs
            for fold in folds_of(combination, (whole_number(number_of_fold, "fold"),))
        ]


def plan_sweeps(sweeps: Iterable[Sweep], store: Store, *, retry_failed: bool = False) -> Plan:
    """Plan which trials of some sweeps are to run and which are done, each trial once."""
    several = tuple(sweeps)
    plan = Plan.joined(sweep.plan(store, retry_failed=retry_failed) for sweep in several)
    return replace(plan, sweeps=several, retry_failed=retry_failed)


def further_plans(sweeps: Collection[Sweep], store: Store) -> Iterator[Plan]:
    """Yield plans of the trials that follow from what the first trials chose, once these are done."""
    while any(sweep.choosing for sweep in sweeps) and (plan := plan_sweeps(sweeps, store)).waiting:
        yield plan


def read_folds(folds: Any) -> Folds:
    """Read folds such as ``1,2,3``, several numbers, or ``all``.

    >>> read_folds("1,2"), read_folds(3), read_folds("all")
    ((1, 2), (3,), 'all')
    """
    if isinstance(folds, str) and folds == "all":
        return "all"
    several = str(folds).split(",") if isinstance(folds, (str, int)) else folds if isinstance(folds, Iterable) else ()
    parts = [str(part) if isinstance(part, (str, Integral)) else "" for part in several]
    if not parts or not all(part.strip().isdecimal() for part in parts):
        raise GrammarError(f"folds are whole numbers such as 1,2,3, or all; got {shown(folds)}")
    return tuple(int(part) for part in parts)


def read_words(words: Iterable[str]) -> Sweep:
    """Read a grid such as ``loss=[mse,xe_ndcg] backend=lightgbm``."""
    return Sweep((parse(f"grid[{','.join(words)}]").parameters,))


def read_file(path: Path, profile: str | None = None) -> Sweep:
    """Read the sweep in a YAML file, with the changes of a profile."""
    try:
        text = path.read_text(encoding="utf-8")
        _check_structure(text, path)
        content = yaml.safe_load(text)
    except OSError as error:
        raise GrammarError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise GrammarError(f"{path} is not YAML in UTF-8: {' '.join(str(error).split())[:300]}") from None
    if not isinstance(content, Mapping):
        raise GrammarError(f"{path} must map the parts of a combination to values, such as loss: [xe_ndcg, lambdarank]")
    profiles = content.get("profiles") or {}
    if not isinstance(profiles, Mapping) or not all(isinstance(changes, Mapping) for changes in profiles.values()):
        raise GrammarError(f"{path}: profiles must map names to changes, such as smoke: {{trials: 1}}")
    if profile is not None and profile not in profiles:
        raise GrammarError(f"{path} has no profile {profile}: {did_you_mean(profile, profiles)}")
    parts = {**content, **(profiles[profile] if profile else {})}
    known = [*Combination.model_fields, *BESIDE_GRIDS, RUNS]
    for name in parts:
        if name not in known:
            raise GrammarError(f"{path}: a sweep has no part {name}: {did_you_mean(str(name), known)}")
    grids = parts.get("grids") or [{}]
    if not isinstance(grids, list) or not all(isinstance(grid, Mapping) for grid in grids):
        raise GrammarError(f"{path}: grids must be a list of grids, such as - loss: [mse], got {shown(grids)}")
    shared = {name: value for name, value in parts.items() if name not in BESIDE_GRIDS}
    trials = whole_number(parts.get("trials", 1), f"{path}: trials", least=1)
    return Sweep(tuple({**shared, **grid} for grid in grids), read_folds(parts.get("folds", 1)), trials)


def _check_structure(text: str, path: Path) -> None:
    """Refuse YAML nested so deep, or with aliases that repeat so often, that building it exhausts time or memory."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise GrammarError(f"{path} is nested more than {DEEPEST} deep")
        if isinstance(event, yaml.AliasEvent):
            raise GrammarError(f"{path}: write out the alias *{event.anchor}")


def require(trials: Iterable[Trial], modules: Iterable[str] = ()) -> None:
    """Check that packages and data of trials are there, with one error for all problems; prepare data from files.

    Otherwise every trial would report it, and every worker would wait for the one that prepares.

    Args:
        trials: trials that will run.
        modules: further modules that are needed.
    """
    several = list(trials)
    problems: dict[str, None] = {}
    try:
        require_modules(*modules)
    except MissingPackageError as error:
        problems[str(error)] = None
    for backend in dict.fromkeys(trial.combination.backend for trial in several):
        try:
            require_packages(registry().specification("backend", backend))
        except FitError as error:
            problems[str(error)] = None
    for fold in sorted({(trial.combination.dataset, trial.fold) for trial in several}):
        try:
            _prepare(*fold)
        except RankplugError as error:
            problems[str(error)] = None
    if problems:
        raise NotRunError(f"nothing has run, as something is missing: {'; '.join(problems)}")


def _prepare(dataset: str, fold: int) -> None:
    """Prepare a fold of a data set that consists of files."""
    from rankplug.data import StoredDataset

    specification, parameters = registry().resolve("dataset", dataset)
    stored = specification.load()
    if isinstance(stored, StoredDataset):
        stored(parameters, fold, 0)


def planned_on_data(plan: Plan, store: Store) -> Plan:
    """Return the plan once its data are prepared.

    The fingerprints of some data sets, which identify results, are only known then; where one is new, the same sweeps
    are planned again.
    """
    data_sets = {trial.combination.dataset: trial.combination for trial in plan.waiting}
    if all(
        Combination(**combination.model_dump()).data_fingerprint == combination.data_fingerprint
        for combination in data_sets.values()
    ):
        return plan
    return plan_sweeps(plan.sweeps, store, retry_failed=plan.retry_failed)


def validation_quality(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over trials of the best validation value, higher is better: a row a combination, a column a fold.

    Where several metrics select the iteration, the first of them counts; a validation loss counts with its sign turned.
    """
    selecting = frame["selection"].str.split(" | ", regex=False).str[0]
    watched = frame[(frame["measure"] == "curve") & (frame["part"] == "valid") & (frame["metric"] == selecting)]
    values = watched["value"].where(watched["metric"] != LOSS, -watched["value"])
    best = values.groupby([watched["combination"], watched["fold"], watched["trial"]], observed=True).max()
    return best.groupby(["combination", "fold"], observed=True).mean().unstack("fold")


def chosen_on_validation(frame: pd.DataFrame, choosing: int = 0) -> pd.DataFrame:
    """Return the rows of the combination that is best on each fold's validation data; all rows of a single one.

    Args:
        frame: rows of a grid's results.
        choosing: number of first trials that choose; all choose where it is 0.
    """
    if frame["combination"].nunique() <= 1:
        return frame
    best = validation_quality(frame[frame["trial"] < choosing] if choosing else frame).idxmax()
    return frame[frame["combination"] == frame["fold"].map(best)].reset_index(drop=True)


def needed_trials(trials: Sequence[Trial], choosing: int, store: Store) -> list[Trial]:
    """Return those trials of a grid that are needed where only the first ones choose among its combinations.

    They are the first of every combination, and the others of the one that is best on the validation data of their
    fold, once a store has all of the first ones there.

    Args:
        trials: trials of all combinations, folds and repetitions.
        choosing: number of first trials of a combination and fold that choose; all are needed where it is 0.
        store: the store of the results.
    """
    if not choosing or len({trial.combination.identity for trial in trials}) == 1:
        return list(trials)
    first = [trial for trial in trials if trial.number < choosing]
    if len(first) == len(trials):
        return first
    open_folds = {trial.fold for trial in first if not store.has(trial)}
    finished = [trial for trial in first if trial.fold not in open_folds]
    best: dict[Any, Any] = validation_quality(store.frame(finished)).idxmax().to_dict() if finished else {}
    return [trial for trial in trials if trial.number < choosing or best.get(trial.fold) == trial.combination.identity]
