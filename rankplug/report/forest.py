"""The forest plot of claims: as rows of a page, where every claim is a link, and as files for print."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.plotting import FARTHEST, ForestCell, ForestRow, draw_forest, encode_figure, lay_out
from rankplug.studies import Abstention, ClaimEvaluation, Evaluation, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 6
SCALE = 18.0
"""Width of a margin in the picture."""
MIDDLE = 120.0
"""Half of the picture's width."""
PRINTED = ("pdf", "svg")
"""Formats for print."""
STEP, EDGE = 4.0, 8.0
"""Distance between bars, and of the first and last from the picture's edge."""


@dataclass(frozen=True)
class ForestBar:
    """An interval in the picture's coordinates.

    Args:
        left: its lower end, or the edge.
        right: its upper end, or the edge.
        point: of the difference; None where it lies beyond the edge.
        height: at which it is drawn.
        cut: ends that lie beyond the edge, as paths of arrowheads.
        decisive: whether the verdict rests on it.
    """

    left: float
    right: float
    point: float | None
    height: float
    cut: tuple[str, ...]
    decisive: bool


@dataclass(frozen=True)
class ForestLine:
    """A claim on one kind of data.

    Args:
        words: its text.
        anchor: of the claim.
        verdict: its word.
        about: what the verdict rests on, in words.
        bars: its intervals, the decisive one first; none for what is exact.
        data: what it was tried on, where the claim has several lines.
    """

    words: str
    anchor: str
    verdict: str
    about: str
    bars: tuple[ForestBar, ...] = ()
    data: str = ""

    @property
    def lean(self) -> float:
        """The middle of the decisive interval in the picture's coordinates, by which lines are put in order."""
        return (self.bars[0].left + self.bars[0].right) / 2 if self.bars else MIDDLE

    @property
    def depth(self) -> float:
        """The height of the picture."""
        return 2 * EDGE + STEP * max(len(self.bars) - 1, 0)


def forest_lines(claims: Iterable[tuple[ClaimEvaluation, str]]) -> list[ForestLine]:
    """Return a line for each judged claim, one for each kind of data where it was tried on several.

    Args:
        claims: with their anchors.
    """
    return [line for claim, anchor in claims for line in _lines(claim, anchor)]


def _lines(claim: ClaimEvaluation, anchor: str) -> Iterator[ForestLine]:
    if isinstance(claim.judgement, Abstention):
        return
    cells = forest_cells(claim)
    for data, cell in cells.items():
        bars = tuple(_bars(cell))
        about = _about(claim, claim.judgement)
        yield ForestLine(claim.words, anchor, cell.verdict, about, bars, data if len(cells) > 1 else "")


def _about(claim: ClaimEvaluation, verdict: Verdict) -> str:
    if verdict.exact:
        return "exact check"
    margin = f"; margin {claim.margin}" if claim.margin else ""
    return f"{claim.effect} over {verdict.decisive.extent}{margin}"


def _bars(cell: ForestCell) -> Iterator[ForestBar]:
    for index, (effect, low, high) in enumerate(cell.bars[:MOST_BARS]):
        height = EDGE + STEP * index
        cut = [_arrow(-1, height)] if low < -FARTHEST else []
        cut += [_arrow(1, height)] if high > FARTHEST else []
        effect_x = _across(effect) if abs(effect) <= FARTHEST else None
        yield ForestBar(_across(low), _across(high), effect_x, height, tuple(cut), index == 0)


def _across(margins: float) -> float:
    """Return the place of a difference in margins, at the edge where it lies beyond."""
    return round(MIDDLE + SCALE * min(max(margins, -FARTHEST), FARTHEST), 1)


def _arrow(side: int, height: float) -> str:
    tip = MIDDLE + side * (SCALE * FARTHEST + 6)
    return f"M {tip:g} {height:g} l {-6 * side:g} -4 v 8 z"


SYNTHETIC = "synthetic data"
"""Panel of what depends on no collection, such as exact checks, which try synthetic lists."""


def forest_cells(claim: ClaimEvaluation) -> dict[str, ForestCell]:
    """Return a claim's cells in a forest plot by what their data are; what was not judged has none."""
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
        evaluations: of one study at several profiles, or of several studies.
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
    import matplotlib.pyplot as plt

    figure = forest_of(evaluations, headings=len(evaluations) > 1)
    area, written = lay_out(figure), {}
    for suffix in PRINTED:
        file = io.BytesIO()
        encode_figure(figure, file, suffix, area)
        written[suffix] = f"all-claims.{suffix}"
        (folder / written[suffix]).write_bytes(file.getvalue())
    plt.close(figure)
    return written
