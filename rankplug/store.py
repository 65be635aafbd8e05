"""Results on disk: one Parquet file a finished trial, written whole or not at all, by any number of writers at once.

A file holds the metrics of every test query and the learning curve as rows, and the combination, versions and timings
in its metadata. A trial that failed leaves a JSON file instead, which is never taken for a result.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug import places
from rankplug.combinations import read_combination
from rankplug.errors import RankplugError
from rankplug.learning_curve import LearningCurve
from rankplug.trials import Result, Trial

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
COLUMNS = ("measure", "metric", "part", "iteration", "query", "value")


class StoreError(RankplugError):
    """A result that cannot be read or written."""


class Store:
    """A folder of results.

    Args:
        folder: ``RANKPLUG_RESULTS`` or ``results`` when not given.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else places.results_folder()

    def __repr__(self) -> str:
        return f"<Store {self.folder}>"

    def path(self, trial: Trial) -> Path:
        """Where a trial's result lies once it is finished."""
        return self.folder / trial.combination.identity / f"{trial.identity}.parquet"

    def failure_path(self, trial: Trial) -> Path:
        """Where a trial's failure lies."""
        return self.path(trial).with_suffix(".failed.json")

    def has(self, trial: Trial) -> bool:
        """Whether the trial is finished."""
        return self.path(trial).exists()

    def has_failed(self, trial: Trial) -> bool:
        """Whether the trial's last run failed."""
        return self.failure_path(trial).exists()

    def write(self, result: Result) -> Path:
        """Records a result, or a failure; a finished trial takes the place of an earlier failure."""
        if result.failed:
            path = self.failure_path(result.trial)
            record = {"failure": result.failure, **_describe(result)}
            self._write(path, json.dumps(record, indent=1, default=str).encode())
            return path
        path = self.path(result.trial)
        self._write(path, _parquet(result))
        self.failure_path(result.trial).unlink(missing_ok=True)
        return path

    def _write(self, path: Path, content: bytes) -> None:
        temporary = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            raise StoreError(
                f"cannot write {path}: {error.strerror or error}; free space, or name another folder with"
                " RANKPLUG_RESULTS"
            ) from error

    def files(self) -> Iterator[Path]:
        """The files of all finished trials."""
        return iter(sorted(self.folder.glob("*/*.parquet")))

    def failures(self) -> list[dict[str, Any]]:
        """The records of all failed trials."""
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("*/*.failed.json"))]

    def read(self, trial: Trial) -> Result:
        """The result of a finished trial."""
        return _result(self.path(trial))

    def about(self, trial: Trial) -> dict[str, Any] | None:
        """What is known of a finished trial beside its numbers; None for one that is not finished."""
        import pyarrow.parquet as parquet

        path = self.path(trial)
        return _metadata(parquet.read_schema(path).metadata, path) if path.exists() else None

    def frame(self, trials: Iterable[Trial] | None = None) -> pd.DataFrame:
        """All rows of the finished trials, or of those named, with their combinations' parts as columns."""
        import pandas as pd
        import pyarrow.parquet as parquet

        paths = self.files() if trials is None else [path for trial in trials if (path := self.path(trial)).exists()]
        frames = []
        for path in paths:
            try:
                table = parquet.read_table(path)
                about = _metadata(table.schema.metadata, path)
            except (OSError, ValueError) as error:
                raise StoreError(f"{path} is damaged ({error}); delete it and run its combination again") from error
            frame = table.to_pandas()
            parts = about["combination"]
            for name in ("dataset", "backend", "scorer", "loss", "sampler"):
                frame[name] = parts[name]
            for name in ("transforms", "selection"):
                frame[name] = " | ".join(parts[name])
            frame["combination"], frame["fold"], frame["trial"] = about["identity"], about["fold"], about["trial"]
            frame["fit_seconds"] = about["record"]["fit_seconds"]
            frames.append(frame)
        if not frames:
            return pd.DataFrame(columns=[*COLUMNS, "combination", "fold", "trial"])
        joined: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return joined


def _describe(result: Result) -> dict[str, Any]:
    trial = result.trial
    return {
        "format": FORMAT,
        "identity": trial.combination.identity,
        "combination": trial.combination.model_dump(mode="json"),
        "fold": trial.fold,
        "trial": trial.number,
        "plugins": trial.combination.versions,
        "record": result.record,
    }


def _parquet(result: Result) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    best = int(result.record.get("best_iteration", 0))
    blocks: list[tuple[Any, ...]] = [
        ("query", metric, "test", best, list(result.query_ids), values) for metric, values in result.queries.items()
    ]
    for name, values in result.curve.columns.items():
        part, _, metric = name.partition(" ")
        blocks.append(("curve", metric, part, np.array(result.curve.iterations), [""] * len(values), values))
    lengths = [len(block[-1]) for block in blocks]
    columns = {
        name: np.repeat(np.array([block[place] for block in blocks], object), lengths)
        for place, name in enumerate(COLUMNS[:3])
    }
    columns["iteration"] = np.concatenate(
        [np.broadcast_to(block[3], len(block[5])) for block in blocks] or [np.empty(0)]
    )
    columns["query"] = np.concatenate([[], *(np.array(block[4], object) for block in blocks)])
    columns["value"] = np.concatenate([[], *(np.asarray(block[5], np.float64) for block in blocks)])
    table = pa.table({name: _column(pa, name, columns[name]) for name in COLUMNS})
    table = table.replace_schema_metadata({b"rankplug": json.dumps(_describe(result), default=str).encode()})
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _column(pa: Any, name: str, values: Any) -> Any:
    if name == "value":
        return pa.array(values, pa.float64())
    if name == "iteration":
        return pa.array(values, pa.int32())
    return pa.array(values, pa.string()).dictionary_encode()


def _metadata(metadata: dict[bytes, bytes] | None, path: Path) -> dict[str, Any]:
    if not metadata or b"rankplug" not in metadata:
        raise StoreError(f"{path} is not a result of rankplug; move it out of the folder")
    about: dict[str, Any] = json.loads(metadata[b"rankplug"])
    if about["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {about['format']}, this version reads {FORMAT}; read it with the version that wrote it"
        )
    return about


def _result(path: Path) -> Result:
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot read {path} ({error}); delete it and run its combination again") from error
    about = _metadata(table.schema.metadata, path)
    frame = table.to_pandas()
    asked = frame[frame["measure"] == "query"]
    by_metric = asked.groupby("metric", observed=True, sort=False)["value"]
    queries = {str(metric): values.to_numpy(np.float64) for metric, values in by_metric}
    first = next(iter(queries), None)
    ids = tuple(asked[asked["metric"] == first]["query"].astype(str)) if first else ()
    learned = frame[frame["measure"] == "curve"]
    curve = LearningCurve()
    for (part, metric), rows in learned.groupby(["part", "metric"], observed=True, sort=False):
        curve.iterations = rows["iteration"].tolist()
        curve.columns[f"{part} {metric}"] = rows["value"].tolist()
    trial = Trial(read_combination(about["combination"]), about["fold"], about["trial"])
    return Result(trial, queries, ids, curve, about["record"])
