"""The parts of a study's evaluation: each exhibit, verdict and observation with the runs that it read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankplug.studies.claims import Claim, Observation
from rankplug.studies.papers import Exhibit
from rankplug.studies.verdicts import Judgement

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """A model of a group, and the combinations that represent it: one, or one a fold where validation data chose."""

    group: str
    model: str
    identities: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ExhibitEvaluation:
    """A figure or table on some results.

    Args:
        exhibit: the figure or table.
        table: its numbers.
        pictures: of a figure, the contents of its files by their suffix, ``svg``, ``png`` and ``pdf``, and ``json``
            with the points that it shows, see :func:`rankplug.plotting.encode_points`.
        sources: the runs behind it.
    """

    exhibit: Exhibit
    table: pd.DataFrame
    pictures: dict[str, bytes] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class ClaimEvaluation:
    """The verdict on a claim, with the runs behind it."""

    claim: Claim
    verdict: Judgement
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class ObservationEvaluation:
    """Observation in words with the runs behind it; empty if they were not run."""

    observation: Observation
    told: str
    sources: tuple[Source, ...] = ()
