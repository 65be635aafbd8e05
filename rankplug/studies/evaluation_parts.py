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


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have numbers, and whose columns hold numbers or text under one name each."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    columns = {}
    for name, column in table.items():
        numbers = pd.api.types.is_numeric_dtype(column.dtype)
        words = column.astype(object)
        heading = " ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name)
        columns[heading] = column if numbers else words.where(words.isna(), words.map(str)).astype(object)
    return pd.DataFrame(columns)
