"""Tables of measured evidence that hand-written pages show: debiasing of clicks, and default parameters."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.statistics import t_interval
from rankplug_documentation.reference import table

PEER = {"native": "native naive"}
"""Ways that are compared with another one than our losses on click rates."""
POINT = 0.01


def clicks_tables(evidence: dict[str, Any]) -> str:
    """Return a table for each way of debiasing: quality without, with and with true labels, and the share gained."""
    lines: list[str] = []
    for way in ("ips", "em", "dual", "native"):
        naive = PEER.get(way, "naive")
        groups: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
        for run in evidence["runs"]:
            if {"true", naive, way} <= set(run["quality"]):
                groups[run["backend"], run["loss"]].append(run["quality"])
        rows = []
        for (backend, loss), runs in groups.items():
            gains = [run[way] - run[naive] for run in runs]
            interval = t_interval(gains, unit="trials")
            share = np.mean(gains) / np.mean([run["true"] - run[naive] for run in runs])
            means = [f"{np.mean([run[name] for run in runs]):.3f}" for name in (naive, way, "true")]
            points = f"{100 * interval.point:+.1f} [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"
            rows.append([f"`{backend}`", f"`{loss}`", *means, f"{100 * share:.0f} %", points])
        if rows:
            head = ["backend", "loss", "naive", "debiased", "true", "share of the gap", "gain in points, 95 %"]
            lines += [f"### `{way}`", "", *table(head, rows)]
    return "\n".join(lines)


def defaults_tables(findings: list[dict[str, Any]]) -> str:
    """Return a table of NDCG@10 with default and with tuned parameters, and a summary by backend."""
    backends = list(dict.fromkeys(finding["backend"] for finding in findings))
    by_collection: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for finding in findings:
        by_collection[finding["collection"]][finding["backend"]] = finding
    rows, summary = [], []
    for collection, row in by_collection.items():
        cells = [f"{row[name]['usual']:.3f} / {row[name]['tuned']:.3f}" if name in row else "" for name in backends]
        rows.append([collection, f"{next(iter(row.values()))['feature']:.3f}", *cells])
    for backend in backends:
        own = [finding for finding in findings if finding["backend"] == backend]
        better = sum(finding["usual"] > finding["feature"] for finding in own)
        near = sum(finding["usual"] >= finding["tuned"] - POINT for finding in own)
        gap = 100 * np.mean([finding["tuned"] - finding["usual"] for finding in own])
        summary.append([f"`{backend}`", f"{better} of {len(own)}", f"{near} of {len(own)}", f"{gap:+.1f}"])
    head = ["backend", "defaults beat the best feature", "within a point of tuned, or above", "tuned - default, points"]
    lines = table(["collection", "best feature", *(f"`{name}`" for name in backends)], rows) + table(head, summary)
    return "\n".join(lines)


TABLES: dict[str, Callable[[Any], str]] = {"clicks": clicks_tables, "defaults": defaults_tables}


def fill_tables(markdown: str, docs: Path) -> str:
    """Replace the comments ``<!-- table: clicks -->`` and ``<!-- table: defaults -->`` of a page."""
    for name, build in TABLES.items():
        comment = f"<!-- table: {name} -->"
        if comment in markdown:
            path = docs / "evidence" / name / f"{name}.json"
            markdown = markdown.replace(comment, build(json.loads(path.read_text(encoding="utf-8"))))
    return markdown
