"""Content of the report's front page: what was found, in numbers that the verdicts give."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankplug.studies import DECIDED, ClaimEvaluation, ExhibitEvaluation, Group, Verdict, bibliography

if TYPE_CHECKING:
    from rankplug.report.site import StudyReport


@dataclass(frozen=True)
class ShownClaim:
    """A claim with its study and its anchor on the page of all claims."""

    report: StudyReport
    claim: ClaimEvaluation
    anchor: str

    @property
    def word(self) -> str:
        """The verdict's word."""
        return self.claim.judgement.verdict

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, if there is one."""
        return self.claim.judgement if isinstance(self.claim.judgement, Verdict) else None

    @property
    def in_points(self) -> bool:
        """Whether it is about points of a quality, which readers can compare."""
        return self.verdict is not None and self.verdict.measured_in == "points"

    @property
    def interval(self) -> tuple[float, float]:
        """The decisive interval in margins; nan where there is none."""
        if self.verdict is None or self.verdict.exact:
            return math.nan, math.nan
        return self.verdict.decisive.in_margins[1:]


@dataclass(frozen=True)
class FrontPage:
    """Numbers and words of the front page about some studies."""

    reports: Sequence[StudyReport]

    @cached_property
    def claims(self) -> list[ShownClaim]:
        """All claims."""
        return [
            ShownClaim(report, claim, anchor)
            for report in self.reports
            for claim, anchor in zip(report.evaluation.claims, report.claim_anchors, strict=True)
        ]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Counts of all claims by verdict, and of those without."""
        every = [report.evaluation.counts for report in self.reports]
        return {word: sum(counts[word] for counts in every) for word in (every[0] if every else ())}

    @property
    def judged(self) -> int:
        """Number of claims that have a verdict."""
        return sum(claim.verdict is not None for claim in self.claims)

    @property
    def decided(self) -> int:
        """Number of claims that have another verdict than inconclusive."""
        return sum(claim.word in DECIDED for claim in self.claims)

    def exact(self, word: str = "") -> list[ShownClaim]:
        """Return the claims that an exact check decided, all or those with one verdict."""
        exact = [claim for claim in self.claims if claim.verdict is not None and claim.verdict.exact]
        return [claim for claim in exact if word in ("", claim.word)]

    def clearest(self, word: str) -> ShownClaim | None:
        """Return the claim with a verdict whose interval is farthest from zero, or the narrowest of no difference.

        Those in points come first, as readers can compare them.
        """

        def clearness(claim: ShownClaim) -> float:
            low, high = claim.interval
            return low - high if word == "no difference" else max(low, -high)

        claims = [claim for claim in self.claims if claim.word == word and all(map(math.isfinite, claim.interval))]
        return max([claim for claim in claims if claim.in_points] or claims, key=clearness, default=None)

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

    @property
    def figures(self) -> list[tuple[StudyReport, list[ExhibitEvaluation]]]:
        """The exhibits of each study that have a picture."""
        drawn = [(report, [shown for shown in report.evaluation.exhibits if shown.pictures]) for report in self.reports]
        return [(report, figures) for report, figures in drawn if figures]
