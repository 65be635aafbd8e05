"""Results on disk: one Parquet file per finished trial, written atomically, by any number of processes at once.

A failed trial leaves a JSON file instead, which is never taken for a result. Beside the results are the executed
notebooks, an index, and locks by which several sweeps on one store share the work.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from rankplug.errors import RankplugError
from rankplug.store._combination import BAR, CHAINS, TABLE_PARTS, Combination, Result, StoredScores, Trial
from rankplug.store._files import (
    COLUMNS,
    DAMAGES,
    SCORES,
    StoreError,
    damaged,
    describe,
    encode,
    encode_scores,
    path_in_store,
    read_about,
    read_failure,
    read_result,
    read_scores,
    read_table,
    row_schema,
    scores_path,
)
from rankplug.store._index import FILE, INDEX, FoundResults, delete_index, find_results, write_index
from rankplug.system import check_can_write, check_memory, results_folder, write_whole

if TYPE_CHECKING:
    import pandas as pd

NOTEBOOKS = "notebooks"
NOTEBOOK = re.compile(r"[A-Za-z0-9.@-]+-[0-9a-f]{16}\.ipynb")
"""Names of executed notebooks, see :meth:`Store.notebook_path`."""
LOCKS = ".locks"


class Store:
    """A folder of results.

    Args:
        folder: path of the folder; by default that of the project, or what ``RANKPLUG_RESULTS`` names.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        try:
            self.folder = Path(folder) if folder is not None else results_folder()
        except TypeError:
            raise StoreError(f"a store is named by the path of its folder, not by {folder!r}") from None

    @classmethod
    def named(cls, store: Store | str | Path | None) -> Store:
        """Return a store as it is, or the one in a folder."""
        return store if isinstance(store, Store) else cls(store)

    def __repr__(self) -> str:
        return f"<Store {self.folder}>"

    def path(self, trial: Trial) -> Path:
        """Return the path of a finished trial's result."""
        return self.folder / path_in_store(trial.combination.identity, trial.fold, trial.number)

    def failure_path(self, trial: Trial) -> Path:
        """Return the path of a failed trial's record."""
        return self.path(trial).with_suffix(".failed.json")

    def notebook_path(self, combination: Combination, identity: str = "") -> Path:
        """Return the path of a combination's executed notebook, or of that of the results with another identity."""
        words = [combination.dataset, combination.backend, combination.scorer, combination.loss, combination.sampler]
        name = re.sub(r"[^A-Za-z0-9.@]+", "-", " ".join(word for word in words if word)).strip("-")
        return self.folder / NOTEBOOKS / f"{name[:120]}-{identity or combination.identity}.ipynb"

    def has(self, trial: Trial) -> bool:
        """Tell whether the trial is finished."""
        return self.path(trial).exists()

    def has_failed(self, trial: Trial) -> bool:
        """Tell whether the trial's last run failed."""
        return self.failure_path(trial).exists()

    def write(self, result: Result) -> Path:
        """Record a result or a failure; a result replaces an earlier failure of its trial."""
        if result.failed:
            path = self.failure_path(result.trial)
            record = {"failure": result.failure, **describe(result)}
            self.write_file(path, json.dumps(record, indent=1, default=str).encode())
            return path
        if result.scores is not None:
            # First, so that a result whose sweep asked for its scores has them.
            self.write_file(scores_path(self.folder, result.trial), encode_scores(result, result.scores))
        path = self.path(result.trial)
        self.write_file(path, encode(result))
        self.failure_path(result.trial).unlink(missing_ok=True)
        return path

    def write_file(self, path: Path, content: bytes) -> None:
        """Write a file of the store atomically."""
        try:
            write_whole(path, content)
        except OSError as error:
            raise self._cannot_write(path, error) from error

    def _cannot_write(self, path: Path, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write {path}: {error.strerror or error}; free space or allow writing there, or name another folder"
            " with --store or RANKPLUG_RESULTS"
        )

    def check_writable(self) -> None:
        """Raise the error now that writing a result would raise after hours of training."""
        row_schema()
        try:
            check_can_write(self.folder / LOCKS / "probe")
        except OSError as error:
            raise self._cannot_write(self.folder, error) from error

    @contextlib.contextmanager
    def claim(self, trial: Trial) -> Iterator[bool]:
        """Claim a trial until the block ends; yields False while another process has claimed it.

        A process that dies gives up its claims.
        """
        path = self.folder / LOCKS / f"{trial.identity}.lock"
        lock = filelock.FileLock(path, thread_local=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except filelock.Timeout:
            yield False
            return
        except OSError as error:
            raise self._cannot_write(path, error) from error
        try:
            yield True
        finally:
            # Whoever waits on the removed file claims it next to someone else, but then finds the trial finished.
            path.unlink(missing_ok=True)
            lock.release()

    def files(self) -> Iterator[Path]:
        """Return the files of all finished trials."""
        try:
            there = self.folder.exists()
        except OSError as error:
            raise StoreError(f"no folder can be named {str(self.folder)[:100]!r}: {error.strerror}") from error
        if there and not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file, not a folder of results")
        return iter(sorted(self.folder.glob("*/*.parquet")))

    def failures(self) -> list[dict[str, Any]]:
        """Return the records of all failed trials."""
        return [read_failure(path) for path in sorted(self.folder.glob("*/*.failed.json"))]

    def failure(self, trial: Trial) -> str:
        """Return why a trial failed; empty if it did not."""
        path = self.failure_path(trial)
        return str(read_failure(path)["failure"]) if path.exists() else ""

    def read(self, trial: Trial) -> Result:
        """Return the result of a finished trial."""
        return read_result(self.path(trial))

    def with_scores(self, trials: Iterable[Trial]) -> tuple[Trial, ...]:
        """Return those of some trials whose test scores are stored, whatever their metrics."""
        if not (self.folder / SCORES).is_dir():
            return ()
        return tuple(trial for trial in trials if scores_path(self.folder, trial).is_file())

    def stored_scores(self, trial: Trial) -> StoredScores:
        """Return the test scores of a trial, which are the same for all metrics."""
        path = scores_path(self.folder, trial)
        about, scores = read_scores(path)
        metrics = about["combination"].get("metrics")
        expected = Combination(**{**trial.combination.model_dump(), "metrics": metrics}).identity
        if (about["identity"], about["fold"], about["trial"]) != (expected, trial.fold, trial.number):
            raise damaged(path, "its description is of another trial")
        return scores

    def about(self, trial: Trial) -> dict[str, Any]:
        """Return combination, versions, digests and timings of a finished trial; empty if it is not finished."""
        path = self.path(trial)
        return read_about(path) if path.exists() else {}

    def paths(self, trials: Iterable[Trial | Path] | None = None) -> list[Path]:
        """Return the files of the finished ones among some trials, which may be named by their files, or of all."""
        if trials is None:
            return list(self.files())
        named = (trial if isinstance(trial, Path) else self.path(trial) for trial in trials)
        return [path for path in named if path.exists()]

    def frame(self, trials: Iterable[Trial | Path] | None = None, *, categories: Collection[str] = ()) -> pd.DataFrame:
        """Return all rows of the finished trials, or of those named, with their combinations' parts as columns.

        A table that cannot fit into memory is refused in a sentence, where the system would end the process.

        Args:
            trials: which ones.
            categories: columns of recurring texts to keep as numbers, which takes a tenth of the time and memory.
        """
        import pandas as pd

        found = self.find(trials)
        if not found.paths:
            return pd.DataFrame(columns=[*COLUMNS, *TABLE_PARTS, "combination", "fold", "trial", "fit_seconds"])
        try:
            rows, position = found.rows()
        except DAMAGES:
            if not self.recover(found):
                raise
            return self.frame(trials, categories=categories)
        columns = pd.DataFrame([trial_columns(about) for about in found.descriptions])
        texts = columns.select_dtypes(exclude="number").drop(columns=list({*columns} & {*categories}))
        check_memory(
            int(texts.memory_usage(index=False).sum() / len(columns) * len(rows)),
            f"a table of the {len(rows):,} rows of {len(columns):,} results",
            f"ask for fewer trials, or keep recurring texts as numbers with categories={sorted(map(str, texts))}",
            ResultsError,
        )
        frame: pd.DataFrame = rows.to_pandas(categories=[name for name in COLUMNS if name in categories])
        wide = {
            str(name): (columns[name].astype("category") if name in categories else columns[name]).take(position).array
            for name in columns
        }
        return frame.assign(**wide)

    def find(self, trials: Iterable[Trial | Path] | None = None) -> FoundResults:
        """Find the descriptions and rows of the finished trials among some, or of all."""
        return find_results(self.folder, self.paths(trials))

    def recover(self, found: FoundResults) -> bool:
        """Delete the index if its rows cannot be read, and return whether it was deleted.

        Raises:
            StoreError: a result is damaged itself.
        """
        for path in found.paths:
            read_table(path)
        try:
            for source in found.sources:
                for _ in source.to_batches():
                    pass
        except DAMAGES:
            return delete_index(self.folder)
        return False

    def compact(self) -> tuple[int, int]:
        """Put all results into the index, which answers questions to thousands of them in seconds.

        Returns:
            The number of results, and the size of the index in bytes.
        """
        paths = self.paths()
        try:
            write_index(self.folder, paths)
            return len(paths), (self.folder / INDEX / FILE).stat().st_size
        except OSError as error:
            for path in paths:
                read_table(path)
            raise self._cannot_write(self.folder / INDEX, error) from error


TRIAL_COLUMNS = (*TABLE_PARTS, "combination", "fold", "trial")


class ResultsError(RankplugError):
    """A question that the results cannot answer."""


def trial_columns(about: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that identify a trial: the parts of its combination, its fold and number."""
    parts = dict(about["combination"])
    if not parts["scorer"] and (scorers := about.get("plugins", {}).get("scorer")):
        parts["scorer"] = scorers[0]["name"]
    return {
        **{part: BAR.join(parts[part]) if part in CHAINS else parts[part] for part in TABLE_PARTS},
        "combination": about["identity"],
        "fold": about["fold"],
        "trial": about["trial"],
        "fit_seconds": about["record"].get("fit_seconds"),
    }
