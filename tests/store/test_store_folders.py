"""The same results give the same answers whatever the folders above them are called."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

import rankplug as rp
from rankplug.store import Store, query

NAMES = ["value=3", "fold=2/value=__HIVE_DEFAULT_PARTITION__", "**", "[a]*?", "{a,b}", "it's", "ü漢字 é", "new\nline",
         "~", "s3:", "a;drop table x;--", "-x", "a.parquet"]  # fmt: skip


def answers(store: Store) -> list[pd.DataFrame]:
    columns = ["loss", "fold", "trial", "measure", "metric", "part", "iteration", "query"]
    return [
        rp.results(store),
        store.frame().sort_values(columns).reset_index(drop=True),
        query("select loss, trial, metric, query, value, iteration from queries order by all", store),
        query("select loss, trial, metric, part, value, iteration from curves order by all", store),
    ]


@pytest.fixture(scope="module")
def plain(tmp_path_factory, fill):
    """Make a store in a folder with a plain name, and return its answers."""
    store = Store(tmp_path_factory.mktemp("plain") / "results")
    fill(store, {"mse": 0.0, "ranknet": 0.1}, trials=2, folds=(1,))
    return store.folder, answers(store)


@pytest.mark.parametrize("name", NAMES)
def test_answers_do_not_depend_on_the_name_of_a_folder(tmp_path, plain, name):
    folder, expected = plain
    for copy in (name, "a", "b", "abcde"):
        shutil.copytree(folder, tmp_path / copy / "results", dirs_exist_ok=True)
    for answer, expectation in zip(answers(Store(tmp_path / name / "results")), expected, strict=True):
        pd.testing.assert_frame_equal(answer, expectation)
