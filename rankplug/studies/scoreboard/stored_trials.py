"""Results of a store as the scoreboard needs them: what was asked for, origin, versions and means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.store import ADDED_PARTS, Store, origins_of, query, results
from rankplug.studies.runs import Runs, number_on

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Combination

Key = tuple[int, int]
"""Trial and fold."""
MEANS = ["combination", "fold", "trial", "metric", "value"]


@dataclass(frozen=True)
class StoredTrial:
    """A result of the store as the scoreboard needs it."""

    path: Path
    about: Mapping[str, Any]
    origin: str
    versions: Mapping[str, str]
    parts: str

    @property
    def key(self) -> tuple[str, int, int]:
        """Combination, fold and number."""
        return str(self.about["identity"]), self.about["fold"], self.about["trial"]


def stored_trials(store: Store) -> dict[str, list[StoredTrial]]:
    """Return all results of a store by what was asked for."""
    indexed, origins = store.find(), origins_of(store.folder)
    stored: dict[str, list[StoredTrial]] = {}
    for path, about in zip(indexed.paths, indexed.descriptions, strict=True):
        origin = origins.get(path.relative_to(store.folder).as_posix(), "")
        trial = StoredTrial(path, about, origin, _versions(about), asked_parts(about["combination"]))
        stored.setdefault(trial.parts, []).append(trial)
    return stored


def asked_parts(combination: Mapping[str, Any]) -> str:
    """Return what was asked for but the seed, which is a condition, and the metrics, which change no model.

    A part that is empty, or a training curve that is there, is as one that results from before it do not have.

    >>> asked_parts({"loss": "mse", "debias": ""}) == asked_parts({"loss": "mse", "seed": 1})
    True
    """
    asked = {name: value for name, value in combination.items() if name not in ("seed", "metrics")}
    changed = {name: value for name, value in asked.items() if value not in ("", None, ADDED_PARTS.get(name))}
    return json.dumps(changed, sort_keys=True)


def _versions(about: Mapping[str, Any]) -> dict[str, str]:
    """Return all versions on a trial's record, and the digests of code that is being written."""
    versions: dict[str, Any] = {}
    for plugin in (plugin for plugins in about.get("plugins", {}).values() for plugin in plugins):
        versions[plugin["distribution"]] = plugin["version"]
        versions |= {f"{name} of {plugin['name']}": plugin[name] for name in ("revision", "code") if name in plugin}
    versions |= {**about["record"].get("versions", {}), **about.get("versions", {})}
    return {str(package): str(version) for package, version in versions.items()}


def latest_versions(trials: Iterable[StoredTrial]) -> dict[str, dict[str, str]]:
    """Return for each origin the version of every package that its latest trial with the package has."""
    latest: dict[str, dict[str, str]] = {}
    for trial in sorted(trials, key=lambda trial: (number_on(trial.about["record"], "started"), str(trial.path))):
        latest.setdefault(trial.origin, {}).update(trial.versions)
    return latest


def means_of_trials(
    store: Store, metric: str, trials: Iterable[StoredTrial]
) -> dict[tuple[str, int, int], dict[str, float]]:
    """Return the mean over test queries of every trial, by combination, fold and trial, and by metric.

    Args:
        store: where they lie.
        metric: by name; any conventions of it unless they are named too.
        trials: of the store, whose metrics are asked for by their whole names, as that is what is fast.
    """
    measured = {str(name) for trial in trials for name in trial.about["combination"]["metrics"]}
    import pandas as pd

    names = {name for name in measured if metric in (name, name.partition("[")[0])}
    frame = results(store, where=f"metric in ({quoted(names)})") if names else pd.DataFrame(columns=MEANS)
    means: dict[tuple[str, int, int], dict[str, float]] = {}
    for identity, fold, trial, name, value in frame[MEANS].itertuples(index=False):
        if value == value:
            means.setdefault((str(identity), int(fold), int(trial)), {})[str(name)] = float(value)
    return means


def quoted(words: Iterable[str]) -> str:
    """Return words as a list in SQL."""
    return ", ".join("'" + word.replace("'", "''") + "'" for word in sorted(words))


def validation_curves(store: Store) -> pd.DataFrame:
    """Return the curves on validation data of all trials, by which combinations are chosen."""
    return query(
        "select combination, fold, trial, selection, 'curve' as measure, part, metric, value"
        " from curves where part = 'valid'",
        store,
    )


def trials_asked(
    wanted: Iterable[Combination], runs: Runs, stored: Mapping[str, list[StoredTrial]]
) -> Iterator[StoredTrial]:
    """Yield the stored trials of some combinations that a group of runs asks for."""
    for combination in wanted:
        for trial in stored.get(asked_parts(combination.model_dump(mode="json")), ()):
            if trial.about["fold"] in runs.folds and trial.about["trial"] < runs.trials:
                yield trial


def series_of(values: Mapping[Key, float]) -> pd.Series[float]:
    """Return numbers by trial and fold as a series in their order."""
    import pandas as pd

    ordered = sorted(values)
    index = pd.MultiIndex.from_tuples(ordered, names=["trial", "fold"])
    return pd.Series([values[key] for key in ordered], index=index, dtype=float)
