"""Files of kept scores, which a store has where they were asked for.

One Parquet file a trial with a row for each test document, ``scores/<digest>/<digest>-f1-t0.parquet``, where the digest
names the combination without its metrics. So all combinations that differ in nothing but their metrics share it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.store.combination import Combination, read_combination
from rankplug.store.kept_scores import DocumentScores, KeptScores
from rankplug.store.result_files import (
    DAMAGES,
    KEY,
    damaged,
    describe,
    parquet_bytes,
    read_checked,
    read_description,
    require_file,
)
from rankplug.system import require_modules
from rankplug.training import LearningCurve

if TYPE_CHECKING:
    from rankplug.store.trials import Result, Trial

SCORES = "scores"
CURVE = "curve"


def without_metrics(combination: Combination) -> Combination:
    """Return the combination without its metrics, whose identity names what was trained."""
    return read_combination({**combination.model_dump(), "metrics": ()})


def scores_path(folder: Path, trial: Trial) -> Path:
    """Return the path of a trial's scores in the folder of a store."""
    digest = without_metrics(trial.combination).identity
    return folder / SCORES / digest / f"{digest}-f{trial.fold}-t{trial.number}.parquet"


def encode_scores(result: Result, kept: DocumentScores) -> bytes:
    """Return the content of a file of scores, as 32-bit numbers where these are the same numbers."""
    import pyarrow as pa

    queries = pa.DictionaryArray.from_arrays(
        np.repeat(np.arange(len(kept.lengths), dtype=np.int32), kept.lengths), list(result.query_ids)
    )
    short = kept.scores.astype(np.float32)
    same = np.array_equal(short.astype(np.float64), kept.scores)
    about = {**describe(result), CURVE: result.curve.describe()}
    table = pa.table({"query": queries.cast("string"), "score": short if same else kept.scores})
    described = table.replace_schema_metadata({KEY: json.dumps(about, default=str).encode()})
    return parquet_bytes(described, use_dictionary=["query"], use_byte_stream_split=["score"])


def read_scores(path: Path, trial: Trial) -> KeptScores:
    """Read the scores of a trial."""
    about, scores = _read(path)
    # By identity, which has all parameters: words of an earlier version may leave out what had another default then.
    as_kept = read_combination({**trial.combination.model_dump(), "metrics": about["combination"]["metrics"]})
    if (about["identity"], about["fold"], about["trial"]) != (as_kept.identity, trial.fold, trial.number):
        raise damaged(path, "its description is of another trial")
    return KeptScores(scores, LearningCurve.read(about[CURVE]), about["record"], about["identity"])


def read_scored(path: Path) -> dict[str, Any]:
    """Read the description of the trial whose scores are in a file, after checking that the scores can be read."""
    return _read(path)[0]


def _read(path: Path) -> tuple[dict[str, Any], NDArray[np.float64]]:
    require_modules("pyarrow")
    import pyarrow as pa

    require_file(path)
    try:
        with path.open("rb") as file:
            table = read_checked(file)
        about = read_description(table.schema, path)
        LearningCurve.read(about[CURVE])
        kind = table.schema.field("score").type
        if kind not in (pa.float32(), pa.float64()) or table.column_names != ["query", "score"]:
            raise damaged(path, "its columns are not query and score")
        return about, np.asarray(table["score"].to_numpy(), np.float64)
    except DAMAGES as error:
        raise damaged(path, error) from error
