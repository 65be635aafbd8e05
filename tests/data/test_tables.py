"""Lists from tables, whatever library or file holds them."""

from __future__ import annotations

import decimal
import subprocess
import sys
import uuid

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:.*list the features in")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.feather")

FRAME = pd.DataFrame(
    {
        "query": ["b", "a", "b", "c", "a"],
        "relevance": [1.0, 0.5, 0.0, 2.0, 0.0],
        "bm25": [1.5, 2.5, np.nan, 4.5, 5.5],
        "clicks": [1, 2, 3, 4, 5],
        "new": [True, False, True, False, True],
        "title": list("vwxyz"),
        "name": ["d1", "d2", "d3", "d4", "d5"],
    }
)
COLUMNS = {"query": "query", "label": "relevance", "document": "name"}


def of_polars():
    return pytest.importorskip("polars").DataFrame(FRAME.to_dict("list"))


def of_duckdb():
    frame = FRAME  # noqa: F841 (DuckDB finds it by its name)
    return pytest.importorskip("duckdb").sql("select * from frame")


def of_hugging_face():
    return pytest.importorskip("datasets").Dataset.from_pandas(FRAME).select(range(5))


SOURCES = {
    "pandas": lambda: FRAME,
    "polars": of_polars,
    "pyarrow": lambda: pa.Table.from_pandas(FRAME),
    "duckdb": of_duckdb,
    "datasets": of_hugging_face,
}


def is_the_frame(lists: rp.Lists) -> None:
    assert lists.query_ids.tolist() == ["b", "a", "c"] and lists.starts.tolist() == [0, 2, 4, 5]
    assert lists.labels.tolist() == [1.0, 0.0, 0.5, 0.0, 2.0]
    assert lists.document_ids is not None and lists.document_ids.tolist() == ["d1", "d3", "d2", "d5", "d4"]
    assert lists.feature_names == ("bm25", "clicks", "new")
    expected = [[1.5, 1, 1], [np.nan, 3, 1], [2.5, 2, 0], [5.5, 5, 1], [4.5, 4, 0]]
    np.testing.assert_array_equal(lists.features, np.array(expected, np.float32))


@pytest.mark.parametrize("library", SOURCES)
def test_what_a_library_holds_becomes_lists_by_query(library: str) -> None:
    lists = rp.Lists.from_table(SOURCES[library](), **COLUMNS)
    is_the_frame(lists)
    assert lists.source == f"a table of {library} (rows were brought together by query)"


@pytest.mark.parametrize("library", [library for library in SOURCES if library != "datasets"])
def test_columns_that_are_no_features_are_named(library: str) -> None:
    with pytest.warns(UserWarning, match=r"left out: title \(text with many values\); .* features=\["):
        rp.Lists.from_table(SOURCES[library](), **COLUMNS)


def _shop(rows: int = 60) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "search": np.repeat(np.arange(rows // 6), 6),
            "relevance": generator.integers(0, 3, rows),
            "price": generator.random(rows),
            "product_id": generator.permutation(rows),
            "brand": pd.Categorical(generator.choice(["a", "b"], rows)),
        }
    ).sample(frac=1, random_state=0)


def test_an_id_is_a_feature_only_where_it_is_listed() -> None:
    asked = {"query": "search", "label": "relevance"}
    with pytest.warns(UserWarning, match=r"left out: product_id \(named as an id\);"):
        assert rp.Lists.from_table(_shop(), **asked).feature_names == ("price", "brand")
    with pytest.warns(UserWarning, match=r"left out: code \(whole numbers that never repeat"):
        rp.Lists.from_table(_shop().rename(columns={"product_id": "code"}), **asked)
    listed = rp.Lists.from_table(_shop(), **asked, features=["price", "product_id"])
    assert listed.feature_names == ("price", "product_id")
    assert rp.Lists.from_table(_shop(), **asked, document="product_id").feature_names == ("price", "brand")


def test_categories_are_named_by_column() -> None:
    frame = _shop().assign(brand=lambda shop: shop.brand.cat.codes)
    asked = {"query": "search", "label": "relevance", "features": ["price", "brand"]}
    assert rp.Lists.from_table(frame, **asked, categorical=["brand"]).categorical == (1,)
    with pytest.raises(DataError, match="brnd cannot be categorical: did you mean brand"):
        rp.Lists.from_table(frame, **asked, categorical=["brnd"])


@pytest.mark.parametrize("index", [None, "row"])
@pytest.mark.parametrize("kind", ["frame", "arrow", "parquet", "feather"])
def test_the_index_of_a_data_frame_is_no_feature(tmp_path, kind: str, index: str | None) -> None:
    frame = _shop()[["search", "relevance", "price"]].rename_axis(index)
    table = pa.Table.from_pandas(frame)
    assert table.num_columns == 4
    source = {"frame": frame, "arrow": table}.get(kind, tmp_path / f"shop.{kind}")
    if kind == "parquet":
        frame.to_parquet(source)
    elif kind == "feather":
        pa.feather.write_feather(table, source)
    assert rp.Lists.from_table(source, query="search", label="relevance").feature_names == ("price",)


def test_a_data_set_names_the_columns_that_are_no_features(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    _shop().to_parquet(tmp_path / "shop.parquet")
    name = f"parquet[path={tmp_path / 'shop.parquet'},query=search,label=relevance]"
    with pytest.warns(UserWarning) as caught:  # noqa: PT030
        parts = rp.load(name)
    assert all(
        (part.feature_names, dict(part.categories)) == (("price", "brand"), {"brand": ("a", "b")}) for part in parts
    )
    assert "document: product_id (guessed)" in str(caught[0].message)
    assert parts.train.columns["guessed"] == ["document"]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "stream.arrow", "feather", "folder"])
def test_files_and_folders_of_shards_become_the_same_lists(tmp_path, ending: str) -> None:
    table, path = pa.Table.from_pandas(FRAME), tmp_path / f"mine.{ending}"
    if ending == "folder":
        path.mkdir()
        parquet.write_table(table.slice(0, 2), path / "part-0.parquet")
        parquet.write_table(table.slice(2), path / "part-1.parquet")
        (path / "cache-1.arrow").write_bytes(b"of another program")
    elif ending == "parquet":
        parquet.write_table(table, path, row_group_size=2)
    else:
        new = pa.ipc.new_stream if ending == "stream.arrow" else pa.ipc.new_file
        with new(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    is_the_frame(rp.Lists.from_table(path, **COLUMNS))


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([7, 7, 3], [7, 3]),
        ([7.0, 7.0, 3.0], [7, 3]),
        ([decimal.Decimal("7.5"), decimal.Decimal("7.5"), decimal.Decimal("3.0")], ["7.5", "3.0"]),
        (pd.Categorical(["x", "x", "y"]), ["x", "y"]),
        (pd.to_datetime(["2020-01-02", "2020-01-02", "2021-03-04"]), ["2020-01-02", "2021-03-04"]),
    ],
)
def test_query_ids_may_be_of_any_type(ids, expected) -> None:
    lists = rp.Lists.from_table(pd.DataFrame({"q": ids, "y": [1, 0, 2], "x": [1, 2, 3]}), query="q", label="y")
    assert lists.starts.tolist() == [0, 2, 3]
    assert [found[:10] if isinstance(found, str) else found for found in lists.query_ids.tolist()] == expected


def test_ids_that_arrow_stores_as_bytes_are_texts() -> None:
    if not hasattr(pa, "uuid"):
        pytest.skip("this pyarrow knows no UUIDs")
    ids = [uuid.UUID(int=number) for number in (1, 2, 1)]
    stored = pa.array([one.bytes for one in ids], pa.binary(16)).cast(pa.uuid())
    table = pa.table({"q": stored, "d": stored, "y": [1, 0, 2], "x": [1, 2, 3]})
    lists = rp.Lists.from_table(table, query="q", label="y", document="d")
    assert lists.query_ids.tolist() == [str(ids[0]), str(ids[1])] and lists.starts.tolist() == [0, 2, 3]
    assert lists.document_ids.tolist() == [str(ids[place]) for place in (0, 2, 1)]


def test_a_lazy_frame_is_collected() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"q": [1, 1], "y": [0, 1], "x": [2.0, 3.0]})
    found, expected = (rp.Lists.from_table(one, query="q", label="y") for one in (frame.lazy(), frame))
    assert found.fingerprint == expected.fingerprint


def test_rows_in_any_order_are_the_sorted_rows(tmp_path) -> None:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.normal(size=(5000, 7)).astype(np.float32), columns=list("abcdefg"))
    frame["q"], frame["y"] = generator.integers(0, 200, 5000), generator.integers(0, 5, 5000)
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "mixed.parquet", row_group_size=700)
    found = rp.Lists.from_table(tmp_path / "mixed.parquet", query="q", label="y")
    by_query = pd.concat([frame[frame["q"] == query] for query in frame["q"].unique()])
    expected = rp.Lists.from_query_ids(by_query[list("abcdefg")].to_numpy(), by_query["y"], by_query["q"])
    assert found.fingerprint == expected.fingerprint and (found.query_ids == expected.query_ids).all()


def test_lists_of_numbers_are_features_one_after_another() -> None:
    table = pa.table({"q": [1, 1], "y": [0, 1], "v": [[1.0, 2.0], [3.0, 4.0]], "w": [5, 6]})
    lists = rp.Lists.from_table(table, query="q", label="y")
    assert lists.features.tolist() == [[1, 2, 5], [3, 4, 6]] and lists.feature_names == ("v_0", "v_1", "w")
    lists = rp.Lists.from_table(table, query="q", label="y", features=["w", "v"])
    assert lists.features.tolist() == [[5, 1, 2], [6, 3, 4]]


@pytest.mark.parametrize(("missing", "labels"), [("skip", [1.0, 2.0]), ("zero", [1.0, 0.0, 2.0, 0.0])])
def test_rows_without_a_label_are_taken_as_is_said(missing, labels) -> None:
    table = pa.table({"q": ["a", "b", "a", "b"], "y": [1.0, 2.0, None, float("nan")], "x": [1, 2, 3, 4]})
    lists = rp.Lists.from_table(table, query="q", label="y", missing_labels=missing)
    assert lists.labels.tolist() == labels and f"{4 - 2} " in lists.source
    with pytest.raises(DataError, match="the label of row 2 in y is missing \\(2 such\\)"):
        rp.Lists.from_table(table, query="q", label="y")


@pytest.mark.parametrize("lacks", [0, 1, 3])
def test_rows_left_out_at_either_end_leave_the_others_as_they_are(lacks) -> None:
    labels = [1.0, 0.0, 2.0, 1.0]
    labels[lacks] = float("nan")
    table = pa.table({"q": ["a", "a", "b", "b"], "y": labels, "x": [1, 2, 3, 4]})
    lists = rp.Lists.from_table(table, query="q", label="y", missing_labels="skip")
    assert lists.features.ravel().tolist() == [value for row, value in enumerate([1, 2, 3, 4]) if row != lacks]


SMALL = {"q": ["a", "a"], "y": [0, 1], "x": [1, 2]}


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({}, {"query": "qid"}, "has no column for queries qid: known: q, x, y"),
        ({}, {"features": ["y"]}, "y cannot be a feature"),
        ({"q": ["a", None]}, {}, "the query of row 1 in q is missing"),
        ({"y": [1, -1]}, {}, "label -1.0 of document 1 .* is not a finite number of zero or more"),
        ({"x": pd.to_datetime(["2020-01-02"] * 2)}, {"features": ["x"]}, "the feature x holds timestamp"),
        ({"x": [1.0, 1e300]}, {}, "the feature x has values that float32 cannot hold"),
        ({"x": [[1, 2], [3]]}, {}, "the lists of the feature x are not all of 2 numbers"),
    ],
)
def test_tables_that_make_no_lists_are_told_by_column_and_row(changed, options, message) -> None:
    with pytest.raises(DataError, match=message):
        rp.Lists.from_table(pa.table({**SMALL, **changed}), **{"query": "q", "label": "y", **options})


def test_files_that_are_no_tables_are_told(tmp_path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "cut.arrow").write_bytes(b"nothing of Arrow")
    for name in ("cut.parquet", "cut.arrow"):
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            rp.Lists.from_table(tmp_path / name, query="q", label="y")


def written(path, table):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=500)
    else:
        new = pa.ipc.new_stream if "stream" in path.name else pa.ipc.new_file
        with new(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=500)
    return path


LONG = pa.table({"q": [row // 10 for row in range(100_000)], "y": [row % 3 for row in range(100_000)],
                 "x": [row * 0.5 for row in range(100_000)]})  # fmt: skip
CUT = """
import os, sys
from rankplug.data.tables import open_table
from rankplug.errors import DataError

table = open_table(sys.argv[1])
found = table.batches(["q", "x"])
next(found)
os.truncate(sys.argv[1], 4096)
try:
    for batch in found:
        batch.column(1).to_numpy().sum()
except DataError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["long.parquet", "long.arrow", "stream.arrow"])
def test_a_file_cut_short_while_it_is_read_ends_no_process(tmp_path, name) -> None:
    path = written(tmp_path / name, LONG)
    done = subprocess.run([sys.executable, "-c", CUT, path], capture_output=True, text=True)
    assert done.returncode == 0, done
    assert not done.stdout or f"{path} cannot be read" in done.stdout or f"{path} is damaged" in done.stdout


def test_an_arrow_file_that_says_of_a_text_that_it_lies_elsewhere_is_refused(tmp_path) -> None:
    path = written(tmp_path / "forged.arrow", pa.table({"q": ["first", "second"], "y": [0, 1], "x": [1, 2]}))
    content, ends = path.read_bytes(), np.array([0, 5, 11], np.int32).tobytes()
    assert content.count(ends) == 1
    for last in (1 << 30, -7):
        path.write_bytes(content.replace(ends, np.array([0, 5, last], np.int32).tobytes()))
        with pytest.raises(DataError, match=r"forged\.arrow cannot be read .* write it again"):
            rp.Lists.from_table(path, query="q", label="y")
