"""Kept evidence of a study: its verdicts with their evidence, small enough for a repository.

Documentation, shell and report draw and list claims from it; it needs neither the store nor the study's own code.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankplug.errors import NotRunError, RankplugError, did_you_mean
from rankplug.plotting import ForestCell, ForestRow, draw_forest
from rankplug.studies.claims import claim_label
from rankplug.studies.runs import core_seconds, number_on
from rankplug.studies.verdicts import VERDICTS, Abstention, Judgement, Verdict, read_judgement

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from rankplug.store import Store
    from rankplug.studies.evaluation import StudyEvaluation
    from rankplug.studies.runs import Profile

FORMAT = 1
UNJUDGED = "not judged"


@dataclass(frozen=True)
class ClaimEvidence:
    """A claim with its verdict.

    Args:
        id: of the claim.
        text: of the claim.
        section: of the paper that makes it.
        role: ``main`` or ``detail``.
        source: ``paper`` or ``ours``.
        exhibit: that shows it.
        judgement: the verdict, or why there is none.
        margin: the difference that would matter, with its unit; empty for exact checks.
        reason: why smaller ones do not matter.
    """

    id: str
    text: str
    section: str
    role: str
    source: str
    exhibit: str
    judgement: Judgement
    margin: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """The text with its place in the paper, or marked as not the paper's."""
        return claim_label(self.text, self.section, self.source)

    @property
    def words(self) -> str:
        """The label without the signs of formulas, for figures."""
        return _plain(self.label)

    @property
    def effect(self) -> str:
        """The decisive part in a few words, empty where nothing was judged."""
        if not isinstance(self.judgement, Verdict):
            return ""
        part = self.judgement.decisive
        unit = f" {self.judgement.measured_in}" if self.judgement.measured_in else ""
        if not part.count:
            return "exact"
        if not math.isfinite(part.low):
            return f"{part.effect:+.2f}{unit}"
        return f"{part.effect:+.2f}{unit} [{part.low:+.2f}, {part.high:+.2f}]"


@dataclass(frozen=True)
class StudyEvidence:
    """The verdicts of a study on the results of a profile.

    Args:
        study: its name.
        title: of the paper.
        citation: of the paper, in words.
        profile: how large the runs were.
        date: when the last of them ended, as ``2026-11-19``.
        trials: how many there were.
        core_minutes: what they took, by the times on record.
        data: data sets, by the names of the groups that had them.
        versions: of the packages that made them.
        claims: with their verdicts.
        observations: what was seen beside them, by its text.
        note: what else a reader must know of the runs, such as that they are fewer than the profile's.
    """

    study: str
    title: str
    citation: str
    profile: str
    date: str
    trials: int
    core_minutes: float
    data: Mapping[str, str]
    versions: Mapping[str, str]
    claims: tuple[ClaimEvidence, ...]
    observations: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Counts of claims by verdict, and of those without."""
        counts = dict.fromkeys((*VERDICTS, UNJUDGED), 0)
        for claim in self.claims:
            counts[UNJUDGED if isinstance(claim.judgement, Abstention) else claim.judgement.verdict] += 1
        return counts

    @property
    def decided(self) -> float:
        """Share of the judged claims that have another verdict than inconclusive."""
        counts = self.counts
        judged = len(self.claims) - counts[UNJUDGED]
        return 1.0 - counts["inconclusive"] / judged if judged else math.nan

    @property
    def in_short(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count} {word}" for word, count in self.counts.items() if count) or "no claims"

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        claims = [{**vars(claim), "judgement": claim.judgement.describe()} for claim in self.claims]
        facts = {name: value for name, value in vars(self).items() if name not in ("claims", "data", "versions")}
        return {
            "format": FORMAT,
            **facts,
            "data": dict(self.data),
            "versions": dict(self.versions),
            "observations": dict(self.observations),
            "claims": claims,
        }

    @classmethod
    def read(cls, path: Path) -> StudyEvidence:
        """Read a file that :meth:`write` wrote."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            if fields.pop("format") != FORMAT:
                raise RankplugError(f"{path} has another format than {FORMAT}; write it again")
            claims = tuple(
                ClaimEvidence(**{**claim, "judgement": read_judgement(claim["judgement"])})
                for claim in fields["claims"]
            )
            return cls(**{**fields, "claims": claims})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RankplugError(f"{path} is no evidence of a study: {error}; write it again") from error

    def write(self, path: Path) -> None:
        """Write all of it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.describe(), indent=1, ensure_ascii=False, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")


def evidence_of(evaluation: StudyEvaluation) -> StudyEvidence:
    """Return what is kept of an evaluation."""
    study, results = evaluation.study, evaluation.results
    records = [record["record"] for record in results.records]
    started = [number_on(record, "started") for record in records]
    versions = {package: version for record in records for package, version in record.get("versions", {}).items()}
    return StudyEvidence(
        study.name,
        study.title,
        str(study.citation),
        results.profile,
        time.strftime("%Y-%m-%d", time.gmtime(max(started, default=0.0))),
        len(records),
        round(sum(map(core_seconds, records)) / 60, 1),
        {name: str(runs.shared["dataset"]) for name, runs in results.runs.items()},
        dict(sorted(versions.items())),
        tuple(
            ClaimEvidence(
                shown.claim.id,
                shown.claim.text,
                shown.claim.section,
                shown.claim.role,
                shown.claim.source,
                shown.claim.exhibit,
                shown.verdict,
                str(shown.claim.margin or ""),
                shown.claim.margin.reason if shown.claim.margin else "",
            )
            for shown in evaluation.claims
        ),
        {shown.observation.text: shown.told for shown in evaluation.observations},
    )


def stored_evidence(
    names: Iterable[str], profile: Profile, store: Store | None = None, verdicts: Collection[str] = ()
) -> tuple[list[StudyEvidence], list[str]]:
    """Return the verdicts of studies whose runs are all in the store, and the names of those whose are not.

    Args:
        names: of studies; all whose runs are there where none is named.
        profile: how large.
        store: where results lie.
        verdicts: those of the claims that are kept; all where none is given.

    Raises:
        NotRunError: runs of a named study are not in the store, or of no study all are.
    """
    from rankplug.studies.evaluation import evaluate
    from rankplug.studies.papers import studies, study

    _check_verdicts(verdicts)
    wanted = list(names)
    evidence, absent = [], []
    for paper in [study(name) for name in wanted] or studies():
        try:
            whole = evidence_of(evaluate(paper, paper.results(profile, store=store)))
        except NotRunError:
            if wanted:
                raise
            absent.append(paper.name)
            continue
        kept = tuple(claim for claim in whole.claims if not verdicts or claim.judgement.verdict in verdicts)
        evidence.append(replace(whole, claims=kept))
    if not evidence:
        raise NotRunError(
            f"no study has all its runs at the profile {profile} in the store; run rankplug reproduce all --profile"
            f" {profile}"
        )
    return evidence, absent


def _check_verdicts(verdicts: Collection[str]) -> None:
    known = (*VERDICTS, "not run", "not comparable")
    for verdict in verdicts:
        if verdict not in known:
            raise RankplugError(f"there is no verdict {verdict}: {did_you_mean(verdict, known)}")


def forest_of(evidence: Iterable[StudyEvidence], headings: bool = False) -> Figure:
    """Draw all claims of some evidence, with a panel for each profile and kind of data.

    Args:
        evidence: of one study at several profiles, or of several studies.
        headings: whether the papers' titles stand above their claims.
    """
    given = list(evidence)
    profiles = {study.profile for study in given}
    rows: dict[str, dict[str, tuple[str, dict[str, ForestCell]]]] = {}
    for study in given:
        of_study = rows.setdefault(study.title if headings else "", {})
        for claim in study.claims:
            _, cells = of_study.setdefault(claim.id, (claim.words, {}))
            for data, cell in forest_cells(claim).items():
                cells[_panel_name(study, data, len(profiles) > 1)] = cell
    kept = {
        heading: [ForestRow(words, cells) for words, cells in claims.values() if cells]
        for heading, claims in rows.items()
    }
    return draw_forest(kept)


def _panel_name(evidence: StudyEvidence, data: str, several: bool) -> str:
    return f"{evidence.profile}: {data}" if several else data


def forest_cells(claim: ClaimEvidence) -> dict[str, ForestCell]:
    """Return a claim's cells in a forest plot by what their data are; what was not judged has none."""
    verdict = claim.judgement
    if not isinstance(verdict, Verdict):
        return {}
    if verdict.exact:
        return {EVERYWHERE: ForestCell(verdict.verdict, note="exact check")}
    bars: dict[str, list[tuple[float, float, float]]] = {}
    for part in verdict.parts:
        if math.isfinite(part.low):
            bars.setdefault(part.data or verdict.data or EVERYWHERE, []).append(part.in_margins)
    if not bars:
        return {verdict.data or EVERYWHERE: ForestCell(verdict.verdict, note="no interval")}
    return {data: ForestCell(verdict.verdict, tuple(intervals)) for data, intervals in bars.items()}


EVERYWHERE = "made data"
"""Panel of what depends on no collection, such as exact checks, which try made lists."""


def _plain(text: str) -> str:
    """Return a text without the signs of formulas, which a figure's labels would set otherwise."""
    return text.replace("$", "").replace("_{ij}", "ij").replace("_i", "i").replace("_j", "j")
