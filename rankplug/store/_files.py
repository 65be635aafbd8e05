"""Files of a store: a trial's result, its test scores, and the record of a failed trial.

A result is one Parquet file with a row for each metric of a test query and for each point of the learning curve. The
combination, versions, digests and timings are JSON in the file's metadata. Pages have checksums, so that damage is
detected and reported by the name of the file.

Test scores, where they are stored, are ``scores/<digest>/<digest>-f1-t0.parquet`` with a row for each document; the
digest names the combination without its metrics, so combinations that differ only in metrics share the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rankplug.errors import RankplugError
from rankplug.store._combination import Combination, read_combination
from rankplug.store._trial import DocumentScores, KeptScores, Result, Trial
from rankplug.system import check_memory, require_modules
from rankplug.training import LearningCurve

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import dataset

FORMAT = 1
KEY = b"rankplug"
DESCRIBED = {"identity": str, "combination": dict, "fold": int, "trial": int, "seed": int, "record": dict}
"""Fields of every result's description with their types, see :func:`describe`."""
IDENTITY = re.compile(r"[0-9a-f]{16}")
DAMAGES = (OSError, ValueError, KeyError, TypeError, AttributeError, NotImplementedError, RecursionError)
"""Errors that reading a damaged file may raise; those of Arrow are among ValueErrors and OSErrors."""
COLUMNS = ("measure", "metric", "part", "iteration", "query", "value")
TYPES = ("string", "string", "string", "int32", "string", "double")
"""Types of the columns in Arrow's names."""
SCORES = "scores"
CURVE = "curve"
ROWS_PER_BYTE = 200
"""More rows per byte than any result has, whose query ids differ; such a file would fill the memory when it is read."""
BYTES_PER_ROW = 40
"""Memory that a row of a result takes at least."""


class StoreError(RankplugError):
    """A result that cannot be read or written."""


def row_schema() -> pa.Schema:
    """Return the schema of the rows of every result."""
    require_modules("pyarrow")
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in zip(COLUMNS, TYPES, strict=True)])


def path_in_store(identity: str, fold: int, number: int) -> Path:
    """Return the path of a result in its store, which names the combination, fold and trial."""
    return Path(identity) / f"{identity}-f{fold}-t{number}.parquet"


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
        blocks.append((CURVE, metric, part, iterations, ("",) * len(column), np.asarray(column)))
    lengths = [len(block[-1]) for block in blocks]
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
    return _parquet_bytes(table)


def _joined(arrays: list[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.empty(0)


def _parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", write_page_checksum=True, **options)
    return bytes(sink.getvalue())


def checked_format() -> dataset.ParquetFileFormat:
    """Return the format of datasets in which each page is compared with its checksum."""
    from pyarrow import dataset

    options = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
    return dataset.ParquetFileFormat(default_fragment_scan_options=options)


def read_about(path: Path) -> dict[str, Any]:
    """Read the description of the result in a file, without its numbers."""
    require_modules("pyarrow")
    import pyarrow.parquet as parquet

    require_file(path)
    try:
        with path.open("rb") as file:
            return _described(parquet.read_schema(file), path)
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_table(path: Path) -> tuple[dict[str, Any], pa.Table]:
    """Read the description and the rows of the result in a file."""
    require_modules("pyarrow")
    require_file(path)
    try:
        with path.open("rb") as file:
            table = _read_checked(file, path)
        return _described(table.schema, path), table
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_result(path: Path) -> Result:
    """Read the result in a file."""
    about, table = read_table(path)
    try:
        return _result(about, table.to_pandas())
    except DAMAGES as error:
        raise damaged(path, error) from error


def _read_checked(file: BinaryIO, path: Path) -> pa.Table:
    """Read a Parquet file whose pages are what their checksums say, and which has no more rows than its size allows."""
    import pyarrow.parquet as parquet

    content = parquet.ParquetFile(file, page_checksum_verification=True)
    rows, size = content.metadata.num_rows, path.stat().st_size
    if rows > ROWS_PER_BYTE * size and SCORES not in path.parts:
        raise damaged(path, f"{rows:,} rows in {size:,} bytes")
    check_memory(rows * BYTES_PER_ROW, f"{path} with its {rows:,} rows", "move it out of the folder", StoreError)
    return content.read()


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
        record = json.loads(path.read_bytes())
        _check_fields(record, {**DESCRIBED, "failure": str}, path)
    except DAMAGES as error:
        raise damaged(path, error) from error
    return dict(record)


def _result(about: dict[str, Any], frame: pd.DataFrame) -> Result:
    measured = frame[frame["measure"] == "query"]
    queries = {str(metric): rows["value"].to_numpy() for metric, rows in measured.groupby("metric", sort=False)}
    first = next(iter(queries), None)
    names = tuple(measured.loc[measured["metric"] == first, "query"]) if first else ()
    curve = LearningCurve()
    for (part, metric), rows in frame[frame["measure"] == CURVE].groupby(["part", "metric"], sort=False):
        curve.iterations = rows["iteration"].tolist()
        curve.columns[f"{part} {metric}"] = rows["value"].tolist()
    trial = Trial(read_combination(about["combination"]), about["fold"], about["trial"])
    return Result(trial, queries, names, curve, about["record"])


def _described(schema: pa.Schema, path: Path) -> dict[str, Any]:
    about = _read_description(schema, path)
    if not schema.equals(row_schema()):
        raise damaged(path, "its columns have other types")
    return about


def _read_description(schema: pa.Schema, path: Path) -> dict[str, Any]:
    metadata = schema.metadata
    if not metadata or KEY not in metadata:
        raise StoreError(f"{path} is not a result of rankplug; move it out of the folder")
    about = json.loads(metadata[KEY])
    if isinstance(about, dict) and about.get("format", FORMAT) != FORMAT:
        raise StoreError(f"{path} has format {about['format']}, this version of rankplug reads format {FORMAT}")
    _check_fields(about, DESCRIBED, path)
    return dict(about)


def _check_fields(about: Any, fields: dict[str, type], path: Path) -> None:
    wrong = [name for name, kind in fields.items() if type(about.get(name)) is not kind]
    if wrong or not IDENTITY.fullmatch(about["identity"]):
        raise damaged(path, f"its description has no valid {', '.join(wrong) or 'identity'}")
    if missing := set(Combination.model_fields) - set(about["combination"]):
        raise damaged(path, f"its combination has no {', '.join(sorted(missing))}")


def damaged(path: Path, error: BaseException | str) -> StoreError:
    """Return the error of a file that cannot be read."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return StoreError(f"{path} is damaged ({reason}); delete it and run its combination again")


def without_metrics(combination: Combination) -> Combination:
    """Return the combination without its metrics, whose identity names what was trained."""
    return read_combination({**combination.model_dump(), "metrics": ()})


def scores_path(folder: Path, trial: Trial) -> Path:
    """Return the path of a trial's scores in the folder of a store."""
    return folder / SCORES / path_in_store(without_metrics(trial.combination).identity, trial.fold, trial.number)


def encode_scores(result: Result, scored: DocumentScores) -> bytes:
    """Return the content of a file of scores, as 32-bit numbers where these are the same numbers."""
    import pyarrow as pa

    queries = pa.DictionaryArray.from_arrays(
        np.repeat(np.arange(len(scored.lengths), dtype=np.int32), scored.lengths), list(result.query_ids)
    )
    short = scored.scores.astype(np.float32)
    same = np.array_equal(short.astype(np.float64), scored.scores)
    about = {**describe(result), CURVE: result.curve.describe()}
    table = pa.table({"query": queries.cast("string"), "score": short if same else scored.scores})
    table = table.replace_schema_metadata({KEY: json.dumps(about, default=str).encode()})
    return _parquet_bytes(table, use_dictionary=["query"], use_byte_stream_split=["score"])


def read_scores(path: Path) -> tuple[dict[str, Any], KeptScores]:
    """Read a file of scores: the description of the trial, and its scores."""
    require_modules("pyarrow")
    import pyarrow as pa

    require_file(path)
    try:
        with path.open("rb") as file:
            table = _read_checked(file, path)
        about = _read_description(table.schema, path)
        if table.column_names != ["query", "score"] or table["score"].type not in (pa.float32(), pa.float64()):
            raise damaged(path, "its columns are not query and score")
        scores = np.asarray(table["score"].to_numpy(), np.float64)
        return about, KeptScores(scores, LearningCurve.read(about[CURVE]), about["record"], about["identity"])
    except DAMAGES as error:
        raise damaged(path, error) from error
