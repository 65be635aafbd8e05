"""Specification of this package: the study ``letor2``."""

from __future__ import annotations

from rankplug import StudySpecification, hookimpl


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="letor2",
            summary="RankSVM, RankBoost, FRank, ListNet and AdaRank beside the official numbers of LETOR 2.0's OHSUMED",
            implementation="rankplug_letor2.study:study",
        )
    ]
