"""An index of results: the descriptions and rows of many in a few files, so that questions need not open thousands.

It is a cache in the folder ``.index`` of a store and may be deleted at any time: results are read as they lie where it
does not know them, or knows them otherwise. An entry counts only while its result's file has the size, time and inode
that it had before it was read. Each part of the index is a pair of files, the rows first and then the descriptions,
each written whole or not at all; a part without descriptions is none. So writers may die at any moment, and as many as
like may write: an entry that two of them wrote is used once.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from rankplug.store.index.index_parts import (
    DESCRIPTIONS,
    NO_STATE,
    ROWS,
    IndexedResults,
    Part,
    State,
    numbered,
    read_part,
    state_of,
    texts_of,
)
from rankplug.store.result_files import (
    DAMAGES,
    parquet_bytes,
    read_about,
    read_arrow,
    rows_of,
)
from rankplug.system import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

INDEX = ".index"
VERSION = "1"
"""Begins the names of the files of parts; parts of other versions are left alone."""
WORTH_INDEXING = 200
"""Results that the index does not know, above which it takes them in; fewer are read in less than half a second."""
RESULTS_AT_ONCE = 2_000
"""Results in memory while a part is written."""
MOST_PARTS = 8
"""Above so many parts, they are made one."""


@dataclass
class Compaction:
    """Outcome of compacting an index: results in it, parts that were joined, and its size in bytes."""

    results: int
    parts: int
    size: int


@dataclass
class ResultIndex:
    """The index of a store.

    Args:
        folder: of the store.
    """

    folder: Path
    _texts: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def place(self) -> Path:
        """The folder of the index."""
        return self.folder / INDEX

    def find(self, paths: Sequence[Path]) -> IndexedResults:
        """Return the descriptions of some results and where their rows are, and take in what is new if it is much."""
        if len(paths) < WORTH_INDEXING:
            return self._found([], {}, paths)
        states = [state_of(path) for path in paths]
        parts = self._parts()
        known = self._known(parts, paths, states)
        if len(paths) - len(known) >= WORTH_INDEXING or len(parts) > MOST_PARTS:
            with contextlib.suppress(OSError), self._alone():
                # Another process may have done it in the meantime.
                parts = self._taken_in(self._parts(), paths, states)
                parts = self._joined_or_anew(parts, paths, states) if len(parts) > MOST_PARTS else parts
                known = self._known(parts, paths, states)
        return self._found(parts, known, paths)

    def compact(self, paths: Sequence[Path]) -> Compaction:
        """Take in all results and make the index one part."""
        with self._alone():
            before = self._parts()
            states = [state_of(path) for path in paths]
            parts = self._joined_or_anew(self._taken_in(before, paths, states), paths, states)
            for file in self.place.glob("*"):
                if file.suffix in (ROWS, DESCRIPTIONS) and file.stem not in {part.name for part in parts}:
                    file.unlink(missing_ok=True)
        size = sum(file.stat().st_size for file in self.place.glob("*") if file.suffix in (ROWS, DESCRIPTIONS))
        return Compaction(len(paths), len(before), size)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self.place.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(self.place / "lock", thread_local=False):
            yield

    def _parts(self) -> list[Part]:
        found = []
        for path in sorted(self.place.glob(f"{VERSION}-*{DESCRIPTIONS}")):
            # What cannot be read is not there: it may be deleted just now, or damaged.
            with contextlib.suppress(*DAMAGES):
                found.append(read_part(path))
        return found

    def _known(
        self, parts: Sequence[Part], paths: Sequence[Path], states: Sequence[State | None]
    ) -> dict[int, tuple[int, int]]:
        """Map positions of paths to the part and entry of each result that is known as it is."""
        there = {
            (file, state): (number, entry)
            for number, part in enumerate(parts)
            for entry, (file, state) in enumerate(zip(part.files, part.states, strict=True))
        }
        found = {}
        for position, (path, state) in enumerate(zip(paths, states, strict=True)):
            if state is not None and (place := there.get((self._name(path), state))) is not None:
                found[position] = place
        return found

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _taken_in(self, parts: list[Part], paths: Sequence[Path], states: Sequence[State | None]) -> list[Part]:
        """Write what no part knows into new parts."""
        import pyarrow as pa

        known = self._known(parts, paths, states)
        new = [position for position in range(len(paths)) if position not in known and states[position] is not None]
        for first in range(0, len(new), RESULTS_AT_ONCE):
            chosen = new[first : first + RESULTS_AT_ONCE]
            abouts = [read_about(paths[position]) for position in chosen]
            tables = [read_arrow(paths[position]) for position in chosen]
            rows = pa.concat_tables([numbered(table, entry) for entry, table in enumerate(tables)])
            files = [self._name(paths[position]) for position in chosen]
            kept = [states[position] or NO_STATE for position in chosen]
            parts = [*parts, self._write(files, kept, [texts_of(about) for about in abouts], rows)]
        return parts

    def _joined(self, parts: Sequence[Part]) -> list[Part]:
        """Write one part of all entries whose results are as they were, and delete the parts that it replaces."""
        import pyarrow as pa
        import pyarrow.compute as compute

        live = {
            file: (number, entry)
            for number, part in enumerate(parts)
            for entry, (file, state) in enumerate(zip(part.files, part.states, strict=True))
            if state_of(self.folder / file) == state
        }
        if not live or (len(parts) == 1 and len(live) == len(parts[0].files)):
            return list(parts) if live else []
        order = sorted(live.values())
        tables = []
        for number, part in enumerate(parts):
            entries = {entry: new for new, (owner, entry) in enumerate(order) if owner == number}
            renamed = pa.array([entries.get(entry, -1) for entry in range(len(part.files))], pa.int32())
            table = part.rows.to_table()
            table = table.set_column(0, "entry", compute.take(renamed, table["entry"]))
            tables.append(table.filter(compute.greater_equal(table["entry"], 0)))
        joined = self._write(
            [parts[number].files[entry] for number, entry in order],
            [parts[number].states[entry] for number, entry in order],
            [(parts[number].shared[entry], parts[number].own[entry]) for number, entry in order],
            pa.concat_tables(tables),
        )
        for part in parts:
            self._delete(part)
        return [joined]

    def _joined_or_anew(
        self, parts: Sequence[Part], paths: Sequence[Path], states: Sequence[State | None]
    ) -> list[Part]:
        """Join parts; where one is damaged, make all of them again."""
        try:
            return self._joined(parts)
        except DAMAGES:
            for part in parts:
                self._delete(part)
            return self._joined(self._taken_in([], paths, states))

    def _delete(self, part: Part) -> bool:
        """Delete the files of a part, and tell whether they are gone."""
        try:
            for suffix in (DESCRIPTIONS, ROWS):
                (self.place / f"{part.name}{suffix}").unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _write(
        self, files: Sequence[str], states: Sequence[State], texts: Sequence[tuple[str, str]], rows: pa.Table
    ) -> Part:
        import pyarrow as pa

        name = f"{VERSION}-{uuid.uuid4().hex}"
        columns: dict[str, Any] = {"file": list(files)}
        for index, column in enumerate(("size", "time", "inode")):
            columns[column] = [state[index] for state in states]
        columns["shared"] = pa.array([shared for shared, _ in texts]).dictionary_encode()
        columns["own"] = [own for _, own in texts]
        # Descriptions say that the part is there, so they come last.
        for suffix, table in ((ROWS, rows), (DESCRIPTIONS, pa.table(columns))):
            write_whole(self.place / f"{name}{suffix}", parquet_bytes(table))
        return read_part(self.place / f"{name}{DESCRIPTIONS}")

    def _found(
        self, parts: Sequence[Part], known: Mapping[int, tuple[int, int]], paths: Sequence[Path]
    ) -> IndexedResults:
        loose = [position for position in range(len(paths)) if position not in known]
        places, descriptions = [], []
        entries = {position: entry for entry, position in enumerate(loose)}
        for position, path in enumerate(paths):
            if position in known:
                number, entry = known[position]
                part = parts[number]
                descriptions.append({**self._read(part.shared[entry]), **json.loads(part.own[entry])})
                places.append((number, entry))
            else:
                descriptions.append(read_about(path))
                places.append((len(parts), entries[position]))
        sources = [part.rows for part in parts]
        if loose:
            sources.append(rows_of([paths[position] for position in loose]))

        def forget(number: int) -> bool:
            return number < len(parts) and self._delete(parts[number])

        return IndexedResults(list(paths), descriptions, places, sources, forget)

    def _read(self, text: str) -> Mapping[str, Any]:
        if text not in self._texts:
            self._texts[text] = json.loads(text)
        return self._texts[text]
