"""Wrong data are refused with a message that names what is wrong and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import RankplugError

X = np.ones((3, 2))


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: rp.load("synthtic"), "did you mean synthetic"),
        (lambda: rp.load(7), "not by 7"),
        (lambda: rp.load("synthetic[queries=many]"), "queries='many' is not possible"),
        (lambda: rp.load("synthetic[queries=[20,30]]"), "is a grid, which only a sweep takes"),
        (lambda: rp.load("synthetic", fold=9), "folds 1 to 1, not 9"),
        (lambda: rp.load("synthetic[queries=20]", seed=-1), "seed must be a whole number of at least 0, got -1"),
        (lambda: rp.load("letor-file[path=nowhere.txt]"), "there is no file or folder"),
        (lambda: rp.Lists([["a", "b"]], [0], [0, 1]), "features must be numbers"),
        (lambda: rp.Lists(np.ma.masked_equal([[1.0], [-9.0]], -9), [0, 1], [0, 2]), "a masked array hides 1 of them"),
        (lambda: rp.Lists(X, [0, 1e39, 0], [0, 3]), "labels must be numbers that float32 can hold"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 1.9, 3]), "whole numbers, got 1.9 at position 1"),
        (lambda: rp.Lists(X, [0, 1, 0], [0, 3], feature_names=["a", "a"]), "two features have the name a"),
        (lambda: rp.Lists.from_query_ids(X, [0, 1, 0], [7, None, 7]), "query ids must not be missing"),
        (lambda: rp.Clicks([[1, 2]], [[0, 3]]), "document 0 has 3 clicks at position 2"),
        (lambda: rp.Clicks.from_log([0, 7], [1, 2], [0, 1], size=2), "places from 0 to 1"),
    ],
)
def test_wrong_data_are_refused_by_name(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(RankplugError, match=words):
        attempt()


@pytest.mark.parametrize(
    ("line", "words"),
    [("1 qid:x 1:0.5", "line 51: expected qid:"), ("1 qid:99 1:0.5 1:0.6", "line 51"), ("1 qid:0 1:0.5", "query")],
)
def test_a_wrong_line_of_a_text_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text("".join(f"{n % 3} qid:{n // 5} 1:{n / 7:.3f}\n" for n in range(50)) + line + "\n")
    with pytest.raises(RankplugError, match=words):
        rp.load({"name": "letor-file", "path": str(path)})
