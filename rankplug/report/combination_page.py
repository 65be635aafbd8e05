"""A page for each combination: what it is, what is known of its trials, and its executed notebook if there is one."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankplug.report.notebook_page import notebook_html
from rankplug.store import Combination

PARTS = ("dataset", "transforms", "backend", "scorer", "loss", "sampler", "selection", "metrics")


@dataclass(frozen=True)
class CombinationRecords:
    """A combination with the records of its trials, and its executed notebook where the store keeps one."""

    records: tuple[Mapping[str, Any], ...]
    notebook: Path | None = None

    @property
    def title(self) -> str:
        """The combination in words."""
        return str(Combination(**self.records[0]["combination"]))


def combination_html(made: CombinationRecords, used_by: Iterable[tuple[str, str]]) -> str:
    """Return the body of a combination's page.

    Args:
        made: the combination.
        used_by: studies with the models that it is in them.
    """
    about = made.records[0]
    identity = html.escape(str(about["identity"]))
    users = "".join(
        f'<li><a href="../{study}.html">{study}</a>: {model}</li>'
        for study, model in (map(html.escape, pair) for pair in used_by)
    )
    parts = [
        f"<h1>{html.escape(made.title)}</h1>",
        f'<p class="note">Combination {identity}, the name of its results: a digest of what follows.</p>',
        f"<ul>{users}</ul>" if users else "",
        "<h2>Parts</h2>",
        _plugins(about),
        "<h2>Trials</h2>",
        _trials(made.records),
        "<h2>Versions</h2>",
        _versions(made.records),
        "<h2>Run it again</h2>",
        f"<pre>{html.escape(_again(made.records))}</pre>",
    ]
    if made.notebook is not None:
        parts += ["<h2>The executed notebook</h2>", notebook_html(made.notebook)]
    return "\n".join(parts)


def _plugins(about: Mapping[str, Any]) -> str:
    rows = []
    for part in PARTS:
        for plugin in about.get("plugins", {}).get(part, []):
            chosen = ", ".join(f"{name} {_word(value)}" for name, value in plugin["parameters"].items())
            rows.append((part, plugin["name"], chosen, f"{plugin['distribution']} {plugin['version']}"))
    known = about["combination"]
    rows += [(part, _word(known.get(part)), "", "") for part in ("patience", "seed")]
    return _table(("part", "plugin", "parameters", "from"), rows, wide=True)


def _trials(records: Iterable[Mapping[str, Any]]) -> str:
    rows: list[list[Any]] = []
    for record in records:
        facts = record["record"]
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(facts["started"])) if "started" in facts else ""
        digests = [facts.get("data", {}).get(part, "") for part in ("train", "valid")]
        digests.append(facts.get("test_fingerprint", ""))
        kept = f"{facts.get('best_iteration', '')} of {facts.get('iterations', '')}"
        seconds = [f"{facts.get(name, 0.0):.2f}" for name in ("load_seconds", "fit_seconds", "measure_seconds")]
        about = [record["fold"], record["trial"], record.get("seed", ""), kept, *seconds, started]
        rows.append([*about, facts.get("threads", ""), *(digest[:12] for digest in digests)])
    head = ("fold", "trial", "seed", "iteration kept", "load s", "fit s", "measure s", "started (UTC)", "threads")
    return _table((*head, "training data", "validation data", "test data"), rows)


def _versions(records: Iterable[Mapping[str, Any]]) -> str:
    found: dict[str, set[str]] = {}
    for record in records:
        for package, version in {**record.get("versions", {}), **record["record"].get("versions", {})}.items():
            found.setdefault(package, set()).add(version)
    return _table(("package", "version"), [(package, ", ".join(sorted(found[package]))) for package in sorted(found)])


def _again(records: Iterable[Mapping[str, Any]]) -> str:
    every = list(records)
    asked = {name: value for name, value in every[0]["combination"].items() if value not in ("", None, [])}
    folds = sorted({record["fold"] for record in every})
    trials = 1 + max(record["trial"] for record in every)
    return f"import rankplug as rp\n\nrp.sweep(\n{json.dumps(asked, indent=4)},\nfolds={folds}, trials={trials})"


def _word(value: Any) -> str:
    return "none" if value is None else str(value)


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]], wide: bool = False) -> str:
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    kind = "table wide" if wide else "table"
    return f'<div class="{kind}"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'
