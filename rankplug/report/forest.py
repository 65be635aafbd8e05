"""The forest plot of claims: as rows of a page, where every claim is a link, and as files for print."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.plotting import FARTHEST, ForestCell, ForestRow, draw_forest, encode_figure
from rankplug.studies import ClaimEvaluation, Evaluation, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = ("pdf", "svg")
"""Formats for print."""
SYNTHETIC = "synthetic data"
"""Panel of what depends on no collection, such as exact checks, which try synthetic lists."""


@dataclass(frozen=True)
class ForestLine:
    """A claim on one kind of data.

    Args:
        words: text of the claim.
        anchor: of the claim on the page of all claims.
        cell: verdict and intervals.
        about: what the verdict rests on.
        data: kind of data, where the claim has several lines.
    """

    words: str
    anchor: str
    cell: ForestCell
    about: str
    data: str = ""

    @property
    def middle(self) -> float:
        """The middle of the decisive interval in margins, as far as it is drawn."""
        ends = self.cell.bars[0][1:] if self.cell.bars else (0.0, 0.0)
        return sum(min(max(end, -FARTHEST), FARTHEST) for end in ends) / 2


def forest_lines(claims: Iterable[tuple[ClaimEvaluation, str]]) -> list[ForestLine]:
    """Return a line for each judged claim, one for each kind of data where it was tested on several.

    Args:
        claims: claims with their anchors.
    """
    lines = []
    for claim, anchor in claims:
        verdict = claim.judgement
        if isinstance(verdict, Verdict):
            cells = forest_cells(claim)
            margin = f"; margin {claim.margin}" if claim.margin else ""
            about = f"{claim.effect} over {verdict.decisive.extent}{margin}" if not verdict.exact else "exact check"
            for data, cell in cells.items():
                lines.append(ForestLine(claim.words, anchor, cell, about, data if len(cells) > 1 else ""))
    return lines


def forest_cells(claim: ClaimEvaluation) -> dict[str, ForestCell]:
    """Return a claim's cells in a forest plot by their kind of data; none for a claim that was not judged."""
    verdict = claim.judgement
    if not isinstance(verdict, Verdict):
        return {}
    if verdict.exact:
        return {SYNTHETIC: ForestCell(verdict.verdict, note="exact check")}
    bars: dict[str, list[tuple[float, float, float]]] = {}
    for part in verdict.parts:
        if math.isfinite(part.low):
            bars.setdefault(part.data or verdict.data or SYNTHETIC, []).append(part.in_margins)
    if not bars:
        return {verdict.data or SYNTHETIC: ForestCell(verdict.verdict, note="no interval")}
    return {data: ForestCell(verdict.verdict, tuple(intervals)) for data, intervals in bars.items()}


def forest_of(evaluations: Sequence[Evaluation], headings: bool = False) -> Figure:
    """Draw all claims of some evaluations, with a panel for each profile and kind of data.

    Args:
        evaluations: one study at several profiles, or several studies.
        headings: whether the papers' titles stand above their claims.
    """
    several = len({evaluation.meta.profile for evaluation in evaluations}) > 1
    rows: dict[str, dict[str, tuple[str, dict[str, ForestCell]]]] = {}
    for evaluation in evaluations:
        of_study = rows.setdefault(evaluation.meta.title if headings else "", {})
        for claim in evaluation.claims:
            _, cells = of_study.setdefault(claim.id, (claim.words, {}))
            for data, cell in forest_cells(claim).items():
                cells[f"{evaluation.meta.profile}: {data}" if several else data] = cell
    return draw_forest(
        {
            heading: [ForestRow(words, cells) for words, cells in claims.values() if cells]
            for heading, claims in rows.items()
        }
    )


def forest_files(evaluations: Sequence[Evaluation], folder: Path) -> dict[str, str]:
    """Write the claims of some studies for print into the report, and return its files by their suffixes."""
    pictures, _ = encode_figure(forest_of(evaluations, headings=len(evaluations) > 1), PRINTED)
    for suffix, content in pictures.items():
        (folder / f"all-claims.{suffix}").write_bytes(content)
    return {suffix: f"all-claims.{suffix}" for suffix in pictures}
