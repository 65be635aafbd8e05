"""Questions to a store: tidy frames of its results, groups with intervals, comparisons with tests, and SQL.

DuckDB asks, and Arrow reads the Parquet files where they lie, so that no path is taken for a pattern, a partition or an
address, and no question can write a file. There are four tables: ``trials``, a row a finished trial with the parts of
its combination and its timings; ``queries``, a row a trial, metric and test query; ``curves``, a row a trial, metric,
part of the data and iteration; and ``failures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.store.canonical_names import with_canonical_names
from rankplug.store.origins import ORIGIN, origins_of
from rankplug.store.questions.groups import grouped
from rankplug.store.result_files import rows_of
from rankplug.store.result_store import TRIAL_COLUMNS, ResultsError, Store, trial_columns
from rankplug.system import fraction, require_modules

if TYPE_CHECKING:
    import pandas as pd

FACTS = (
    "started",
    "machine",
    "threads",
    "load_seconds",
    "fit_seconds",
    "measure_seconds",
    "best_iteration",
    "iterations",
    "stopped",
    "test_fingerprint",
)
PLACE = ("source", "entry")
"""Columns that say where the rows of a trial are; no question sees them."""
QUERY_COLUMNS = ("metric", "query", "value", "iteration")
CURVE_COLUMNS = ("metric", "part", "iteration", "value")


def results(
    store: Store | str | Path | None = None,
    *,
    where: str = "",
    metric: str | Sequence[str] = (),
    group_by: str | Sequence[str] = (),
    pool: str | Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """Return one row a trial and metric, or with ``group_by`` one row a group and metric with a t interval over trials.

    Where results were merged, a column tells the origin of each, and the origins of a group.

    Groups that would average unlike combinations, such as those of two backends, are refused unless ``pool`` allows it.

    Args:
        store: the results' folder, or the usual one.
        where: a condition in SQL on the columns of ``trials``, such as ``loss = 'xe_ndcg' and fold = 1``.
        metric: only these.
        group_by: columns; the folds inside a group are averaged within each trial number.
        pool: parts of combinations that may differ inside a group, and are averaged like folds.
        level: of the intervals.
    """
    fraction(level, "level")
    chosen = [metric] if isinstance(metric, str) else list(metric)
    columns = ", ".join(f"trials.{name}" for name in (*TRIAL_COLUMNS, ORIGIN))
    condition = f"where {where}" if where else ""
    frame = query(
        f"select {columns}, means.metric, means.value, means.queries"
        f" from (select {', '.join(PLACE)}, metric, favg(value) filter (where not isnan(value)) as value,"
        f" count(*) filter (where not isnan(value)) as queries"
        f" from (select * from placed_queries {condition}) group by {', '.join(PLACE)}, metric) as means"
        f" join placed_trials as trials using ({', '.join(PLACE)}) order by all",
        store,
    )
    if not frame[ORIGIN].any():
        frame = frame.drop(columns=ORIGIN)
    if chosen:
        require_metrics(chosen, frame["metric"])
        frame = frame[frame["metric"].isin(chosen)].reset_index(drop=True)
    groups, pooled = ([names] if isinstance(names, str) and names else list(names) for names in (group_by, pool))
    if not groups:
        return frame
    return grouped(frame, groups, pooled, level)


def require_metrics(wanted: Sequence[str], there: pd.Series[str]) -> None:
    """Raise an error if there are results, but none with a requested metric."""
    known = there.unique().tolist()
    for metric in wanted:
        if known and metric not in known:
            raise ResultsError(f"no result has the metric {metric}: {did_you_mean(metric, known)}")


def query(sql: str, store: Store | str | Path | None = None) -> pd.DataFrame:
    """Answer a question in SQL on the tables ``trials``, ``queries``, ``curves`` and ``failures``."""
    require_modules("duckdb", "pyarrow")
    import duckdb

    asked = Store.named(store)
    connection = connect(asked)
    try:
        answer: pd.DataFrame = connection.execute(with_canonical_names(sql)).df()
    except duckdb.Error as error:
        of_question = (
            duckdb.ParserException,
            duckdb.BinderException,
            duckdb.CatalogException,
            duckdb.PermissionException,
        )
        # If the question was understood, a file may be at fault, which is named, or the index, which is made anew.
        if not isinstance(error, of_question) and asked.find().mend():
            return query(sql, asked)
        raise ResultsError(f"the results cannot answer this query: {str(error).strip()}") from None
    finally:
        connection.close()
    return answer


def connect(store: Store) -> Any:
    """Open a DuckDB connection on the store's tables, which neither reads nor writes any file by itself."""
    import duckdb
    import pandas as pd

    indexed = store.find()
    origins = origins_of(store.folder)
    rows = [
        {
            **_trial_row(about),
            **dict(zip(PLACE, position, strict=True)),
            ORIGIN: origins.get(path.relative_to(store.folder).as_posix(), ""),
            "file": str(path),
        }
        for about, position, path in zip(indexed.descriptions, indexed.places, indexed.paths, strict=True)
    ]
    trials = pd.DataFrame(rows, columns=[*TRIAL_COLUMNS, *FACTS, ORIGIN, "file", *PLACE])
    failed = [{**trial_columns_of_failure(record), "failure": record["failure"]} for record in store.failures()]
    connection = duckdb.connect()
    for setting in ("enable_external_access = false", "python_enable_replacements = false"):
        connection.execute(f"set {setting}")
    connection.execute("set lock_configuration = true")
    connection.register("placed_trials", trials)
    connection.execute(f"create view trials as select * exclude ({', '.join(PLACE)}) from placed_trials")
    connection.register("failures", pd.DataFrame(failed, columns=[*TRIAL_COLUMNS, "failure"]))
    sources = indexed.sources or [rows_of([])]
    for number, source in enumerate(sources):
        connection.register(f"rows_{number}", source)
    every = " union all by name ".join(
        f"select {number} as {PLACE[0]}, * from rows_{number}" for number in range(len(sources))
    )
    own = ", ".join(f"trials.{name}" for name in [*TRIAL_COLUMNS, *FACTS, ORIGIN])
    for table, measure, columns in (("queries", "query", QUERY_COLUMNS), ("curves", "curve", CURVE_COLUMNS)):
        words = ", ".join(f"rows.{name}" for name in columns)
        connection.execute(
            f"create view placed_{table} as select {own}, {words}, {', '.join(f'trials.{name}' for name in PLACE)}"
            f" from ({every}) as rows join placed_trials as trials using ({', '.join(PLACE)})"
            f" where rows.measure = '{measure}'"
        )
        connection.execute(f"create view {table} as select * exclude ({', '.join(PLACE)}) from placed_{table}")
    return connection


def _trial_row(about: dict[str, Any]) -> dict[str, Any]:
    return {**trial_columns(about), **{name: about["record"].get(name) for name in FACTS}}


def trial_columns_of_failure(record: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that identify a failed trial."""
    return trial_columns({**record, "record": {"fit_seconds": None}})
