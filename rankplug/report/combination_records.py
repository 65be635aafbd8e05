"""Records of a combination in a store: its plugins, its trials and their values on test data."""

from __future__ import annotations

import math
import pprint
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.registry import Reference, format_value
from rankplug.store import ADDED_PARTS, Combination, Store, origins_of, results

PARTS = ("dataset", "transforms", "backend", "scorer", "loss", "sampler", "selection", "metrics")
WITH_CUT_OFF = {"selection", "metrics"}
"""Parts of which several often differ by their cut-off alone."""


@dataclass(frozen=True)
class CombinationRecords:
    """A combination.

    Args:
        records: descriptions of its trials.
        notebook: path of the executed notebook, where the store has one.
        origins: source of each trial's result; empty for what was computed into the store.
    """

    records: tuple[Mapping[str, Any], ...]
    notebook: Path | None = None
    origins: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The name of its results."""
        return str(self.records[0]["identity"])

    @property
    def title(self) -> str:
        """The combination in words."""
        return str(Combination(**self.records[0]["combination"]))

    @property
    def merged_from(self) -> list[str]:
        """Sources of merged results."""
        return sorted(set(self.origins) - {""})

    @property
    def fit_seconds(self) -> float:
        """Seconds of fitting in all trials."""
        return sum(float(record["record"].get("fit_seconds", 0.0)) for record in self.records)

    @property
    def training_digests(self) -> list[str]:
        """Distinct digests of the training data, shortened."""
        return list(dict.fromkeys(record["record"]["data"]["train"][:8] for record in self.records))

    @property
    def plugins(self) -> list[tuple[str, ...]]:
        """Rows of part, plugin, parameters and distribution; a metric at several cut-offs has one row."""
        cut_offs: dict[tuple[str, ...], list[str]] = {}
        for part in PARTS:
            for plugin in self.records[0].get("plugins", {}).get(part, []):
                parameters = {name: _in_grammar(value) for name, value in plugin["parameters"].items()}
                cut_off = [parameters.pop("k")] if part in WITH_CUT_OFF and "k" in parameters else []
                words = ", ".join(f"{name} {value}" for name, value in parameters.items())
                row = (part, plugin["name"], words, f"{plugin['distribution']} {plugin['version']}")
                # A plugin without cut-off that stands twice, such as a transform, keeps two rows.
                cut_offs.setdefault((*row, "" if cut_off else str(len(cut_offs))), []).extend(cut_off)
        rows: list[tuple[str, ...]] = [
            (part, name, ", ".join(filter(None, [f"k {', '.join(several)}" if several else "", words])), origin)
            for (part, name, words, origin, _), several in cut_offs.items()
        ]
        parts = self.records[0]["combination"]
        unusual = [part for part, usual in ADDED_PARTS.items() if parts.get(part, usual) != usual]
        return rows + [(part, _in_grammar(parts.get(part)), "", "") for part in (*unusual, "patience", "seed")]

    @property
    def trials(self) -> list[list[Any]]:
        """Rows of what is on record of each trial."""
        rows = []
        for record, origin in zip(self.records, self.origins or [""] * len(self.records), strict=True):
            facts = record["record"]
            started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(facts["started"])) if "started" in facts else ""
            digests = [facts.get("data", {}).get(part, "") for part in ("train", "valid")]
            iterations = f"{facts.get('best_iteration', '')} of {facts.get('iterations', '')}"
            seconds = [f"{facts.get(name, 0.0):.2f}" for name in ("load_seconds", "fit_seconds", "measure_seconds")]
            row = [record["fold"], record["trial"], record.get("seed", ""), iterations, *seconds, started]
            row += [facts.get("threads", ""), *(each[:12] for each in (*digests, facts.get("test_fingerprint", "")))]
            rows.append(row + [origin or "computed here"] * bool(self.merged_from))
        return rows

    @property
    def again(self) -> str:
        """The code that runs all of its trials again."""
        parts = self.records[0]["combination"].items()
        own = {name: value for name, value in parts if value not in ("", None, []) and value != ADDED_PARTS.get(name)}
        folds = sorted({record["fold"] for record in self.records})
        trials = 1 + max(record["trial"] for record in self.records)
        grid = pprint.pformat(own, sort_dicts=False)
        return f"import rankplug as rp\n\nrp.sweep(\n{grid},\nfolds={folds}, trials={trials})"


def package_versions(combinations: Iterable[CombinationRecords]) -> list[tuple[str, str]]:
    """Return rows of package and versions with which the trials of some combinations ran."""
    versions: dict[str, set[str]] = {}
    for combination in combinations:
        for record in combination.records:
            for package, version in {**record.get("versions", {}), **record["record"].get("versions", {})}.items():
                versions.setdefault(package, set()).add(version)
    return [(package, ", ".join(sorted(several))) for package, several in sorted(versions.items())]


def combination_records(records: Iterable[Mapping[str, Any]], store: Store) -> dict[str, CombinationRecords]:
    """Return the combinations of some trials by identity.

    Args:
        records: descriptions of the trials.
        store: folder of their results, which may have executed notebooks of combinations.
    """
    origins = origins_of(store.folder)
    by_identity: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in records:
        identity = str(record["identity"])
        file = f"{identity}/{identity}-f{record['fold']}-t{record['trial']}.parquet"
        by_identity.setdefault(identity, {})[file] = record
    combinations = {}
    for identity, trials in by_identity.items():
        path = store.notebook_path(Combination(**next(iter(trials.values()))["combination"]), identity)
        sources = tuple(origins.get(file, "") for file in trials)
        combinations[identity] = CombinationRecords(tuple(trials.values()), path if path.is_file() else None, sources)
    return combinations


def values_on_test_data(
    combinations: Mapping[str, CombinationRecords], store: Store
) -> dict[str, list[tuple[str, str, str]]]:
    """Return rows of each combination's metrics: the mean over its trials, and the value of each trial in their order.

    Args:
        combinations: whose trials are in the store, by identity.
        store: folder of the results.
    """
    if not combinations:
        return {}
    names = ", ".join("'" + identity.replace("'", "''") + "'" for identity in combinations)
    frame = results(store, where=f"combination in ({names})")
    values = frame.set_index(["combination", "metric", "fold", "trial"])["value"].to_dict()
    rows: dict[str, list[tuple[str, str, str]]] = {identity: [] for identity in combinations}
    for identity, combination in combinations.items():
        for metric in combination.records[0]["combination"].get("metrics", ()):
            places = [(identity, metric, record["fold"], record["trial"]) for record in combination.records]
            of_trials = np.array([values.get(place, math.nan) for place in places])
            if not np.isnan(of_trials).all():
                each = ", ".join("none" if math.isnan(value) else f"{value:.4f}" for value in of_trials)
                rows[identity].append((metric, f"{np.nanmean(of_trials):.4f}", each))
    return rows


def _in_grammar(value: Any) -> str:
    """Write a value from JSON as the grammar of plugins does, whole numbers without a fraction."""
    return format_value(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        parameters = {name: _plain(inner) for name, inner in value.get("parameters", {}).items()}
        return Reference(str(value.get("name")), parameters)
    if isinstance(value, list):
        return tuple(_plain(inner) for inner in value)
    if not isinstance(value, float):
        return value
    return int(value) if value.is_integer() else value if math.isfinite(value) else str(value)
