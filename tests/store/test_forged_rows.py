"""Whatever the rows of a result say, questions are answered by a table, a figure or a sentence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.store import Store, compare, draw_results, export, merge, query
from rankplug.store.result_files import read_result

Make = Callable[..., Any]
EXAMPLES = 40 * int(os.environ.get("RANKPLUG_FUZZ", "1"))
WORDS = st.sampled_from(
    [None, "", "query", "curve", "test", "valid", "ndcg@5", "mrr", "q3", "\0", "x'; --", "a" * 5000]
)
NUMBERS = st.sampled_from([None, 0, 2, -1, 2**31 - 1, -(2**31)])
VALUES = st.sampled_from([None, 0.0, 2.0, -1.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")])
OF_COLUMN = {"measure": WORDS, "metric": WORDS, "part": WORDS, "iteration": NUMBERS, "query": WORDS, "value": VALUES}
CHANGES = st.lists(
    st.sampled_from(list(OF_COLUMN)).flatmap(
        lambda name: st.tuples(st.just(name), OF_COLUMN[name], st.floats(0, 1), st.sampled_from([1, 5, 10**6]))
    ),
    max_size=4,
)
ORDERS = st.sampled_from(["as it was", "reversed", "twice", "none", "half"])
QUESTIONS: tuple[Callable[[Store], Any], ...] = (
    rp.results,
    lambda store: rp.results(store, group_by="loss"),
    lambda store: rp.results(store, metric="mrr", group_by=["loss", "fold"]),
    lambda store: query("select metric, part, avg(value) from queries group by all", store),
    lambda store: query("select * from curves", store),
    lambda store: compare("loss = 'mse'", "loss = 'ranknet'", store=store),
    Store.frame,
    lambda store: [read_result(path) for path in store.paths()],
    lambda store: draw_results(store, group_by=["loss"]),
    lambda store: export(store, store.folder.parent / "all.zip"),
    lambda store: merge(Store(store.folder.parent / "here"), [store.folder]),
)


def forge(path: Path, changes: list[tuple[str, Any, float, int]], order: str) -> None:
    table = parquet.read_table(path)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    for name, value, share, count in changes:
        first = int(share * (len(columns[name]) - 1))
        for row in range(first, min(first + count, len(columns[name]))):
            columns[name][row] = value
    forged = pa.table(columns, table.schema)
    rows = forged.num_rows
    if order == "reversed":
        forged = forged.take(list(range(rows - 1, -1, -1)))
    elif order == "twice":
        forged = pa.concat_tables([forged, forged])
    elif order in ("none", "half"):
        forged = forged.slice(0, rows // 2 if order == "half" else 0)
    parquet.write_table(forged, path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES, order=ORDERS)
def test_whatever_the_rows_say_the_answer_is_a_table_a_figure_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, fill: Make, changes: list[Any], order: str
) -> None:
    store = Store(tmp_path_factory.mktemp("forged") / "results")
    fill(store, {"mse": 0.0, "ranknet": 0.1}, trials=2, folds=(1,))
    forge(store.paths()[0], changes, order)
    for ask in QUESTIONS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ask(store)
        except RankplugError as error:
            said = str(error)
            assert len(said) < 1000
