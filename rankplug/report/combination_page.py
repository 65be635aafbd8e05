"""A page for each combination: what it is, what is known of its trials, and its executed notebook if there is one."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.notebook_page import notebook_html
from rankplug.report.rendering import render
from rankplug.store import Combination

if TYPE_CHECKING:
    from markupsafe import Markup

PARTS = ("dataset", "transforms", "backend", "scorer", "loss", "sampler", "selection", "metrics")


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


def combination_html(made: CombinationRecords, users: Iterable[tuple[str, str]], papers: Collection[str]) -> Markup:
    """Return the body of a combination's page.

    Args:
        made: the combination.
        users: studies with the models that it is in them.
        papers: studies that have a page.
    """
    return render(
        "combination",
        made=made,
        identity=made.records[0]["identity"],
        users=list(users),
        papers=papers,
        plugins=_plugins(made.records[0]),
        trials=_trials(made),
        versions=version_rows(made.versions),
        again=_again(made.records),
        notebook=notebook_html(made.notebook) if made.notebook else None,
    )


def version_rows(versions: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """Return each package with its versions, as rows of a table."""
    return [(package, ", ".join(sorted(versions[package]))) for package in sorted(versions)]


def _plugins(about: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for part in PARTS:
        for plugin in about.get("plugins", {}).get(part, []):
            chosen = ", ".join(f"{name} {_word(value)}" for name, value in plugin["parameters"].items())
            rows.append((part, plugin["name"], chosen, f"{plugin['distribution']} {plugin['version']}"))
    known = about["combination"]
    return rows + [(part, _word(known.get(part)), "", "") for part in ("patience", "seed")]


def _trials(made: CombinationRecords) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for place, record in enumerate(made.records):
        facts = record["record"]
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(facts["started"])) if "started" in facts else ""
        digests = [facts.get("data", {}).get(part, "") for part in ("train", "valid")]
        digests.append(facts.get("test_fingerprint", ""))
        kept = f"{facts.get('best_iteration', '')} of {facts.get('iterations', '')}"
        seconds = [f"{facts.get(name, 0.0):.2f}" for name in ("load_seconds", "fit_seconds", "measure_seconds")]
        about = [record["fold"], record["trial"], record.get("seed", ""), kept, *seconds, started]
        origin = [made.origins[place] or "computed here"] if made.merged_from else []
        rows.append([*about, facts.get("threads", ""), *(digest[:12] for digest in digests), *origin])
    return rows


def _again(records: Iterable[Mapping[str, Any]]) -> str:
    every = list(records)
    asked = {name: value for name, value in every[0]["combination"].items() if value not in ("", None, [])}
    folds = sorted({record["fold"] for record in every})
    trials = 1 + max(record["trial"] for record in every)
    return f"import rankplug as rp\n\nrp.sweep(\n{json.dumps(asked, indent=4)},\nfolds={folds}, trials={trials})"


def _word(value: Any) -> str:
    return "none" if value is None else str(value)
