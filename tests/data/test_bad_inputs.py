"""Wrong data are refused with a message that names what is wrong and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import RankplugError

X = np.ones((3, 2))
TABLE = pd.DataFrame({"q": [1, 1], "y": [1, 0], "x": [0.5, 0.1]})


def table(**changes: Any) -> rp.Lists:
    """Read a small table of which some columns are others."""
    return rp.Lists.from_table(TABLE.assign(**changes), query="q", label="y")


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: rp.load("synthtic"), "did you mean synthetic"),
        (lambda: rp.load(7), "not by 7"),
        (lambda: rp.load({"queries": 20}), "needs the key 'name'"),
        (lambda: rp.load("synthetic[querys=20]"), "did you mean queries"),
        (lambda: rp.load("synthetic[queries=many]"), "queries='many' is not possible"),
        (lambda: rp.load("synthetic[queries=[20,30]]"), "is a grid, which only a sweep takes"),
        (lambda: rp.load("synthetic[queries=20"), "expected , or ]"),
        (lambda: rp.load("synthetic", fold=9), "folds 1 to 1, not 9"),
        (lambda: rp.load("synthetic[queries=20]", seed=-1), "seed must be a whole number of at least 0, got -1"),
        (lambda: rp.load("synthetic[queries=20]", transforms=["query_minmx"]), "did you mean query_minmax"),
        (lambda: rp.load("letor-file[path=nowhere.txt]"), "there is no file or folder"),
        (lambda: rp.Lists([1, 2, 3], [0, 1, 0], [0, 3]), r"got shape \(3,\)"),
        (lambda: rp.Lists([["a", "b"]], [0], [0, 1]), "features must be numbers"),
        (lambda: rp.Lists(np.ma.masked_equal([[1.0], [-9.0]], -9), [0, 1], [0, 2]), "a masked array hides 1 of them"),
        (lambda: rp.Lists(X, [0, 1], [0, 3]), "3 rows of features, but labels of shape"),
        (lambda: rp.Lists(X, [0, 1e39, 0], [0, 3]), "labels must be numbers that float32 can hold"),
        (lambda: rp.Lists(X, [0, -1, 0], [0, 3]).validate(), "label -1.0 of document 1"),
        (lambda: rp.Lists(np.full((3, 2), np.nan), [0, 1, 0], [0, 3]).validate(), "feature 1 of document 0 is nan"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 2]), "starts must end with the number of documents, 3, got 2"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 2, 2, 3]), "query number 1 has 0 documents"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 1.9, 3]), "whole numbers, got 1.9 at position 1"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 3], feature_names=["a", "a"]), "two features have the name a"),
        (lambda: rp.Lists.from_query_ids(X, [0, 1, 0], [7, 8, 7]), "query id 7 stands in two places"),
        (lambda: rp.Lists.from_query_ids(X, [0, 1, 0], [7, None, 7]), "query ids must not be missing"),
        (lambda: rp.Lists.from_table("nowhere.parquet", query="q", label="y"), "there is no file or folder"),
        (lambda: rp.Lists.from_table(TABLE, query="qid", label="y"), "no column for queries qid"),
        (lambda: table(y=["good", "bad"]), "labels are numbers"),
        (lambda: table(y=[1, None]), "the label of row 1 in y is missing"),
        (lambda: table(q=[1, None]), "the query of row 1 in q is missing"),
        (lambda: rp.Clicks([[1, 2]], [[0, 3]]), "document 0 has 3 clicks at position 2"),
        (lambda: rp.Clicks.from_log([0, 7], [1, 2], [0, 1], size=2), "places from 0 to 1"),
        (lambda: rp.Lists.concatenate([]), "nothing to concatenate"),
    ],
)
def test_wrong_data_are_refused_by_name(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(RankplugError, match=words):
        attempt()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 qid:x 1:0.5", "line 51: expected qid:"),
        ("1 1:0.5", "line 51"),
        ("-1 qid:99 1:0.5", "line 51"),
        ("1 qid:99 1:0.5 1:0.6", "line 51"),
        ("1 qid:99 0:0.5", "line 51"),
        ("1 qid:0 1:0.5", "query"),
    ],
)
def test_a_wrong_line_of_a_text_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text("".join(f"{n % 3} qid:{n // 5} 1:{n / 7:.3f}\n" for n in range(50)) + line + "\n")
    with pytest.raises(RankplugError, match=words):
        rp.load({"name": "letor-file", "path": str(path)})
