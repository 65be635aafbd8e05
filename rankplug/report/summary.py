"""The report as one Markdown file, small enough to keep: numbers beside the published ones, and verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankplug.store import markdown_table
from rankplug.studies import beside, heading
from rankplug.system import __version__

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.report.study_report import StudyReport


def markdown_summary(reproduced: Mapping[str, StudyReport]) -> str:
    """Return the reproduced studies as Markdown, with a section for each."""
    return "\n".join(line for name, one in reproduced.items() for line in _section(name, one))


def _section(name: str, report: StudyReport) -> Iterator[str]:
    versions = {
        package: version
        for record in report.results.records
        for package, version in record["record"].get("versions", {}).items()
    }
    made_with = ", ".join(
        f"{package} {version}" for package, version in sorted({"rankplug": __version__, **versions}.items())
    )
    yield f"## {name}: {report.study.title}\n"
    yield (
        f"Profile `{report.results.profile}` of {time.strftime('%Y-%m-%d')}, {len(report.results.records)} trials;"
        f" {made_with}.\n"
    )
    tables = [drawn for drawn in report.evaluation.exhibits if "published on" in drawn.table.columns]
    for theirs, ours in report.stand_ins:
        yield f"In the place of {theirs}: {ours}.\n"
    for drawn in tables:
        yield f"### {drawn.exhibit.name}: {drawn.exhibit.title}\n"
        yield _table(drawn.table)
        yield ""
    yield "### Claims\n"
    rows = [
        (each.claim.sentence, f"**{each.verdict.verdict}**", each.verdict.sentence) for each in report.evaluation.claims
    ]
    yield markdown_table(("claim", "verdict", "evidence"), rows)
    yield ""


def _table(table: pd.DataFrame) -> str:
    """Return a row for each model, with our mean ± half of the interval and the published number in brackets for each
    metric.
    """
    metrics = list(table["metric"].unique())
    lines = []
    for (place, model), rows in table.groupby(["published on", "model"], sort=False, observed=True):
        of_metric = rows.set_index("metric")
        cells = [beside(of_metric.loc[metric]) if metric in of_metric.index else "" for metric in metrics]
        lines.append((place, model, rows["trials"].max(), *cells))
    return markdown_table(("in the place of", "model", "trials", *map(heading, metrics)), lines)
