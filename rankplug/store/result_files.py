"""A trial's result as one Parquet file: metrics of every test query and the learning curve as rows, all else beside.

The combination, versions, digests and timings are JSON in the file's metadata, so any Parquet reader has the numbers
and one read of the footer tells what they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rankplug.errors import RankplugError
from rankplug.registry import problem_in
from rankplug.store.combination import read_combination
from rankplug.store.description import Description
from rankplug.store.trials import Result, Trial
from rankplug.system import require_modules
from rankplug.training import LearningCurve

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import dataset

FORMAT = 1
KEY = b"rankplug"
DESCRIBED = ("identity", "combination", "fold", "trial", "seed", "record")
"""Fields of every result's description, see :func:`describe`."""
IDENTITY = re.compile(r"[0-9a-f]{16}")
"""Pattern of a combination's identity, which names files and links."""
DAMAGES = (OSError, ValueError, KeyError, TypeError, AttributeError, NotImplementedError, RecursionError)
"""Errors that reading a damaged file may raise; those of Arrow are ValueErrors among others."""
COLUMNS = ("measure", "metric", "part", "iteration", "query", "value")
TYPES = ("string", "string", "string", "int32", "string", "double")
"""Types of the columns in Arrow's names."""


class StoreError(RankplugError):
    """A result that cannot be read or written."""


def row_schema() -> pa.Schema:
    """Return the schema of the rows of every result."""
    require_modules("pyarrow")
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in zip(COLUMNS, TYPES, strict=True)])


def describe(result: Result) -> dict[str, Any]:
    """Describe everything about a result but its numbers."""
    combination = result.trial.combination
    return {
        "format": FORMAT,
        "identity": combination.identity,
        "combination": combination.model_dump(mode="json"),
        "fold": result.trial.fold,
        "trial": result.trial.number,
        "seed": result.trial.seed,
        "plugins": combination.plugins,
        "versions": combination.versions,
        "data_fingerprint": combination.data_fingerprint,
        "record": result.record,
    }


def encode(result: Result) -> bytes:
    """Return the content of a result's file."""
    import pyarrow as pa

    best = int(result.record.get("best_iteration", 0))
    blocks = [
        ("query", metric, "test", np.full(len(values), best), result.query_ids, values)
        for metric, values in result.queries.items()
    ]
    iterations = np.asarray(result.curve.iterations)
    for name, column in result.curve.columns.items():
        part, _, metric = name.partition(" ")
        blocks.append(("curve", metric, part, iterations, ("",) * len(column), np.asarray(column)))
    lengths = [len(block[-1]) for block in blocks]
    # Equal words of different blocks are one word to a reader only once they are written as plain text, see TYPES.
    columns: list[Any] = [
        pa.DictionaryArray.from_arrays(
            np.repeat(np.arange(len(blocks), dtype=np.int32), lengths), [str(block[index]) for block in blocks]
        )
        for index in range(3)
    ]
    columns += [_joined([block[3] for block in blocks]), [query for block in blocks for query in block[4]]]
    columns += [_joined([block[5] for block in blocks])]
    table = pa.table(columns, row_schema()).replace_schema_metadata(
        {KEY: json.dumps(describe(result), default=str).encode()}
    )
    return parquet_bytes(table)


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    """Return the content of a Parquet file whose pages have checksums, so that no damage passes for other numbers."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", write_page_checksum=True, **options)
    return bytes(sink.getvalue())


def read_checked(source: BinaryIO) -> pa.Table:
    """Read a Parquet file, and raise where a page is not what its checksum says, if it has one."""
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(source, page_checksum_verification=True).read()


def checked_format() -> dataset.ParquetFileFormat:
    """Return the format of datasets in which each page is compared with its checksum, if it has one."""
    from pyarrow import dataset

    options = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
    return dataset.ParquetFileFormat(default_fragment_scan_options=options)


def _joined(arrays: list[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.empty(0)


def read_about(path: Path) -> dict[str, Any]:
    """Read the description of the result in a file, without its numbers."""
    require_modules("pyarrow")
    import pyarrow.parquet as parquet

    require_file(path)
    try:
        with path.open("rb") as file:
            return _checked(parquet.read_schema(file), path)
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_result(path: Path) -> Result:
    """Read the result in a file."""
    try:
        table = _table(path)
        about = _checked(table.schema, path)
        return _result(about, table.to_pandas())
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_arrow(path: Path) -> pa.Table:
    """Read the numbers of the result in a file, as Arrow has them."""
    try:
        return _table(path)
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_rows(path: Path) -> pd.DataFrame:
    """Read the numbers of the result in a file."""
    try:
        frame: pd.DataFrame = read_arrow(path).to_pandas()
    except DAMAGES as error:
        raise damaged(path, error) from error
    return frame


def _table(path: Path) -> pa.Table:
    """Read the rows of a file, taking no columns from folders above it such as ``value=3``."""
    require_modules("pyarrow")
    require_file(path)
    with path.open("rb") as file:
        return read_checked(file)


def require_file(path: Path) -> None:
    """Raise an error if a path is no regular file, since reading a pipe might wait for ever."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no regular file; move it out of the folder")


def rows_of(paths: Sequence[Path]) -> Any:
    """Return the rows of many files as one lazy Arrow dataset, with the column ``entry``: the position of the file."""
    import pyarrow as pa
    from pyarrow import dataset, fs

    return dataset.FileSystemDataset.from_paths(
        [str(path.absolute()) for path in paths],
        schema=row_schema().append(pa.field("entry", pa.int32())),
        format=checked_format(),
        filesystem=fs.LocalFileSystem(),
        partitions=[dataset.field("entry") == pa.scalar(entry, pa.int32()) for entry in range(len(paths))],
    )


def read_failure(path: Path) -> dict[str, Any]:
    """Read the record of a failed trial."""
    require_file(path)
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        missing = [name for name in (*DESCRIBED, "failure") if name not in record]
        problem = "" if missing else problem_in(record, Description)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise damaged(path, error) from error
    if missing:
        raise damaged(path, f"it lacks {', '.join(missing)}")
    if problem:
        raise damaged(path, problem)
    return record


def _result(about: dict[str, Any], frame: pd.DataFrame) -> Result:
    asked = frame[frame["measure"] == "query"]
    queries = {str(metric): rows["value"].to_numpy() for metric, rows in asked.groupby("metric", sort=False)}
    first = next(iter(queries), None)
    names = tuple(asked.loc[asked["metric"] == first, "query"]) if first else ()
    curve = LearningCurve()
    for (part, metric), rows in frame[frame["measure"] == "curve"].groupby(["part", "metric"], sort=False):
        curve.iterations = rows["iteration"].tolist()
        curve.columns[f"{part} {metric}"] = rows["value"].tolist()
    trial = Trial(read_combination(about["combination"]), about["fold"], about["trial"])
    return Result(trial, queries, names, curve, about["record"])


def _checked(schema: pa.Schema, path: Path) -> dict[str, Any]:
    about = read_description(schema, path)
    if not schema.equals(row_schema()):
        raise damaged(path, "its columns have other types")
    return about


def read_description(schema: pa.Schema, path: Path) -> dict[str, Any]:
    """Return the description in the metadata of a file's columns, once it is a sound one."""
    metadata = schema.metadata
    if not metadata or KEY not in metadata:
        raise StoreError(f"{path} is not a result of rankplug; move it out of the folder")
    about: dict[str, Any] = json.loads(metadata[KEY])
    if not isinstance(about, dict) or "format" not in about:
        raise damaged(path, "its description is of another kind")
    if about["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {about['format']}, this version of rankplug reads format {FORMAT}; read it with the"
            " version that wrote it, or name a new folder with RANKPLUG_RESULTS"
        )
    missing = [name for name in DESCRIBED if name not in about]
    if missing:
        raise damaged(path, f"its description lacks {', '.join(missing)}")
    if problem := problem_in(about, Description):
        raise damaged(path, problem)
    return about


def damaged(path: Path, error: BaseException | str) -> StoreError:
    """Return the error of a file that cannot be read."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return StoreError(f"{path} is damaged ({reason}); delete it and run its combination again")
