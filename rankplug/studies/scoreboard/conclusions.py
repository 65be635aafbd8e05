"""Conclusions over all boards: the best method of each collection, what noise gives, and which loss suits a backend.

They are made of the boards' own runs, by the boards' own tests; nothing is trained or read twice for them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankplug.registry import parse
from rankplug.statistics import Interval
from rankplug.studies.scoreboard.boards import Board, Column, Scoreboard
from rankplug.studies.scoreboard.entries import Collection, Entry, Method
from rankplug.studies.scoreboard.standings import Standing, Standings
from rankplug.studies.verdicts.samples import interval_of

FEWEST_COLLECTIONS = 2
LEAST_SHARE = 0.5
"""Collections of a backend, and share of them, on which a loss must have been run for anything to be said of it."""


@dataclass(frozen=True)
class BestMethod:
    """The leading method of a collection.

    Args:
        board: the conditions under which it leads.
        collection: where it leads.
        method: the method.
        standing: its mean with interval, and its runs.
        rivals: methods that are not told apart from it.
        count: methods that were compared.
    """

    board: Board
    collection: Collection
    method: Method
    standing: Standing
    rivals: tuple[Method, ...]
    count: int


@dataclass(frozen=True)
class NoiseEffect:
    """Differences between combinations that differ by nothing but a sampler.

    Args:
        sampler: that one of each pair has.
        differences: with noise less without, a pair each, in the metric's own unit.
    """

    sampler: str
    differences: tuple[Interval, ...]

    @property
    def mean(self) -> float:
        """The mean difference."""
        return sum(difference.point for difference in self.differences) / len(self.differences)

    @property
    def better(self) -> int:
        """Pairs whose interval lies above zero."""
        return sum(difference.low > 0 for difference in self.differences)

    @property
    def worse(self) -> int:
        """Pairs whose interval lies below zero."""
        return sum(difference.high < 0 for difference in self.differences)

    @property
    def with_interval(self) -> int:
        """Pairs that have an interval."""
        return sum(not math.isnan(difference.low) for difference in self.differences)


@dataclass(frozen=True)
class LossRecord:
    """A loss on one backend, over all collections on which it met other losses of this backend.

    Args:
        backend: that trained it.
        loss: with its sampler, if it has one.
        collections: where it was run beside others.
        unbeaten: of these, where it is the best of the backend or not told to be worse.
        behind: the mean difference to the backend's best.
    """

    backend: str
    loss: str
    collections: int
    unbeaten: int
    behind: float


def best_methods(shown: Scoreboard) -> list[BestMethod]:
    """Return the leading method of each collection, of those that no transform changed more than another."""
    leaders = []
    for board in shown.boards:
        for column in plain_columns(board):
            (best, standing), *others = column.standings.standings.items()
            rivals = tuple(method for method, standing in others if standing.verdict != "holds")
            if others:
                leaders.append(BestMethod(board, column.collection, best, standing, rivals, 1 + len(others)))
    return leaders


def plain_columns(board: Board) -> list[Column]:
    """Return a board's columns with the fewest transforms of each data set."""
    fewest: dict[str, int] = {}
    for column in board.columns:
        known = fewest.get(column.collection.dataset, math.inf)
        fewest[column.collection.dataset] = int(min(known, len(column.collection.transforms)))
    return [
        column for column in board.columns if len(column.collection.transforms) == fewest[column.collection.dataset]
    ]


def noise_effects(shown: Scoreboard) -> list[NoiseEffect]:
    """Return what each sampler gives, over all pairs of combinations that differ by it alone."""
    effects: dict[str, dict[tuple[str, str], Interval]] = {}
    for column in (column for board in shown.boards for column in board.columns):
        pairs: dict[str, dict[str, Entry]] = {}
        for entry in column.standings.runs:
            parts = _parts(entry)
            if parts is not None:
                rest = json.dumps({name: value for name, value in parts.items() if name != "sampler"}, sort_keys=True)
                pairs.setdefault(rest, {})[parts.get("sampler") or ""] = entry
        for several in pairs.values():
            plain = several.pop("", None)
            for sampler, noisy in several.items() if plain is not None else ():
                assert plain is not None
                values = (column.standings.values(noisy) - column.standings.values(plain)).dropna()
                if len(values):
                    difference = interval_of(column.standings.sample(values))
                    pair = noisy.identities[0], plain.identities[0]
                    effects.setdefault(parse(sampler).name, {})[pair] = difference
    return [NoiseEffect(sampler, tuple(pairs.values())) for sampler, pairs in sorted(effects.items())]


def loss_records(shown: Scoreboard) -> dict[str, list[LossRecord]]:
    """Return for each backend its losses, those that are unbeaten on the largest share of collections first.

    A loss is compared with others of its backend only, and left out where it was run on too few collections.
    """
    by_backend: dict[str, dict[str, list[Standing]]] = {}
    for column in (column for board in shown.boards for column in plain_columns(board)):
        for backend, standings in _by_backend(column):
            of_loss: dict[str, list[Standing]] = {}
            for standing in standings:
                of_loss.setdefault(_loss(standing.entry), []).append(standing)
            if len(of_loss) < 2:
                continue
            for loss, several in of_loss.items():
                by_backend.setdefault(backend, {}).setdefault(loss, []).append(
                    min(several, key=lambda standing: standing.lead)
                )
    records_of = {backend: list(_records(backend, losses)) for backend, losses in sorted(by_backend.items())}
    return {backend: records for backend, records in records_of.items() if records}


def _records(backend: str, losses: Mapping[str, list[Standing]]) -> Iterable[LossRecord]:
    most = max(map(len, losses.values()))
    records = [
        LossRecord(
            backend,
            loss,
            len(standings),
            sum(standing.verdict != "holds" for standing in standings),
            sum(standing.lead for standing in standings) / len(standings),
        )
        for loss, standings in losses.items()
        if len(standings) >= max(FEWEST_COLLECTIONS, LEAST_SHARE * most)
    ]
    return sorted(records, key=lambda record: (-record.unbeaten / record.collections, record.behind, record.loss))


def _by_backend(column: Column) -> Iterator[tuple[str, list[Standing]]]:
    """Yield each backend with the standings of its methods among themselves."""

    def backend_of(entry: Entry) -> str:
        return parse(str(entry.records[0]["combination"]["backend"])).name

    entries = sorted(column.standings.entries, key=lambda entry: (backend_of(entry), entry.method))
    for backend, several in itertools.groupby(entries, key=backend_of):
        among = Standings(list(several), column.standings.queries, column.standings.margin)
        yield backend, list(among.standings.values())


def _loss(entry: Entry) -> str:
    about = entry.records[0]["combination"]
    sampler = parse(str(about["sampler"])).name if about.get("sampler") else ""
    loss = parse(str(about["loss"])).name
    return f"{loss} with {sampler}" if sampler else loss


def _parts(entry: Entry) -> Mapping[str, Any] | None:
    """Return the parts of an entry's combination; None where validation data chose among several."""
    return entry.records[0]["combination"] if len(entry.identities) == 1 else None
