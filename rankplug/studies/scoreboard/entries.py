"""Runs that a store holds of the papers' models, each with the conditions under which it may be compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Collection as Several
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankplug.registry import parse
from rankplug.store import Store, combinations
from rankplug.studies.papers import Study
from rankplug.studies.runs import PROFILES, Profile, is_made
from rankplug.studies.scoreboard.stored_trials import (
    Key,
    StoredTrial,
    latest_versions,
    means_of_trials,
    series_of,
    stored_trials,
    trials_asked,
    validation_curves,
)
from rankplug.sweeps import chosen_on_validation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, order=True)
class Method:
    """A model of a paper.

    Args:
        study: the paper.
        model: its name there.
        kind: of the runs, where the paper has several models of one name.
    """

    study: str
    model: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.kind}" if self.kind else self.model


@dataclass(frozen=True, order=True)
class Collection:
    """Data on which methods are compared.

    Args:
        dataset: as its combinations name it.
        transforms: that were applied to it.
        fingerprint: of its data, where the parameters do not determine them.
        place: the name of the paper's data set in whose place it stands, or its own.
        variant: counts collections whose test data differ although they are named alike.
    """

    dataset: str
    transforms: tuple[str, ...]
    fingerprint: str
    place: str = field(default="", compare=False)
    variant: int = 0

    @property
    def made(self) -> bool:
        """Tell whether a program generated the data."""
        return is_made(self.dataset)

    @property
    def title(self) -> str:
        """A short name: the collection's own, or the one in whose place made data stand."""
        if not self.made:
            return self.dataset.partition("[")[0].upper()
        shape = parse(self.dataset).parameters.get("shape", "")
        return f"made as {self.place.removeprefix('made as ') or str(shape).upper() or self.dataset}"

    @property
    def details(self) -> str:
        """The data set and its transforms in full."""
        return " | ".join([self.dataset, *self.transforms]) + (f" ({self.variant + 1})" if self.variant else "")


@dataclass(frozen=True, order=True)
class Conditions:
    """Conditions under which runs may be compared; no mean mixes two of them.

    Args:
        profile: size of the runs.
        made: whether the data are made.
        metric: with its conventions.
        origin: where merged results come from; empty for those that were computed here.
        versions: of packages, where they are not the latest that results of this origin have.
        seed: the master seed.
    """

    profile: Profile
    made: bool
    metric: str
    origin: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    seed: int = 0

    @property
    def title(self) -> str:
        """The conditions in words, those left out that are as usual."""
        words = [f"profile {self.profile}", "made data" if self.made else "real data", self.metric]
        words += [f"results from {self.origin}"] if self.origin else []
        words += [f"{package} {version}" for package, version in self.versions]
        words += [f"seed {self.seed}"] if self.seed else []
        return ", ".join(words)


@dataclass(frozen=True, eq=False)
class Entry:
    """Runs of one method on one collection.

    Args:
        method: that was run.
        collection: what on.
        conditions: under which.
        values: of the metric, a row for each trial and fold.
        identities: the combinations behind them.
        records: what is known of the trials.
        asked: trials and folds that the profile asks for.
    """

    method: Method
    collection: Collection
    conditions: Conditions
    values: pd.Series[float]
    identities: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]
    asked: int

    @property
    def tests(self) -> dict[Key, str]:
        """Digest of the test data of each trial and fold."""
        return {
            (record["trial"], record["fold"]): str(record["record"].get("test_fingerprint")) for record in self.records
        }


def entries(chosen: Iterable[Study], store: Store, metric: str, profiles: Several[str] = PROFILES) -> list[Entry]:
    """Return what a store holds of the runs of some studies.

    Args:
        chosen: the studies.
        store: where results lie.
        metric: by name; any conventions of it unless they are named too.
        profiles: sizes of the runs.
    """
    stored = stored_trials(store)
    if not stored:
        return []
    means = means_of_trials(store, metric, (trial for several in stored.values() for trial in several))
    told = list(_stored_models(chosen, stored, profiles))
    latest = latest_versions(trial for each in told for trial in each.trials)
    # One question for all models: each opens the whole store.
    curves = functools.cache(lambda: validation_curves(store))
    return _distinctly_named([entry for each in told for entry in each.entries(latest, means, curves)])


@dataclass(frozen=True)
class ModelTrials:
    """A model's trials at a profile, those of them that are stored."""

    method: Method
    kind: str
    profile: Profile
    place: str
    asked: int
    choices: int
    trials: tuple[StoredTrial, ...]

    def entries(
        self,
        latest: Mapping[str, Mapping[str, str]],
        means: Mapping[tuple[str, int, int], Mapping[str, float]],
        curves: Callable[[], pd.DataFrame],
    ) -> Iterator[Entry]:
        """Yield what was stored, apart by conditions.

        Args:
            latest: versions of packages, by origin.
            means: of trials, by metric.
            curves: reads the validation curves of all trials.
        """
        groups: dict[Any, list[StoredTrial]] = {}
        for trial in self.trials:
            versions = sorted(trial.versions.items() - latest[trial.origin].items())
            # Should results be told apart by something that no version says, their names tell it.
            versions += [("results", trial.key[0])] if trial.key[0] in self._renamed(latest[trial.origin]) else []
            parts = trial.about["combination"]
            key = (trial.origin, tuple(versions), parts["seed"], trial.about.get("data_fingerprint", ""))
            groups.setdefault(key, []).append(trial)
        for (origin, versions, seed, fingerprint), trials in sorted(groups.items(), key=lambda item: item[0]):
            chosen = self._chosen(trials, curves)
            if not chosen:
                continue
            parts = chosen[0].about["combination"]
            collection = Collection(parts["dataset"], tuple(parts["transforms"]), fingerprint, self.place)
            for metric in sorted({name for trial in chosen for name in means.get(trial.key, {})}):
                values = {
                    (trial.about["trial"], trial.about["fold"]): value
                    for trial in chosen
                    if (value := means.get(trial.key, {}).get(metric)) is not None
                }
                conditions = Conditions(self.profile, collection.made, metric, origin, versions, seed)
                identities = tuple(dict.fromkeys(str(trial.about["identity"]) for trial in chosen))
                records = tuple(trial.about for trial in chosen)
                method = replace(self.method, kind=self.kind)
                yield Entry(method, collection, conditions, series_of(values), identities, records, self.asked)

    def _renamed(self, latest: Mapping[str, str]) -> set[str]:
        """Return the names of results beside which others of the same parts, seed and versions have another name."""
        names: dict[Any, set[str]] = {}
        for trial in self.trials:
            about = (
                trial.origin,
                trial.parts,
                trial.about["combination"]["seed"],
                trial.about.get("data_fingerprint", ""),
            )
            names.setdefault((about, frozenset(trial.versions.items() - latest.items())), set()).add(trial.key[0])
        return {name for several in names.values() if len(several) > 1 for name in sorted(several)[1:]}

    def _chosen(self, trials: list[StoredTrial], curves: Callable[[], pd.DataFrame]) -> list[StoredTrial]:
        """Return the trials of the combination that validation data choose where there are several."""
        several = {trial.parts for trial in trials}
        if self.choices == 1:
            return trials
        if len(several) < self.choices:
            return []
        frame = curves()
        own = frame[frame["combination"].isin([trial.about["identity"] for trial in trials])]
        named = {trial.key for trial in trials}
        keys = zip(own["combination"], own["fold"], own["trial"], strict=True)
        frame = chosen_on_validation(own[[key in named for key in keys]])
        rows = set(frame[["combination", "fold"]].drop_duplicates().itertuples(index=False, name=None))
        return [trial for trial in trials if (trial.about["identity"], trial.about["fold"]) in rows]


def _stored_models(
    chosen: Iterable[Study], stored: Mapping[str, list[StoredTrial]], profiles: Several[str]
) -> Iterator[ModelTrials]:
    """Yield the models of which the store has any trial that a profile asks for."""
    datasets = {trial.about["combination"]["dataset"] for several in stored.values() for trial in several}
    for study in chosen:
        for profile in PROFILES:
            if profile not in profiles:
                continue
            for runs in study.runs(profile, None):
                for model in runs.models:
                    grid = runs.grid(model)
                    if not any(str(parse(name)) in datasets for name in _datasets(grid)):
                        continue
                    wanted = combinations(grid)[0]
                    trials = tuple(trials_asked(wanted, runs, stored))
                    if trials:
                        asked = len(runs.folds) * runs.trials
                        method, dataset = Method(study.name, model), runs.place
                        yield ModelTrials(method, runs.kind or runs.name, profile, dataset, asked, len(wanted), trials)


def _datasets(grid: Mapping[str, Any]) -> list[Any]:
    named = grid.get("dataset", ())
    return [named] if isinstance(named, str) else list(named)


def _distinctly_named(given: list[Entry]) -> list[Entry]:
    """Name the kind of runs only where a paper has several models of one name, and leave out what stands twice."""
    named: dict[Any, set[tuple[str, ...]]] = {}
    for entry in given:
        key = (entry.method.study, entry.method.model, entry.conditions, entry.collection)
        named.setdefault(key, set()).add(entry.identities)
    several = {(key[0], key[1], key[2].profile) for key, identities in named.items() if len(identities) > 1}
    entries: dict[Any, Entry] = {}
    for entry in given:
        study, model, profile = entry.method.study, entry.method.model, entry.conditions.profile
        method = entry.method if (study, model, profile) in several else Method(study, model)
        entries.setdefault(
            (study, model, entry.conditions, entry.collection, entry.identities), replace(entry, method=method)
        )
    return list(entries.values())
