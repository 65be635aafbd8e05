"""Content of the report's front page: each paper with its main claims and a figure, and facts about the runs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankplug.studies import ClaimEvaluation, ExhibitEvaluation, Group, bibliography

if TYPE_CHECKING:
    from rankplug.report.site import StudyReport

YEAR = re.compile(r"^\s*year\s*=\s*\W*(\d{4})", re.MULTILINE)
UNPUBLISHED = "9999"
MOST_CLAIMS = 3
"""Main claims of a paper that are shown."""


@dataclass(frozen=True)
class Paper:
    """A study as the front page shows it.

    Args:
        report: the study.
        claims: its first main claims with their anchors.
        figure: the figure of the first of them that has one, or the study's first.
    """

    report: StudyReport
    claims: Sequence[tuple[ClaimEvaluation, str]]
    figure: ExhibitEvaluation | None


@dataclass(frozen=True)
class FrontPage:
    """Papers and facts of the front page about some studies."""

    reports: Sequence[StudyReport]

    @cached_property
    def papers(self) -> list[Paper]:
        """The papers in the order of their publication, studies that are no paper last."""

        def year(report: StudyReport) -> str:
            match = YEAR.search(report.evaluation.meta.bibtex)
            return match[1] if match else UNPUBLISHED

        papers = []
        for report in sorted(self.reports, key=year):
            every = list(zip(report.evaluation.claims, report.claim_anchors, strict=True))
            main = [(claim, anchor) for claim, anchor in every if claim.role == "main"]
            figures = {shown.name: shown for shown in report.evaluation.exhibits if shown.pictures}
            telling = [figures[claim.exhibit] for claim, _ in main if claim.exhibit in figures] + list(figures.values())
            papers.append(Paper(report, (main or every)[:MOST_CLAIMS], telling[0] if telling else None))
        return papers

    @cached_property
    def records(self) -> list[Mapping[str, Any]]:
        """Descriptions of the trials behind all of it, each once."""
        combinations = {name: known for report in self.reports for name, known in report.combinations.items()}
        return [record for known in combinations.values() for record in known.records]

    @property
    def core_minutes(self) -> float:
        """Recorded time of the trials, those of two studies counted twice."""
        return sum(report.evaluation.meta.core_minutes for report in self.reports)

    @property
    def profiles(self) -> list[str]:
        """The sizes of the runs."""
        return sorted({report.evaluation.meta.profile for report in self.reports})

    @property
    def groups(self) -> list[Group]:
        """Groups of runs of all studies."""
        return [group for report in self.reports for group in report.evaluation.meta.groups]

    @property
    def real(self) -> list[str]:
        """Data sets that were not generated."""
        return sorted({group.dataset for group in self.groups if not group.synthetic})

    @property
    def places(self) -> list[tuple[str, str]]:
        """The papers' data sets, each with the data in its place."""
        return sorted({(group.place, group.dataset) for group in self.groups if group.place and group.dataset})

    @cached_property
    def sizes(self) -> tuple[int, int] | None:
        """The least and the greatest number of training queries; None where none is on record."""
        facts = (record["record"].get("queries") for record in self.records)
        sizes = [queries[0] for queries in facts if isinstance(queries, list) and queries]
        return (min(sizes), max(sizes)) if sizes else None

    @property
    def span(self) -> list[str]:
        """Begin of the first and of the last run (UTC); empty where none is on record."""
        started = (record["record"].get("started") for record in self.records)
        times = [at for at in started if isinstance(at, (int, float))]
        return [time.strftime("%Y-%m-%d %H:%M", time.gmtime(end)) for end in (min(times), max(times))] if times else []

    @property
    def bibtex(self) -> str:
        """The papers and rankplug in BibTeX."""
        papers = [report.evaluation.meta.bibtex for report in self.reports]
        return "\n\n".join(filter(None, [*papers, bibliography([])]))
