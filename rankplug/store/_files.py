"""Files of a store: a trial's result, its test scores, and the record of a failed trial.

A result is one Parquet file with a row for each metric of a test query and for each point of the learning curve. The
combination, versions, digests and timings are JSON in the file's metadata. Pages have checksums, so that damage is
detected and reported by the name of the file.

Test scores, where they are stored, are ``scores/<digest>/<digest>-f1-t0.parquet`` with a row for each document; the
digest names the combination without its metrics, so combinations that differ only in metrics share the file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.errors import RankplugError
from rankplug.store._combination import Combination, DocumentScores, Result, StoredScores, Trial
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
    blocks: list[tuple[str, str, str, Any, Sequence[str], Any]] = [
        ("query", metric, "test", np.full(len(values), best), result.query_ids, values)
        for metric, values in result.queries.items()
    ]
    for name, column in result.curve.columns.items():
        part, _, metric = name.partition(" ")
        blocks.append((CURVE, metric, part, result.curve.iterations, ("",) * len(column), column))
    lengths = [len(block[-1]) for block in blocks]
    texts = [np.repeat(np.array([block[index] for block in blocks], object), lengths) for index in range(3)]
    iterations = np.concatenate([np.empty(0, np.int32), *(block[3] for block in blocks)])
    values = np.concatenate([np.empty(0), *(block[5] for block in blocks)])
    queries = list(itertools.chain.from_iterable(block[4] for block in blocks))
    about = json.dumps(describe(result), default=str).encode()
    table = pa.table([*texts, iterations, queries, values], row_schema().with_metadata({KEY: about}))
    return _parquet_bytes(table)


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


@contextlib.contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Turn errors of a damaged file into one that names it."""
    require_modules("pyarrow")
    try:
        yield
    except DAMAGES as error:
        raise damaged(path, error) from error


def read_about(path: Path) -> dict[str, Any]:
    """Read the description of the result in a file, without its numbers."""
    with _naming_damage(path), path.open("rb") as file:
        import pyarrow.parquet as parquet

        return _described(parquet.read_schema(file), path)


def read_table(path: Path) -> tuple[dict[str, Any], pa.Table]:
    """Read the description and the rows of the result in a file."""
    with _naming_damage(path):
        table = _read_checked(path)
        return _described(table.schema, path), table


def read_result(path: Path) -> Result:
    """Read the result in a file."""
    about, table = read_table(path)
    with _naming_damage(path):
        return _result(about, table.to_pandas())


def _read_checked(path: Path) -> pa.Table:
    """Read a Parquet file whose pages have their checksums; one that would fill the memory is refused."""
    import pyarrow.parquet as parquet

    with path.open("rb") as file:
        content = parquet.ParquetFile(file, page_checksum_verification=True)
        rows = content.metadata.num_rows
        check_memory(rows * BYTES_PER_ROW, f"{path} with its {rows:,} rows", "move it out of the folder", StoreError)
        return content.read()


def rows_of(paths: Sequence[Path], first: int = 0) -> Any:
    """Return the rows of many files as one lazy Arrow dataset, with the column ``entry``, numbers from ``first``."""
    import pyarrow as pa
    from pyarrow import dataset, fs

    return dataset.FileSystemDataset.from_paths(
        [str(path.absolute()) for path in paths],
        schema=row_schema().append(pa.field("entry", pa.int32())),
        format=checked_format(),
        filesystem=fs.LocalFileSystem(),
        partitions=[dataset.field("entry") == pa.scalar(first + number, pa.int32()) for number in range(len(paths))],
    )


def read_failure(path: Path) -> dict[str, Any]:
    """Read the record of a failed trial."""
    with _naming_damage(path):
        record = json.loads(path.read_bytes())
        _check_fields(record, {**DESCRIBED, "failure": str}, path)
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
    trial = Trial(Combination(**about["combination"]), about["fold"], about["trial"])
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
    return Combination(**{**combination.model_dump(), "metrics": ()})


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


def read_scores(path: Path) -> tuple[dict[str, Any], StoredScores]:
    """Read a file of scores: the description of the trial, and its scores."""
    with _naming_damage(path):
        table = _read_checked(path)
        about = _read_description(table.schema, path)
        if table.column_names != ["query", "score"] or str(table["score"].type) not in ("float", "double"):
            raise damaged(path, "its columns are not query and score")
        scores = np.asarray(table["score"].to_numpy(), np.float64)
        return about, StoredScores(scores, LearningCurve.read(about[CURVE]), about["record"], about["identity"])
