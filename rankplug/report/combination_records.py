"""Records of a combination in a store: its plugins, its trials and their values on test data."""

from __future__ import annotations

import math
import pprint
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankplug.registry import Reference, format_value
from rankplug.store import ADDED_PARTS, Combination, Store, origins_of, results

PARTS = ("dataset", "transforms", "backend", "scorer", "loss", "sampler", "selection", "metrics")
NUMBERS = ["combination", "metric", "fold", "trial", "value"]
CUT_OFF = {"selection", "metrics"}
"""Parts that often differ by their cut-off alone."""


@dataclass(frozen=True)
class CombinationRecords:
    """A combination.

    Args:
        records: of its trials.
        notebook: the executed one, where the store keeps it.
        origins: where each trial's result came from, in words; empty for what was computed into the store.
    """

    records: tuple[Mapping[str, Any], ...]
    notebook: Path | None = None
    origins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The combination in words."""
        return str(Combination(**self.records[0]["combination"]))

    @property
    def merged_from(self) -> list[str]:
        """Places where results came from, in words."""
        return sorted(set(self.origins) - {""})

    @property
    def fit_seconds(self) -> float:
        """The seconds that fitting took in all trials."""
        return sum(float(record["record"].get("fit_seconds", 0.0)) for record in self.records)

    @property
    def training_digests(self) -> list[str]:
        """Digests of the training data of the trials, each once and short."""
        return list(dict.fromkeys(record["record"]["data"]["train"][:8] for record in self.records))

    @property
    def versions(self) -> dict[str, set[str]]:
        """The versions of each package that the trials ran with."""
        found: dict[str, set[str]] = {}
        for record in self.records:
            for package, version in {**record.get("versions", {}), **record["record"].get("versions", {})}.items():
                found.setdefault(package, set()).add(version)
        return found

    @property
    def identity(self) -> str:
        """The name of its results."""
        return str(self.records[0]["identity"])

    @property
    def plugins(self) -> list[tuple[str, ...]]:
        """Rows of part, plugin, parameters and where the plugin is from; a metric at several cut-offs has one."""
        about = self.records[0]
        rows: dict[tuple[str, ...], list[str]] = {}
        for part in PARTS:
            for plugin in about.get("plugins", {}).get(part, []):
                parameters = dict(plugin["parameters"])
                cut_off = [_word(parameters.pop("k"))] if part in CUT_OFF and "k" in parameters else []
                chosen = ", ".join(f"{name} {_word(value)}" for name, value in parameters.items())
                origin = f"{plugin['distribution']} {plugin['version']}"
                row = (part, plugin["name"], chosen, origin, "" if cut_off else str(len(rows)))
                rows.setdefault(row, []).extend(cut_off)
        told: list[tuple[str, ...]] = [
            (part, name, ", ".join(filter(None, [f"k {', '.join(ks)}" if ks else "", chosen])), origin)
            for (part, name, chosen, origin, _), ks in rows.items()
        ]
        known = about["combination"]
        unusual = [part for part, usual in ADDED_PARTS.items() if known.get(part, usual) != usual]
        return told + [(part, _word(known.get(part)), "", "") for part in (*unusual, "patience", "seed")]

    @property
    def trials(self) -> list[list[Any]]:
        """Rows of what is on record of each trial."""
        rows = [_trial_row(record) for record in self.records]
        if not self.merged_from:
            return rows
        return [[*row, origin or "computed here"] for row, origin in zip(rows, self.origins, strict=True)]

    @property
    def again(self) -> str:
        """The code that runs all of its trials again."""
        known = self.records[0]["combination"].items()
        told = {name: value for name, value in known if value not in ("", None, []) and value != ADDED_PARTS.get(name)}
        asked = pprint.pformat(told, sort_dicts=False)
        folds = sorted({record["fold"] for record in self.records})
        trials = 1 + max(record["trial"] for record in self.records)
        return f"import rankplug as rp\n\nrp.sweep(\n{asked},\nfolds={folds}, trials={trials})"


def combination_records(records: Iterable[Mapping[str, Any]], store: Store) -> dict[str, CombinationRecords]:
    """Return the combinations of some trials with the records and origins of these.

    Args:
        records: of the trials.
        store: where they lie, and executed notebooks of combinations may lie.
    """
    origins = origins_of(store.folder)
    by_combination: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in records:
        identity = str(record["identity"])
        file = f"{identity}/{identity}-f{record['fold']}-t{record['trial']}.parquet"
        by_combination.setdefault(identity, {})[file] = record
    found = {}
    for identity, trials in by_combination.items():
        combination = Combination(**next(iter(trials.values()))["combination"])
        path = store.notebook_path(combination, identity)
        told = tuple(origins.get(file, "") for file in trials)
        found[identity] = CombinationRecords(tuple(trials.values()), path if path.is_file() else None, told)
    return found


def values_on_test_data(
    combinations: Iterable[CombinationRecords], store: Store
) -> dict[str, list[tuple[str, str, str]]]:
    """Return rows of each combination's metrics: the mean over its trials, and that of every trial in their order.

    Args:
        combinations: of which trials are in the store.
        store: where they lie.
    """
    several = list(combinations)
    if not several:
        return {}
    names = ", ".join("'" + made.identity.replace("'", "''") + "'" for made in several)
    frame = results(store, where=f"combination in ({names})")
    values: dict[str, dict[str, dict[Any, float]]] = {}
    for identity, metric, fold, trial, value in frame[NUMBERS].itertuples(index=False):
        values.setdefault(str(identity), {}).setdefault(str(metric), {})[fold, trial] = float(value)
    return {made.identity: list(_value_rows(made, values.get(made.identity, {}))) for made in several}


def _value_rows(made: CombinationRecords, values: Mapping[str, Mapping[Any, float]]) -> Iterator[tuple[str, str, str]]:
    for metric in made.records[0]["combination"].get("metrics", ()):
        of_trials = values.get(metric, {})
        found = [of_trials.get((record["fold"], record["trial"]), math.nan) for record in made.records]
        known = [value for value in found if value == value]
        if known:
            each = ", ".join("none" if value != value else f"{value:.4f}" for value in found)
            yield metric, f"{math.fsum(known) / len(known):.4f}", each


def _trial_row(record: Mapping[str, Any]) -> list[Any]:
    facts = record["record"]
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(facts["started"])) if "started" in facts else ""
    digests = [facts.get("data", {}).get(part, "") for part in ("train", "valid")]
    digests.append(facts.get("test_fingerprint", ""))
    kept = f"{facts.get('best_iteration', '')} of {facts.get('iterations', '')}"
    seconds = [f"{facts.get(name, 0.0):.2f}" for name in ("load_seconds", "fit_seconds", "measure_seconds")]
    about = [record["fold"], record["trial"], record.get("seed", ""), kept, *seconds, started]
    return [*about, facts.get("threads", ""), *(digest[:12] for digest in digests)]


def _word(value: Any) -> str:
    """Write a value as the grammar of plugins does, whole numbers without a fraction."""
    return format_value(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        given = value.get("parameters", {})
        return Reference(str(value.get("name")), {name: _plain(inner) for name, inner in given.items()})
    if isinstance(value, list):
        return tuple(_plain(inner) for inner in value)
    if not isinstance(value, float):
        return value
    return int(value) if value.is_integer() else value if math.isfinite(value) else str(value)
