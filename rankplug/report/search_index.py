"""The index that the page of the search looks up: claims, exhibits and combinations, each with its address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankplug.report.rendering import page_of
from rankplug.report.study_report import CombinationRecords, StudyReport

Entry = tuple[str, str, str, str]
"""Kind, title, detail and address."""


def search_index(reports: Iterable[StudyReport], combinations: Mapping[str, CombinationRecords]) -> list[Entry]:
    """Return all that is to be found.

    Args:
        reports: of the studies.
        combinations: those with a page, by identity.
    """
    entries = [entry for one in reports for entry in _of_study(one)]
    entries += [
        ("combination", made.title, f"{identity}, {len(made.records)} trials", page_of(identity))
        for identity, made in combinations.items()
    ]
    return entries


def _of_study(one: StudyReport) -> Iterator[Entry]:
    name = one.study.name
    yield "paper", one.study.title, str(one.study.citation), f"{name}.html"
    for claim, anchor in zip(one.evidence.claims, one.claim_anchors, strict=True):
        verdict = f"{name}, {claim.judgement.verdict}"
        yield "claim", claim.words, f"{verdict}, {claim.effect}" if claim.effect else verdict, f"claims.html#{anchor}"
    for shown in one.evaluation.exhibits:
        exhibit, kind = shown.exhibit, "figure" if shown.pictures else "table"
        yield kind, f"{exhibit.name}: {exhibit.title}", name, f"exhibits.html#{one.anchor(exhibit.name)}"
