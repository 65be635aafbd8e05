"""Tables of measured evidence that hand-written pages show: debiasing of clicks, and default parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from rankplug.statistics import t_interval
from rankplug_documentation.reference import table

PEER = {"native": "native naive"}
"""Ways that are compared with another one than our losses on click rates."""
POINT = 0.01


def clicks_tables(evidence: dict[str, Any]) -> str:
    """Return a table for each way of debiasing: quality without, with and with true labels, and the share gained."""
    runs = pd.DataFrame(
        [{"backend": run["backend"], "loss": run["loss"], **run["quality"]} for run in evidence["runs"]]
    )
    lines: list[str] = []
    for way in ("ips", "em", "dual", "native"):
        naive = PEER.get(way, "naive")
        if not {naive, way} <= set(runs):
            continue
        rows = []
        for (backend, loss), own in runs.dropna(subset=["true", naive, way]).groupby(["backend", "loss"], sort=False):
            gains = own[way] - own[naive]
            interval = t_interval(gains, unit="trials")
            share = gains.mean() / (own["true"] - own[naive]).mean()
            means = [f"{own[name].mean():.3f}" for name in (naive, way, "true")]
            points = f"{100 * interval.point:+.1f} [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"
            rows.append([f"`{backend}`", f"`{loss}`", *means, f"{100 * share:.0f} %", points])
        head = ["backend", "loss", "naive", "debiased", "true", "share of the gap", "gain in points, 95 %"]
        lines += [f"### `{way}`", "", *table(head, rows)]
    return "\n".join(lines)


def defaults_tables(findings: list[dict[str, Any]]) -> str:
    """Return a table of NDCG@10 with default and with tuned parameters, and a summary by backend."""
    frame = pd.DataFrame(findings)
    backends = list(frame["backend"].unique())
    rows, summary = [], []
    for collection, own in frame.groupby("collection", sort=False):
        cells = {name: f"{usual:.3f} / {tuned:.3f}" for name, usual, tuned in own[["backend", "usual", "tuned"]].values}
        rows.append([str(collection), f"{own['feature'].iloc[0]:.3f}", *(cells.get(name, "") for name in backends)])
    for backend, own in frame.groupby("backend", sort=False):
        better, near = (own["usual"] > own["feature"]).sum(), (own["usual"] >= own["tuned"] - POINT).sum()
        gap = 100 * (own["tuned"] - own["usual"]).mean()
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
