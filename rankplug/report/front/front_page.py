"""Content of the report's front page: what was found, in numbers that the verdicts and the scoreboard give."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from rankplug.report.study_report import StudyReport
from rankplug.studies import (
    DECIDED,
    BestMethod,
    ClaimEvidence,
    ExhibitEvaluation,
    LossRecord,
    NoiseEffect,
    Scoreboard,
    Verdict,
    best_methods,
    bibliography,
    loss_records,
    noise_effects,
)
from rankplug.studies import PROFILES as PROFILES


@dataclass(frozen=True)
class ToldClaim:
    """A claim with its study and its place on the page of all claims."""

    report: StudyReport
    claim: ClaimEvidence
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
    def clarity(self) -> float:
        """Margins from zero to the nearest end of the decisive interval; nan where there is none."""
        if self.verdict is None or self.verdict.exact:
            return math.nan
        _, low, high = self.verdict.decisive.in_margins
        return max(low, -high) if math.isfinite(low) and math.isfinite(high) else math.nan


@dataclass(frozen=True)
class FrontPage:
    """Numbers and words of the front page about some studies.

    Args:
        reports: the studies.
        compared: the scoreboard of their runs, if there is one.
        pages: combinations that have a page.
    """

    reports: Sequence[StudyReport]
    compared: Scoreboard | None
    pages: Collection[str]

    @cached_property
    def claims(self) -> list[ToldClaim]:
        """All claims."""
        return [
            ToldClaim(report, claim, anchor)
            for report in self.reports
            for claim, anchor in zip(report.evidence.claims, report.claim_anchors, strict=True)
        ]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Counts of all claims by verdict, and of those without."""
        every = [report.evidence.counts for report in self.reports]
        return {word: sum(counts[word] for counts in every) for word in (every[0] if every else ())}

    @property
    def judged(self) -> int:
        """Claims that have a verdict."""
        return sum(claim.verdict is not None for claim in self.claims)

    @property
    def decided(self) -> int:
        """Claims that have another verdict than inconclusive."""
        return sum(claim.verdict is not None and claim.verdict.verdict in DECIDED for claim in self.claims)

    def exact(self, word: str = "") -> list[ToldClaim]:
        """Return the claims that an exact check decided, all or those with one verdict."""
        return [
            claim
            for claim in self.claims
            if claim.verdict is not None and claim.verdict.exact and word in ("", claim.verdict.verdict)
        ]

    def clearest(self, word: str) -> ToldClaim | None:
        """Return the claim with a verdict whose interval lies farthest from zero, in margins."""
        return max(self._measured(word), key=lambda claim: claim.clarity, default=None)

    @property
    def narrowest(self) -> ToldClaim | None:
        """The claim of no difference whose interval is the narrowest, in margins."""
        return min(self._measured("no difference"), key=_width, default=None)

    def _measured(self, word: str) -> list[ToldClaim]:
        """Return the claims with a verdict and an interval, those in points where there are any."""
        claims = [claim for claim in self.claims if claim.verdict is not None and claim.verdict.verdict == word]
        claims = [claim for claim in claims if not math.isnan(claim.clarity)]
        return [claim for claim in claims if claim.in_points] or claims

    @cached_property
    def best(self) -> list[BestMethod]:
        """The best method of each collection."""
        return best_methods(self.compared) if self.compared else []

    @cached_property
    def noise(self) -> list[NoiseEffect]:
        """The effect of noise on otherwise equal combinations."""
        return noise_effects(self.compared) if self.compared else []

    @cached_property
    def losses(self) -> dict[str, list[LossRecord]]:
        """Records of losses on each backend."""
        return loss_records(self.compared) if self.compared else {}

    @cached_property
    def trials(self) -> int:
        """Trials behind all of it, each counted once."""
        every = (record for report in self.reports for record in report.results.records)
        return len({(record["identity"], record["fold"], record["trial"]) for record in every})

    @property
    def core_minutes(self) -> float:
        """Recorded time of the trials, those of two studies counted twice."""
        return sum(report.evidence.core_minutes for report in self.reports)

    @property
    def profiles(self) -> list[str]:
        """The sizes of the runs."""
        return sorted({report.results.profile for report in self.reports})

    @cached_property
    def real(self) -> list[str]:
        """Data sets that no program made."""
        named = (
            str(runs.shared["dataset"])
            for report in self.reports
            for group, runs in report.results.runs.items()
            if not report.results.is_made(group)
        )
        return sorted(set(named))

    @cached_property
    def sizes(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The least and the greatest number of queries of training and test parts; None where none is on record."""
        sizes = [
            record["record"]["queries"]
            for report in self.reports
            for record in report.results.records
            if len(record["record"].get("queries", ())) == 3
        ]
        if not sizes:
            return None
        train, _, test = zip(*sizes, strict=True)
        return (min(train), max(train)), (min(test), max(test))

    @property
    def span(self) -> tuple[str, str] | None:
        """Begin of the first and of the last run (UTC)."""
        times = [
            record["record"]["started"]
            for report in self.reports
            for record in report.results.records
            if isinstance(record["record"].get("started"), (int, float))
        ]
        if not times:
            return None
        first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(at)) for at in (min(times), max(times)))
        return first, last

    @property
    def bibtex(self) -> str:
        """The papers and rankplug in BibTeX."""
        return "\n\n".join(filter(None, [*(one.study.bibtex for one in self.reports), bibliography([])]))

    @property
    def figures(self) -> list[tuple[StudyReport, list[ExhibitEvaluation]]]:
        """The exhibits of each study that have a picture."""
        drawn = [(one, [shown for shown in one.evaluation.exhibits if one.picture(shown)]) for one in self.reports]
        return [(report, figures) for report, figures in drawn if figures]

    @property
    def places(self) -> list[tuple[str, str]]:
        """The papers' data sets, each with the data in its place."""
        pairs = (
            (runs.place, str(runs.shared["dataset"]))
            for report in self.reports
            for runs in report.results.runs.values()
            if runs.place and "dataset" in runs.shared
        )
        return sorted(set(pairs))


def _width(told: ToldClaim) -> float:
    assert told.verdict is not None
    _, low, high = told.verdict.decisive.in_margins
    return high - low
