"""Models compared query by query as a page: a table for each group of runs, and what a picture of two models draws."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankplug.report.rendering import page_of, render

if TYPE_CHECKING:
    from markupsafe import Markup

    from rankplug.report.study_report import StudyReport
    from rankplug.studies import QueryPairs

QUERIES = "queries.html"
PARTS = 1000
"""Parts of one in which values are drawn."""


@dataclass(frozen=True)
class Duel:
    """A model against the best of its group, in shares of the queries.

    Args:
        model: its name.
        page: of its combination; empty where there is none.
        mean: of the metric over all queries.
        wins: share on which it is better than the best.
        ties: share on which both are equal.
        losses: share on which it is worse.
    """

    model: str
    page: str
    mean: float
    wins: float
    ties: float
    losses: float


def queries_html(reports: Iterable[StudyReport], known: Collection[str]) -> Markup:
    """Return the body of the page.

    Args:
        reports: of the studies.
        known: combinations that have a page.
    """
    return render("queries", reports=reports, known=known, duels=duels)


def duels(pairs: QueryPairs, known: Collection[str]) -> list[Duel]:
    """Return every model of a group against the one with the highest mean."""
    found = []
    for place, (model, identity) in enumerate(zip(pairs.models, pairs.identities, strict=True)):
        wins, losses = pairs.better[place][0], pairs.better[0][place]
        shares = (count / pairs.queries for count in (wins, pairs.queries - wins - losses, losses))
        found.append(Duel(model, _page(identity, known), pairs.means[place], *shares))
    return found


def drawn_pairs(reports: Iterable[StudyReport], known: Collection[str]) -> list[dict[str, Any]]:
    """Return what the page's script draws, a mapping for each group.

    Args:
        reports: of the studies.
        known: combinations that have a page.
    """
    return [_drawn(one, pairs, known) for one in reports for pairs in one.evaluation.query_pairs]


def _drawn(one: StudyReport, pairs: QueryPairs, known: Collection[str]) -> dict[str, Any]:
    return {
        "id": one.query_anchors[pairs.group],
        "title": f"{one.study.name}: {pairs.group}",
        "metric": pairs.metric,
        "queries": pairs.queries,
        "models": pairs.models,
        "pages": [_page(identity, known) for identity in pairs.identities],
        "means": [round(mean, 4) for mean in pairs.means],
        "better": pairs.better,
        "drawn": list(_named(pairs)),
        "parts": PARTS,
        "values": [[round(PARTS * value) for value in row] for row in pairs.values],
    }


def _page(identity: str, known: Collection[str]) -> str:
    return page_of(identity) if identity in known else ""


def _named(pairs: QueryPairs) -> Iterator[str]:
    """Yield the queries that are drawn, with trial and fold where there are several."""
    trials, folds = ({place[part] for place in pairs.drawn} for part in (0, 1))
    for trial, fold, query in pairs.drawn:
        parts = [f"trial {trial}"] * (len(trials) > 1) + [f"fold {fold}"] * (len(folds) > 1) + [f"query {query}"]
        yield ", ".join(parts)
