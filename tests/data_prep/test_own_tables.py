"""Tables of one's own as data sets: ``parquet[path=...,query=...,label=...]``."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_data.file_specifications import TableParameters
from rankplug_data.own_tables import OWN_TABLES

import rankplug as rp
from rankplug.errors import DataError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
NAMES = "query=q,label=y"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")


def write(path, queries: int, first: int = 0):
    """Write four rows a query, in an order that is not that of the queries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.random.default_rng(first).permutation(4 * queries)
    table = {"q": [f"q{first + row // 4}" for row in rows], "y": rows % 3, "x": rows * 0.5, "url": ["u"] * rows.size}
    parquet.write_table(pa.table(table), path)
    return path


def test_one_file_is_split_at_random_by_query_and_keeps_names(tmp_path) -> None:
    path = write(tmp_path / "mine.parquet", 20)
    split = rp.load(f"parquet[path={path},{NAMES}]", seed=1)
    assert [len(part) for part in split] == [12, 4, 4]
    assert {query for part in split for query in part.query_ids} == {f"q{query}" for query in range(20)}
    assert split.train.feature_names == ("x",) and split.train.lengths.tolist() == [4] * 12
    model = rp.fit("lightgbm", scorer="trees[rounds=2,min_data=1]", loss="mse", train=split.train)
    assert model.booster.feature_name() == ["x"]


def test_parts_are_named_by_files_or_by_the_names_in_a_folder(tmp_path) -> None:
    for part, queries, first in (("train", 6, 0), ("validation", 2, 100), ("test", 3, 200)):
        write(tmp_path / "hub" / "data" / f"{part}-00000-of-00001.parquet", queries, first)
    split = rp.load(f"parquet[path={tmp_path}/hub,{NAMES}]")
    assert [len(part) for part in split] == [6, 2, 3] and isinstance(split.train.features.base, np.memmap)
    folder = tmp_path / "hub" / "data"
    named = f"parquet[path={folder}/train-00000-of-00001.parquet,valid={folder}/validation-00000-of-00001.parquet"
    split = rp.load(f"{named},test={folder}/test-00000-of-00001.parquet,{NAMES}]")
    assert [len(part) for part in split] == [6, 2, 3]


def test_shards_without_names_of_parts_are_one_table(tmp_path) -> None:
    write(tmp_path / "shards" / "part-0.parquet", 6)
    write(tmp_path / "shards" / "part-1.parquet", 4, first=100)
    assert sum(len(part) for part in rp.load(f"parquet[path={tmp_path}/shards,{NAMES}]")) == 10


def test_what_was_done_to_the_rows_is_told_and_recorded(tmp_path) -> None:
    path = write(tmp_path / "mine.parquet", 10)
    parameters = TableParameters(path=str(path), query="q", label="y")
    told = OWN_TABLES.prepare(parameters, source=None, on_error="raise")
    assert "warning: train: rows were brought together by query" in told
    assert "warning: url left out, no numbers" in told and "60/20/20" in told
    assert OWN_TABLES.state(parameters) == "prepared" and OWN_TABLES.verify(parameters)[1] == []


def test_a_file_that_changed_is_read_anew_and_has_another_digest(tmp_path) -> None:
    from rankplug_data.file_fingerprint import content_digest

    path = write(tmp_path / "mine.parquet", 10)
    parameters = TableParameters(path=str(path), query="q", label="y")
    before = content_digest(parameters)
    assert sum(len(part) for part in rp.load(f"parquet[path={path},{NAMES}]")) == 10
    write(path, 15)
    assert sum(len(part) for part in rp.load(f"parquet[path={path},{NAMES}]")) == 15
    assert before != content_digest(parameters)


def test_missing_labels_are_left_out_where_that_is_said(tmp_path) -> None:
    path = tmp_path / "holes.parquet"
    parquet.write_table(pa.table({"q": [1, 1, 2, 2] * 5, "y": [1.0, None, 0.0, 1.0] * 5, "x": [1.0] * 20}), path)
    with pytest.raises(DataError, match="the label of row 1 in y is missing \\(5 such\\)"):
        rp.load(f"parquet[path={path},{NAMES}]")
    parameters = TableParameters(path=str(path), query="q", label="y", missing_labels="skip")
    assert "2 queries" in OWN_TABLES.prepare(parameters, source=None, on_error="raise")


def test_a_folder_without_tables_and_parts_of_other_widths_are_told(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no Parquet, Arrow or Feather file"):
        rp.load(f"parquet[path={tmp_path}/empty,{NAMES}]")
    write(tmp_path / "train.parquet", 5)
    parquet.write_table(pa.table({"q": [1], "y": [1], "z": [1]}), tmp_path / "test.parquet")
    with pytest.raises(DataError, match=r"test\.parquet has no feature x"):
        rp.load(f"parquet[path={tmp_path}/train.parquet,test={tmp_path}/test.parquet,{NAMES}]")


@pytest.mark.parametrize("index", [None, "row"])
def test_the_index_that_pandas_writes_is_no_feature(tmp_path, index) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": np.repeat(np.arange(30), 4), "y": np.tile([1, 0, 2, 0], 30), "x": np.arange(120.0)})
    frame = frame[frame["x"] % 7 != 0].rename_axis(index)
    frame.to_parquet(tmp_path / "filtered.parquet")
    split = rp.load(f"parquet[path={tmp_path}/filtered.parquet,{NAMES}]")
    assert split.train.feature_names == ("x",)
    assert rp.Lists.from_table(frame, query="q", label="y").feature_names == ("x",)
