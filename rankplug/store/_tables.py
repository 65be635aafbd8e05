"""Questions to a store: tidy frames of its results, groups with intervals, comparisons with tests, and SQL.

DuckDB answers, and Arrow reads the Parquet files, so that no path is taken for a pattern or an address and no question
can write a file. There are four tables: ``trials``, a row per finished trial with the parts of its combination and its
timings; ``queries``, a row per trial, metric and test query; ``curves``, a row per trial, metric, part of the data and
iteration; and ``failures``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.statistics import PairedTest, Unit, effect_size, paired_permutation_test, paired_t_test, t_interval
from rankplug.store._combination import TABLE_PARTS, with_canonical_names
from rankplug.store._files import rows_of
from rankplug.store._index import FoundResults
from rankplug.store._store import TRIAL_COLUMNS, ResultsError, Store, trial_columns
from rankplug.store._transfer import ORIGIN, origins_of
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
ENTRY = "entry"
"""Column that joins the rows of a trial to it; questions do not see it."""
QUERY_COLUMNS = ("metric", "query", "value", "iteration")
CURVE_COLUMNS = ("metric", "part", "iteration", "value")
POOLED = (*TABLE_PARTS, "combination")
ALIKE = {"combination", "fold", "trial"}
"""Columns that tell no model from another."""
SHOWN = 4
"""Values that a sentence names of a part; the rest is counted."""
TRIAL = ("dataset", "test_fingerprint", "fold", "trial")
QUERY = ("dataset", "test_fingerprint", "query")
VALUES = [*TRIAL, "metric", "query", "value"]
PAIRED_BY = (*TRIAL, "query")
"""Columns by which the values of two groups are paired."""


def results(
    store: Store | str | Path | None = None,
    *,
    where: str = "",
    metric: str | Sequence[str] = (),
    group_by: str | Sequence[str] = (),
    pool: str | Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """Return a row per trial and metric, or with ``group_by`` a row per group and metric with a t interval over trials.

    Where results were merged, a column has the origin of each, and the origins of a group.

    Groups that would average unlike combinations, such as those of two backends, are refused unless ``pool`` allows it.

    Args:
        store: the folder of results; that of the project by default.
        where: a condition in SQL on the columns of ``trials``, such as ``loss = 'xe_ndcg' and fold = 1``.
        metric: the metrics; all by default.
        group_by: columns; the folds inside a group are averaged within each trial number.
        pool: parts of combinations that may differ inside a group, and are averaged like folds.
        level: level of the intervals.
    """
    fraction(level, "level")
    frame = trial_means(store, where, metric)
    groups, pooled = ([names] if isinstance(names, str) and names else list(names) for names in (group_by, pool))
    return grouped(frame, groups, pooled, level) if groups else frame


def trial_means(store: Store | str | Path | None, where: str, metric: str | Sequence[str]) -> pd.DataFrame:
    """Return one row per trial and metric, the mean over the queries that count."""
    columns = ", ".join(f"trials.{name}" for name in (*TRIAL_COLUMNS, ORIGIN))
    condition = f"where {where}" if where else ""
    frame = query(
        f"select {columns}, means.metric, means.value, means.queries"
        # Sorted values have one sum, whatever the order in which threads read them.
        f" from (select {ENTRY}, metric, list_avg(list_sort(list(value) filter (where not isnan(value)))) as value,"
        f" count(*) filter (where not isnan(value)) as queries"
        f" from (select * from all_queries {condition}) group by {ENTRY}, metric) as means"
        f" join all_trials as trials using ({ENTRY}) order by all",
        store,
    )
    if not frame[ORIGIN].any():
        frame = frame.drop(columns=ORIGIN)
    metrics = [metric] if isinstance(metric, str) else list(metric)
    if metrics:
        _require_metrics(metrics, frame["metric"])
        frame = frame[frame["metric"].isin(metrics)].reset_index(drop=True)
    return frame


def _require_metrics(metrics: Sequence[str], there: pd.Series[str]) -> None:
    """Raise an error if there are results, but none with a requested metric."""
    known = there.unique().tolist()
    for metric in metrics:
        if known and metric not in known:
            raise ResultsError(f"no result has the metric {metric}: {did_you_mean(metric, known)}")


def query(sql: str, store: Store | str | Path | None = None) -> pd.DataFrame:
    """Answer a question in SQL on the tables ``trials``, ``queries``, ``curves`` and ``failures``."""
    require_modules("duckdb", "pyarrow")
    import duckdb

    wrong_question = (
        duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException
    )  # fmt: skip
    store = Store.named(store)
    found = store.find()
    try:
        with _connect(store, found) as connection:
            answer: pd.DataFrame = connection.execute(with_canonical_names(sql)).df()
    except duckdb.Error as error:
        # A damaged result is named; a damaged index is deleted and written again.
        if not isinstance(error, wrong_question) and store.recover(found):
            return query(sql, store)
        raise ResultsError(f"the results cannot answer this query: {str(error).strip()}") from None
    return answer


def _connect(store: Store, found: FoundResults) -> Any:
    """Open a DuckDB connection on the store's tables, which neither reads nor writes any file by itself."""
    import duckdb
    import pandas as pd

    origins = origins_of(store.folder)
    rows = [
        {
            **trial_columns(about),
            **{name: about["record"].get(name) for name in FACTS},
            ORIGIN: origins.get(f"{path.parent.name}/{path.name}", ""),
            "file": str(path),
            ENTRY: entry,
        }
        for about, entry, path in zip(found.descriptions, found.entries, found.paths, strict=True)
    ]
    failures = [
        {**trial_columns({**record, "record": {}}), "failure": record["failure"]} for record in store.failures()
    ]
    own = [*TRIAL_COLUMNS, *FACTS, ORIGIN]
    connection = duckdb.connect()
    for setting in ("enable_external_access = false", "python_enable_replacements = false"):
        connection.execute(f"set {setting}")
    connection.execute("set lock_configuration = true")
    connection.register("all_trials", pd.DataFrame(rows, columns=[*own, "file", ENTRY]))
    connection.register("failures", pd.DataFrame(failures, columns=[*TRIAL_COLUMNS, "failure"]))
    sources = found.sources or [rows_of([])]
    for number, source in enumerate(sources):
        connection.register(f"rows_{number}", source)
    every = " union all by name ".join(f"select * from rows_{number}" for number in range(len(sources)))
    for table, measure, columns in (("queries", "query", QUERY_COLUMNS), ("curves", "curve", CURVE_COLUMNS)):
        words = ", ".join([*(f"trials.{name}" for name in own), *(f"rows.{name}" for name in columns)])
        connection.execute(
            f"create view all_{table} as select {words}, {ENTRY} from ({every}) as rows"
            f" join all_trials as trials using ({ENTRY}) where rows.measure = '{measure}'"
        )
    for table in ("trials", "queries", "curves"):
        connection.execute(f"create view {table} as select * exclude ({ENTRY}) from all_{table}")
    return connection


def distinguishing(rows: pd.DataFrame) -> list[str]:
    """Return the columns that tell groups apart when none are named: the parts that differ between the results."""
    return [name for name in TRIAL_COLUMNS if name not in ALIKE and rows[name].nunique(dropna=False) > 1]


def grouped(frame: pd.DataFrame, groups: Sequence[str], pool: Sequence[str], level: float) -> pd.DataFrame:
    """Return one row per group and metric: the mean over trials with Student's interval, and the counts behind it.

    A trial's value is the mean over the folds and, where they are pooled, the combinations of its group. A trial that
    lacks some of these is ``incomplete`` and left out, as it would be a mean of something else.

    Args:
        frame: one row per trial and metric.
        groups: columns that tell groups apart.
        pool: parts of combinations that may differ inside a group.
        level: level of the intervals.
    """
    import pandas as pd

    for name in groups:
        if name not in TRIAL_COLUMNS:
            raise ResultsError(f"results cannot be grouped by {name}: {did_you_mean(name, TRIAL_COLUMNS)}")
    for name in pool:
        if name not in POOLED:
            raise ResultsError(f"results cannot be pooled over {name}: {did_you_mean(name, POOLED)}")
    _refuse_mixtures(frame, groups, pool)
    keys = [*groups, "metric"]
    there = frame[frame["value"].notna()]
    number = there.groupby(keys, dropna=False).ngroup()
    means = means_of_trials(there, number)
    summary = _intervals(means, level).reindex(range(number.nunique()))
    by_group = there.groupby(number)
    summary["trials"] = means.groupby(level=0).size().reindex(summary.index, fill_value=0)
    summary["incomplete"] = by_group["trial"].nunique() - summary["trials"]
    summary["folds"] = by_group["fold"].nunique()
    summary["combinations"] = by_group["combination"].nunique()
    if ORIGIN in frame:
        summary["origins"] = by_group[ORIGIN].agg(lambda origins: ", ".join(sorted(set(origins) - {""})))
    heads = there.loc[~number.duplicated(), keys].set_index(number[~number.duplicated()])
    return pd.concat([heads.sort_index(), summary], axis=1).reset_index(drop=True)


def means_of_trials(rows: pd.DataFrame, group: pd.Series[int] | None = None) -> pd.Series[float]:
    """Return the value of each trial that has all folds and combinations of its group, by group and trial.

    Args:
        rows: one row per trial and metric.
        group: number of each row's group; a single group by default.
    """
    group = rows["trial"] * 0 if group is None else group
    by_trial = rows.groupby([group, rows["trial"]])["value"]
    cells = rows[["combination", "fold"]].assign(group=group).drop_duplicates().groupby("group").size()
    sizes = by_trial.size()
    return by_trial.mean()[sizes == cells.reindex(sizes.index.get_level_values(0)).to_numpy()]


def _intervals(means: pd.Series[float], level: float) -> pd.DataFrame:
    """Return mean, low and high of each group."""
    import pandas as pd

    intervals = {
        group: t_interval(values.to_numpy(), unit="trials", level=level) for group, values in means.groupby(level=0)
    }
    numbers = {group: (interval.point, interval.low, interval.high) for group, interval in intervals.items()}
    return pd.DataFrame.from_dict(numbers, orient="index", columns=["mean", "low", "high"], dtype=float)


def _refuse_mixtures(frame: pd.DataFrame, groups: Sequence[str], pool: Sequence[str]) -> None:
    allowed = {*groups, *pool}
    if "combination" in allowed:
        return
    parts = frame[[*TABLE_PARTS, "combination"]].drop_duplicates()
    keys = [name for name in groups if name in TABLE_PARTS]
    several = parts[parts.duplicated(keys, keep=False)].groupby(keys, dropna=False) if keys else [((), parts)]
    for names, group in several:
        group_name = ", ".join(str(name) for name in names) or "the results"
        mixed = {name: list(group[name].unique()) for name in TABLE_PARTS if name not in allowed}
        mixed = {name: values for name, values in mixed.items() if len(values) > 1}
        if mixed:
            words = "; ".join(f"{name}: {_few(values)}" for name, values in mixed.items())
            raise ResultsError(
                f"a mean over {group_name} would mix {group['combination'].nunique()} combinations ({words}); add"
                f" {','.join(mixed)} to --group-by, choose some with --where, or allow it with --pool {','.join(mixed)}"
            )
        for _, alike in group.groupby(list(TABLE_PARTS), dropna=False)["combination"]:
            if len(alike) > 1:
                raise ResultsError(
                    f"a mean over {group_name} would mix results of other versions, data or metrics"
                    f" ({_few(list(alike))}); choose one with --where \"combination = '{alike.iloc[0]}'\", or add"
                    " combination to --group-by"
                )


def _few(values: Sequence[Any]) -> str:
    import pandas as pd

    words = ["none" if pd.isna(value) or value == "" else format(value, "g" * isinstance(value, float))
             for value in values[:SHOWN]]  # fmt: skip
    return ", ".join(words) + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")


def compare(
    first: str,
    second: str,
    *,
    store: Store | str | Path | None = None,
    metric: str | Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare two groups of results: the first minus the second, one row for each metric and unit of replication.

    Trials are paired by data set, fold and number, whose seeds and so whose data are the same, and queries by name on
    the same test data, each averaged over its trials. ``low``, ``high`` and ``p`` of a row are of one ``test``:
    a paired t test over trials, a paired permutation test over queries. ``first`` and ``second`` name the two sides by
    what differs between them.

    Args:
        first: a condition in SQL, such as ``loss = 'xe_ndcg'``, that picks one combination a data set.
        second: the other.
        store: the folder of results; that of the project by default.
        metric: the metrics; all by default.
        level: level of the intervals.
    """
    import pandas as pd

    fraction(level, "level")
    metrics = [metric] if isinstance(metric, str) else list(metric)
    groups = [_values(condition, store) for condition in (first, second)]
    both = _paired(*groups)
    if both.empty:
        raise ResultsError(f"no trial of {first} has a counterpart on the same data in {second}")
    _require_metrics(metrics, both["metric"])
    names = dict(zip(("first", "second"), _names(*(group[list(TABLE_PARTS)] for group in groups)), strict=True))
    rows = [
        {"metric": name, **names, **row}
        for name, rows in both.groupby("metric")
        if not metrics or name in metrics
        for row in _compared(rows, level)
    ]
    return pd.DataFrame(rows)


def _names(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Name each side by those of its parts that differ from the other's."""
    said = [side.astype(object).where(side.notna(), "") for side in (first, second)]
    sides = [{part: list(side[part].unique()) for part in TABLE_PARTS} for side in said]
    apart = [part for part in TABLE_PARTS if sides[0][part] != sides[1][part]]
    return [
        " / ".join(str(value) or f"no {part}" for part in apart for value in side[part]) or word
        for side, word in zip(sides, ("first", "second"), strict=True)
    ]


def _values(condition: str, store: Store | str | Path | None) -> pd.DataFrame:
    columns = ", ".join(dict.fromkeys((*TRIAL, *TABLE_PARTS)))
    frame = query(f"select {columns}, combination, metric, query, value from queries where {condition}", store)
    if frame.empty:
        raise ResultsError(f"no result meets the condition {condition}")
    several = frame.groupby("dataset")["combination"].nunique()
    if (several > 1).any():
        dataset = several.idxmax()
        raise ResultsError(
            f"the condition {condition} picks {several.max()} combinations on {dataset}; narrow it to one, such as with"
            f" combination = '{frame.loc[frame['dataset'] == dataset, 'combination'].iloc[0]}'"
        )
    return frame


def _paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the values of two groups side by side, where both have one."""
    names = [*PAIRED_BY, "metric"]
    return first[VALUES].merge(second[VALUES], on=names, suffixes=("_first", "_second")).dropna()


def compared_by_queries(first: pd.DataFrame, second: pd.DataFrame) -> PairedTest | None:
    """Test one metric of two groups over queries; None where they have fewer than two queries in common."""
    pairs = _paired(first, second).groupby([*QUERY])[["value_first", "value_second"]].mean()
    return paired_permutation_test(*pairs.to_numpy().T, unit="queries") if len(pairs) > 1 else None


def _compared(rows: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    units: dict[Unit, tuple[tuple[str, ...], Callable[..., PairedTest]]] = {
        "trials": (TRIAL, paired_t_test),
        "queries": (QUERY, paired_permutation_test),
    }
    for unit, (keys, test) in units.items():
        pairs = rows.groupby([*keys])[["value_first", "value_second"]].mean()
        facts: dict[str, Any] = {
            "unit": unit,
            "pairs": len(pairs),
            "mean_first": pairs["value_first"].mean(),
            "mean_second": pairs["value_second"].mean(),
            "difference": (pairs["value_first"] - pairs["value_second"]).mean(),
            **dict.fromkeys(("low", "high", "p"), float("nan")),
            "test": "",
            "effect_size": float("nan"),
        }
        if len(pairs) > 1:
            values = pairs.to_numpy().T
            difference = test(*values, unit=unit, level=level)
            facts |= {"low": difference.low, "high": difference.high, "p": difference.p_value}
            facts |= {"test": difference.method, "effect_size": effect_size(*values)}
        yield facts
