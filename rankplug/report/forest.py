"""The forest plot of claims: as rows of a page, where every claim is a link, and as files for print."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.plotting import FARTHEST, ForestCell, encode_figure, lay_out
from rankplug.report.rendering import render, template_text
from rankplug.studies import Abstention, ClaimEvidence, StudyEvidence, Verdict, forest_cells, forest_of, kept_under

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

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


def forest_lines(claims: Iterable[tuple[ClaimEvidence, str]]) -> list[ForestLine]:
    """Return a line for each judged claim, one for each kind of data where it was tried on several.

    Args:
        claims: with their anchors.
    """
    return [line for claim, anchor in claims for line in _lines(claim, anchor)]


@dataclass(frozen=True)
class ClaimsInShort:
    """The claims of a study as HTML for a page that is not the report's, to be shown in :func:`claims_style`.

    Args:
        evidence: of the study.
        anchors: of its claims, in their order.
        page: that has the anchors.
    """

    evidence: StudyEvidence
    anchors: Sequence[str]
    page: str

    @property
    def counts(self) -> str:
        """Counts of verdicts, as a bar and in words."""
        return self._render("counts")

    @property
    def strips(self) -> str:
        """A line without words for each, the largest difference first, and the exact checks."""
        return self._render("lines")

    @property
    def forest(self) -> str:
        """A line with its words for each."""
        return self._render("forest")

    def _render(self, part: str) -> str:
        lines = forest_lines(zip(self.evidence.claims, self.anchors, strict=True))
        return str(render("claims_in_short", part=part, evidence=self.evidence, lines=lines, page=self.page))


def claims_style() -> str:
    """Return the style of :class:`ClaimsInShort`, whose colours its page sets, as those of the report do."""
    return template_text("forest.css")


def _lines(claim: ClaimEvidence, anchor: str) -> Iterator[ForestLine]:
    if isinstance(claim.judgement, Abstention):
        return
    cells = forest_cells(claim)
    for data, cell in cells.items():
        bars = tuple(_bars(cell))
        about = _about(claim, claim.judgement)
        yield ForestLine(claim.words, anchor, cell.verdict, about, bars, data if len(cells) > 1 else "")


def _about(claim: ClaimEvidence, verdict: Verdict) -> str:
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


def forest_files(evidence: Iterable[StudyEvidence], folder: Path) -> dict[str, str]:
    """Write the claims of some studies for print into the report, and return its files by their suffixes.

    The same verdicts are drawn once, and kept as evaluations are.
    """
    given = list(evidence)
    kept = kept_under("all claims", (json.dumps([study.describe() for study in given]),))
    laid_out: list[tuple[Figure, Bbox]] = []

    def drawn(suffix: str) -> bytes:
        if not laid_out:
            figure = forest_of(given, headings=len(given) > 1)
            laid_out.append((figure, lay_out(figure)))
        (figure, area), file = laid_out[0], io.BytesIO()
        encode_figure(figure, file, suffix, area)
        return file.getvalue()

    written = {}
    for suffix in PRINTED:
        written[suffix] = f"exhibits/all-claims.{suffix}"
        path = folder / written[suffix]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kept.content(suffix, (), functools.partial(drawn, suffix)))
    if laid_out:
        import matplotlib.pyplot as plt

        plt.close(laid_out[0][0])
    return written
