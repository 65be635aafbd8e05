"""The report as one Markdown file, small enough to keep: numbers beside the published ones, and verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankplug.studies import beside, heading, stand_ins
from rankplug.system import __version__

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.report.study_report import StudyReport


def markdown_summary(reproduced: Mapping[str, StudyReport]) -> str:
    """Return the reproduced studies as Markdown, with a section for each."""
    return "\n".join(line for name, one in reproduced.items() for line in _section(name, one))


def _section(name: str, one: StudyReport) -> Iterator[str]:
    versions = {
        package: version
        for record in one.results.records
        for package, version in record["record"].get("versions", {}).items()
    }
    made_with = ", ".join(
        f"{package} {version}" for package, version in sorted({"rankplug": __version__, **versions}.items())
    )
    yield f"## {name}: {one.study.title}\n"
    yield (
        f"Profile `{one.results.profile}` of {time.strftime('%Y-%m-%d')}, {len(one.results.records)} trials;"
        f" {made_with}.\n"
    )
    tables = [drawn for drawn in one.evaluation.exhibits if "published on" in drawn.table.columns]
    for theirs, ours in dict.fromkeys(pair for drawn in tables for pair in stand_ins(drawn.table)):
        yield f"In the place of {theirs}: {ours}.\n"
    for drawn in tables:
        yield f"### {drawn.exhibit.name}: {drawn.exhibit.title}\n"
        yield from _rows(drawn.table)
        yield ""
    yield "### Claims\n"
    yield "| claim | verdict | evidence |"
    yield "|---|---|---|"
    for shown in one.evaluation.claims:
        yield f"| {_cell(shown.claim.sentence)} | **{shown.verdict.verdict}** | {_cell(shown.verdict.sentence)} |"
    yield ""


def _rows(table: pd.DataFrame) -> Iterator[str]:
    """Yield a row for each model, with our mean ± half of the interval and the published number in brackets for each
    metric.
    """
    metrics = list(table["metric"].unique())
    yield "| in the place of | model | trials | " + " | ".join(map(heading, metrics)) + " |"
    yield "|" + "---|" * (3 + len(metrics))
    for (place, model), rows in table.groupby(["published on", "model"], sort=False, observed=True):
        of_metric = rows.set_index("metric")
        cells = [beside(of_metric.loc[metric]) if metric in of_metric.index else "" for metric in metrics]
        yield f"| {_cell(str(place))} | {_cell(str(model))} | {rows['trials'].max()} | " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
