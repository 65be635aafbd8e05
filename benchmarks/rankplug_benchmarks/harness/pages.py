"""The parts of pages that are made from reports; the prose around them is written by hand.

A part stands between two comments, ``<!-- bench:NAME -->`` and ``<!-- /bench:NAME -->``. Its name is ``machine``,
``subjects``, ``targets``, a subject (its numbers without a target), ``SUBJECT/FIGURE`` (the figure of some curves),
``SUBJECT/FIGURE/table`` (the same as a table) or ``SUBJECT/TABLE``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rankplug.errors import RankplugError, did_you_mean
from rankplug_benchmarks.harness import wording
from rankplug_benchmarks.harness.pictures import picture_path, write_pictures
from rankplug_benchmarks.harness.reports import Report, read_all
from rankplug_benchmarks.harness.subjects import subjects

PART = re.compile(r"(<!-- bench:(?P<name>[^>]+?) -->\n)(?P<text>.*?)(<!-- /bench:(?P=name) -->)", re.DOTALL)
IMAGES = "images"
ABSENT = "*Not measured on this machine.*"
"""Text in place of results that no report has: a subject was not run, or lacked data or a library."""


def parts(reports: Mapping[str, Report]) -> dict[str, str]:
    """Return every part that reports make, by its name."""
    every = list(reports.values())
    measurements = [measurement for report in every for measurement in report.measurements]
    tables = {
        "machine": wording.machine_sentence(every),
        "subjects": wording.subjects_table(every),
        "targets": wording.targets_table(measurement for measurement in measurements if measurement.target),
        "targets/figure": _image("all", "targets", "Every number as a multiple of its target"),
    }
    for report in every:
        tables[report.subject] = wording.others_table(
            measurement for measurement in report.measurements if not measurement.target
        )
        for figure in report.figures:
            curves = report.curves_of(figure)
            tables[f"{report.subject}/{figure}"] = _image(report.subject, figure, f"{curves[0].y} by {curves[0].x}")
            tables[f"{report.subject}/{figure}/table"] = wording.curves_table(curves)
        for table in report.tables:
            tables[f"{report.subject}/{table.name}"] = wording.table(table)
    return tables


def _image(subject: str, figure: str, words: str) -> str:
    return f"![{words}]({picture_path(Path(IMAGES), subject, figure).as_posix()})"


def fill(page: str, known: Mapping[str, str]) -> str:
    """Return a page with its generated parts made anew."""
    measurable = {*known, *(subject.name for subject in subjects())}

    def renew(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in known and name.partition("/")[0] not in measurable:
            raise RankplugError(f"no benchmark makes the part bench:{name}: {did_you_mean(name, measurable)}")
        return f"{match[1]}{known.get(name, ABSENT)}\n{match[4]}"

    return PART.sub(renew, page)


def write_pages(results: Path, documents: Path) -> list[Path]:
    """Generate the parts of all pages of a folder and their figures anew, and return the pages that have any."""
    reports = read_all(results)
    if quick := [name for name, report in reports.items() if report.quick]:
        raise RankplugError(f"{results} holds quick reports, whose numbers mean nothing: {', '.join(quick)}")
    known, pages = parts(reports), []
    for path in sorted(documents.glob("*.md")):
        text = path.read_text()
        if PART.search(text):
            path.write_text(fill(text, known))
            pages.append(path)
    write_pictures(reports.values(), documents / IMAGES)
    return pages
