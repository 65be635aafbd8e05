"""Content of the report's front page: what was found, in numbers that the verdicts and the scoreboard give."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankplug.studies import (
    DECIDED,
    ClaimEvaluation,
    ExhibitEvaluation,
    Verdict,
    bibliography,
)

if TYPE_CHECKING:
    from rankplug.report.site import StudyReport


@dataclass(frozen=True)
class ShownClaim:
    """A claim with its study and its place on the page of all claims."""

    report: StudyReport
    claim: ClaimEvaluation
    anchor: str

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, if there is one."""
        return self.claim.judgement if isinstance(self.claim.judgement, Verdict) else None

    @property
    def in_points(self) -> bool:
        """Tell whether it is about points of a quality, which readers can compare."""
        return self.verdict is not None and self.verdict.measured_in == "points"

    @property
    def interval(self) -> tuple[float, float]:
        """The decisive interval in margins; nan where there is none."""
        exact = self.verdict is None or self.verdict.exact
        return (math.nan, math.nan) if exact or self.verdict is None else self.verdict.decisive.in_margins[1:]


@dataclass(frozen=True)
class FrontPage:
    """Numbers and words of the front page about some studies.

    Args:
        reports: the studies.
    """

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
        """Claims that have a verdict."""
        return sum(claim.verdict is not None for claim in self.claims)

    @property
    def decided(self) -> int:
        """Claims that have another verdict than inconclusive."""
        return sum(claim.claim.judgement.verdict in DECIDED for claim in self.claims)

    def exact(self, word: str = "") -> list[ShownClaim]:
        """Return the claims that an exact check decided, all or those with one verdict."""
        exact = [claim for claim in self.claims if claim.verdict is not None and claim.verdict.exact]
        return [claim for claim in exact if word in ("", claim.claim.judgement.verdict)]

    def clearest(self, word: str) -> ShownClaim | None:
        """Return the claim with a verdict whose interval lies farthest from zero, in margins."""
        return max(self._measured(word), key=lambda claim: max(claim.interval[0], -claim.interval[1]), default=None)

    @property
    def narrowest(self) -> ShownClaim | None:
        """The claim of no difference whose interval is the narrowest, in margins."""
        several = self._measured("no difference")
        return min(several, key=lambda claim: claim.interval[1] - claim.interval[0], default=None)

    def _measured(self, word: str) -> list[ShownClaim]:
        """Return the claims with a verdict and an interval, those in points where there are any."""
        claims = [claim for claim in self.claims if claim.claim.judgement.verdict == word]
        claims = [claim for claim in claims if all(map(math.isfinite, claim.interval))]
        return [claim for claim in claims if claim.in_points] or claims

    @cached_property
    def records(self) -> list[Mapping[str, Any]]:
        """Records of the trials behind all of it, each once."""
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

    @cached_property
    def real(self) -> list[str]:
        """Data sets that were not generated."""
        groups = (group for report in self.reports for group in report.evaluation.meta.groups)
        return sorted({group.dataset for group in groups if not group.synthetic})

    @cached_property
    def sizes(self) -> tuple[int, int] | None:
        """The least and the greatest number of training queries; None where none is on record."""
        sizes = [queries[0] for queries in self._facts("queries") if isinstance(queries, list) and queries]
        return (min(sizes), max(sizes)) if sizes else None

    @property
    def span(self) -> tuple[str, str] | None:
        """Begin of the first and of the last run (UTC)."""
        times = [at for at in self._facts("started") if isinstance(at, (int, float))]
        if not times:
            return None
        first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(at)) for at in (min(times), max(times)))
        return first, last

    def _facts(self, name: str) -> Iterator[Any]:
        return (record["record"].get(name) for record in self.records)

    @property
    def bibtex(self) -> str:
        """The papers and rankplug in BibTeX."""
        return "\n\n".join(filter(None, [*(one.evaluation.meta.bibtex for one in self.reports), bibliography([])]))

    @property
    def figures(self) -> list[tuple[StudyReport, list[ExhibitEvaluation]]]:
        """The exhibits of each study that have a picture."""
        drawn = [(one, [shown for shown in one.evaluation.exhibits if shown.pictures]) for one in self.reports]
        return [(report, figures) for report, figures in drawn if figures]

    @property
    def places(self) -> list[tuple[str, str]]:
        """The papers' data sets, each with the data in its place."""
        groups = (group for report in self.reports for group in report.evaluation.meta.groups)
        return sorted({(group.place, group.dataset) for group in groups if group.place and group.dataset})
