"""A damaged or changed file is reported by its name, and is never merged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.store import Store, StoreError, Trial, export, merge, query
from rankplug.store._files import KEY, row_schema
from rankplug.sweeps import failed_result

QUESTIONS: tuple[Callable[[Store], Any], ...] = (
    rp.results,
    lambda store: query("select * from trials", store),
    Store.frame,
    lambda store: export(store, store.folder.parent / "all.zip"),
    lambda store: merge(Store(store.folder.parent / "here"), [store.folder]),
)


@pytest.mark.parametrize(
    ("field", "value"),
    [("identity", "../../outside"), ("fold", "1"), ("combination", {}), ("record", None), ("trial", None)],
)
def test_a_wrong_description_is_reported(store, combination, made_result, field, value):
    path = store.write(made_result(Trial(combination())))
    table = parquet.read_table(path)
    about = {**json.loads(table.schema.metadata[KEY]), field: value}
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)
    failure = store.write(failed_result(Trial(combination("ranknet")), "ValueError: no"))
    for ask in QUESTIONS:
        with pytest.raises(StoreError, match=f"{path.name} is damaged"):
            ask(store)
    path.unlink()
    failure.write_text(json.dumps({**json.loads(failure.read_text()), field: value}))
    with pytest.raises(StoreError, match=f"{failure.name} is damaged"):
        rp.results(store)
    assert not (store.folder.parent / "here").exists()


def test_a_flipped_bit_is_noticed_wherever_it_is(store, fill):
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    path = store.paths()[0]
    whole, numbers = path.read_bytes(), ["measure", "part", "metric", "iteration", "query", "value"]
    expected = store.frame()[numbers]
    for place in range(4, len(whole) - 8, 31):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            found = store.frame()[numbers]
        except RankplugError:
            continue
        pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_small_file_of_many_rows_is_refused(store, tmp_path, combination, made_result, monkeypatch):
    """Equal rows compress to nothing; read, they would fill the memory."""
    path = store.write(made_result(Trial(combination())))
    metadata, rows = parquet.read_schema(path).metadata, 500_000
    values = {"measure": "query", "metric": "mrr", "part": "test", "iteration": 2, "query": "q", "value": 0.5}
    schema = row_schema().with_metadata(metadata)
    table = pa.table([pa.repeat(pa.scalar(values[field.name], field.type), rows) for field in schema], schema)
    parquet.write_table(table, path, compression="zstd")
    monkeypatch.setattr("rankplug.system.machine.available_memory", lambda: 10 << 20)
    with pytest.raises(StoreError, match=f"{path.name} with its 500,000 rows needs"):
        merge(Store(tmp_path / "here"), [store.folder])
    assert not (tmp_path / "here").exists()
