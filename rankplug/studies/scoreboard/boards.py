"""Boards: matrices of methods by collections, one for each set of conditions and each set of methods that meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.studies.papers import Study, studies, study
from rankplug.studies.runs import PROFILES, read_profile
from rankplug.studies.scoreboard.entries import Collection, Conditions, Entry, Method, entries
from rankplug.studies.scoreboard.standings import Ranks, Standing, Standings, ranks_of
from rankplug.studies.scoreboard.stored_trials import quoted
from rankplug.studies.scoreboard.titles import distinct_titles

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Store

METRIC = "ndcg@5"
MARGIN = 0.5
"""Points that matter, where no other margin is asked for."""


@dataclass(frozen=True)
class Column:
    """A collection of a board with the methods that were run on it."""

    collection: Collection
    standings: Standings


@dataclass(frozen=True)
class Row:
    """A method of a board with its place on each collection, None where it was not run."""

    method: Method
    rank: float
    cells: tuple[Standing | None, ...]

    @property
    def is_ranked(self) -> bool:
        """Tell whether the method was run on every collection of the board."""
        return not math.isnan(self.rank)


@dataclass(frozen=True, eq=False)
class Board:
    """Methods by collections under the same conditions.

    Args:
        conditions: of all of it.
        columns: its collections.
    """

    conditions: Conditions
    columns: tuple[Column, ...]

    @cached_property
    def ranks(self) -> Ranks:
        """Mean ranks over all collections, of the methods that were run on each of them.

        Within a trial or fold methods are ranked on every collection, and their mean ranks are ranked in turn: trials
        are independent of each other, collections that differ by noise alone are not.
        """
        first, *others = self.columns
        if not others:
            return first.standings.ranks
        every = [
            method
            for method in first.standings.standings
            if all(method in other.standings.standings for other in others)
        ]
        blocks = [column.standings.block_ranks(every) for column in self.columns]
        together = sum(block for block in blocks[1:]) + blocks[0] if every else blocks[0][[]]
        return ranks_of(together.dropna() / len(blocks), [column.standings.design for column in self.columns])

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The methods, the best mean rank first, those without one last."""
        methods = dict.fromkeys(method for column in self.columns for method in column.standings.standings)
        ranks = self.ranks.mean
        rows = [
            Row(
                method,
                ranks.get(method, math.nan),
                tuple(column.standings.standings.get(method) for column in self.columns),
            )
            for method in methods
        ]
        return tuple(sorted(rows, key=lambda row: (math.isnan(row.rank), row.rank, row.method)))

    @property
    def title(self) -> str:
        """The papers and the conditions."""
        return f"{', '.join(dict.fromkeys(row.method.study for row in self.rows))}: {self.conditions.title}"

    @property
    def identities(self) -> tuple[str, ...]:
        """The combinations behind it."""
        cells = (cell for row in self.rows for cell in row.cells if cell)
        return tuple(dict.fromkeys(identity for cell in cells for identity in cell.entry.identities))

    @property
    def records(self) -> Iterator[Mapping[str, Any]]:
        """The records of all trials behind it."""
        return (record for column in self.columns for entry in column.standings.entries for record in entry.records)

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        about = self.conditions
        return {
            "profile": about.profile,
            "data": "made" if about.made else "real",
            "metric": about.metric,
            "origin": about.origin,
            "versions": dict(about.versions),
            "seed": about.seed,
            "ranks": self.ranks.describe(),
            "collections": [
                {
                    "title": column.collection.title,
                    "data": column.collection.details,
                    "ranks": column.standings.ranks.describe(),
                }
                for column in self.columns
            ],
            "methods": [
                {
                    "study": row.method.study,
                    "method": str(row.method),
                    "mean_rank": row.rank if row.is_ranked else None,
                    "cells": [None if cell is None else cell.describe() for cell in row.cells],
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True)
class Scoreboard:
    """All boards of a store.

    Args:
        boards: in the order of profile, data and origin.
        metric: that was asked for.
        margin: the points that would matter.
    """

    boards: tuple[Board, ...]
    metric: str
    margin: float

    @cached_property
    def titles(self) -> dict[Board, str]:
        """The title of each board, where several are alike with what tells them apart."""
        return dict(zip(self.boards, distinct_titles(self.boards), strict=True))

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        return {"metric": self.metric, "margin": self.margin, "boards": [board.describe() for board in self.boards]}


def scoreboard(
    names: Iterable[str | Study] = (),
    *,
    store: Store | str | Path | None = None,
    metric: str = METRIC,
    profiles: Several[str] = (),
    margin: float = MARGIN,
) -> Scoreboard:
    """Compare the methods of papers on every collection of which a store holds runs; nothing is run.

    Args:
        names: of studies, or the studies; all that are installed if there is none.
        store: where results lie, or their folder.
        metric: by name; any conventions of it, each on boards of its own, unless they are named too.
        profiles: sizes of the runs, all if there is none.
        margin: the points that would matter.
    """
    from rankplug.store import Store

    if not margin > 0 or math.isinf(margin):
        raise RankplugError(f"a margin is a number of points above 0, such as {MARGIN}, not {margin}")
    results = Store.named(store)
    chosen = [name if isinstance(name, Study) else study(name) for name in names] or studies()
    sizes = [read_profile(profile) for profile in profiles] or PROFILES
    everything = entries(chosen, results, metric, sizes)
    groups: dict[Conditions, list[Entry]] = {}
    for entry in everything:
        groups.setdefault(entry.conditions, []).append(entry)
    read = QueryValues(results)
    order = sorted(groups, key=lambda conditions: (PROFILES.index(conditions.profile), not conditions.made, conditions))
    boards = [
        Board(conditions, tuple(_columns(together, read, margin / 100)))
        for conditions in order
        for together in _that_meet(_with_variants(groups[conditions]))
    ]
    in_folds = (column.standings for board in boards for column in board.columns if column.standings.is_in_folds)
    read.prepare([entry for standings in in_folds for entry in standings.entries])
    return Scoreboard(tuple(boards), metric, margin)


class QueryValues:
    """Values of entries' test queries, read from the store for many entries at once.

    Args:
        store: where they lie.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[tuple[str, str], None] = {}
        self._rows: dict[tuple[str, str], pd.DataFrame] = {}

    def prepare(self, entries: Iterable[Entry]) -> None:
        """Name entries whose values are read together when the first of them is asked for."""
        self._waiting |= dict.fromkeys(key for entry in entries for key in _keys(entry))

    def __call__(self, entry: Entry) -> pd.Series[float]:
        """Return the values, indexed by trial, fold and query."""
        import pandas as pd

        if not all(key in self._rows for key in _keys(entry)):
            self.prepare([entry])
            self._read()
        rows = pd.concat([self._rows[key] for key in _keys(entry)]).sort_values(["trial", "fold", "query"])
        kept = rows[pd.MultiIndex.from_frame(rows[["trial", "fold"]]).isin(entry.values.index)]
        values: pd.Series[float] = kept.set_index(["trial", "fold", "query"])["value"]
        return values

    def _read(self) -> None:
        """Read what waits, by one question."""
        from rankplug.store import query

        metrics, identities = ({key[part] for key in self._waiting} for part in (0, 1))
        frame = query(
            "select metric, combination, trial, fold, query, value from queries"
            f" where metric in ({quoted(metrics)}) and combination in ({quoted(identities)})",
            self._store,
        )
        nothing = frame.iloc[:0]
        there = {(str(metric), str(name)): rows for (metric, name), rows in frame.groupby(["metric", "combination"])}
        self._rows |= {key: there.get(key, nothing) for key in self._waiting}
        self._waiting.clear()


def _keys(entry: Entry) -> list[tuple[str, str]]:
    return [(entry.conditions.metric, identity) for identity in entry.identities]


def _columns(entries: Sequence[Entry], read: Callable[[Entry], pd.Series[float]], margin: float) -> Iterator[Column]:
    groups: dict[Collection, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.collection, entry.method)):
        groups.setdefault(entry.collection, []).append(entry)
    for collection, several in groups.items():
        yield Column(collection, Standings(several, read, margin))


def _with_variants(entries: Iterable[Entry]) -> list[Entry]:
    """Tell collections apart that are named alike and yet have other test data in the same trial and fold."""
    variants: dict[Collection, list[dict[tuple[int, int], str]]] = {}
    told = []
    for entry in entries:
        known, tests = variants.setdefault(entry.collection, []), entry.tests
        agreeing = (
            index
            for index, other in enumerate(known)
            if all(other.get(key, test) == test for key, test in tests.items())
        )
        number = next(agreeing, len(known))
        if number == len(known):
            known.append({})
        known[number].update(tests)
        told.append(replace(entry, collection=replace(entry.collection, variant=number)) if number else entry)
    return told


def _that_meet(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Divide entries into those whose methods share collections, in the order of their papers."""
    groups: list[tuple[set[Any], list[Entry]]] = []
    for entry in entries:
        own: set[Any] = {entry.method, entry.collection}
        meeting = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        names = own.union(*(group[0] for group in meeting))
        groups.append((names, [*(each for group in meeting for each in group[1]), entry]))
    return [group for _, group in sorted(groups, key=lambda group: min(entry.method for entry in group[1]))]
