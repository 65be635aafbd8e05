"""Numbers that papers print, beside our own.

A study keeps them as ``published.csv`` in its package, as printed: ``exhibit, dataset, model, metric, value,
half_width, note``; ``half_width`` is half of the printed interval, where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from rankplug.system import trial_seed

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies.study_results import Results


def read_published(package: str) -> pd.DataFrame:
    """Read the published numbers in a study's package."""
    import pandas as pd

    with resources.files(package).joinpath("published.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def beside_published(
    results: Results, group: str, metrics: tuple[str, ...], *, exhibit: str, dataset: str, scale: float = 100.0
) -> pd.DataFrame:
    """Return a group's test metrics beside the published ones, a row for each model and metric.

    There is a difference only where our data are the paper's: published numbers on other data are a reference.

    Args:
        results: results of the study.
        group: name of the group of models.
        metrics: names of the metrics, in their order.
        exhibit: the paper's table.
        dataset: the paper's data set.
        scale: scale of the printed numbers, 100 for percent.
    """
    import pandas as pd

    printed = results.published
    printed = printed[(printed["exhibit"] == exhibit) & (printed["dataset"] == dataset)]
    theirs = printed.set_index(["model", "metric"])[["value", "half_width"]].T.to_dict("list")
    frame, synthetic = results[group], results.is_made(group)
    rows = []
    for model in results.models(group):
        for metric in metrics:
            of_trials = scale * results.trials(group, metric)[model]
            ours = float(of_trials.mean())
            value, half_width = theirs.get((model, metric), (np.nan, np.nan))
            rows.append(
                {
                    "published on": dataset,
                    "data": results.collection(group, dataset) if synthetic else dataset,
                    "ours on": ", ".join(frame["dataset"].unique()),
                    "model": model,
                    "metric": metric,
                    "ours": ours,
                    "half width": results.mean(group, metric, model, scale).half_width,
                    "trials": len(of_trials),
                    "published": value,
                    "published half width": half_width,
                    "difference": np.nan if synthetic else ours - value,
                    "combination": results.combinations_of(group, model),
                }
            )
    return pd.DataFrame(rows)


def stand_ins(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the paper's data sets in a table of :func:`beside_published`, each with the data in its place."""
    pairs = table[["published on", "ours on"]].drop_duplicates()
    return [(str(theirs), str(ours)) for theirs, ours in pairs.itertuples(index=False)]


def heading(metric: str) -> str:
    """Return a metric's name for the head of a column.

    >>> heading("ndcg@10"), heading("ndcg@1[empty=1]")
    ('NDCG@10', 'NDCG@1[empty=1]')
    """
    name, bracket, parameters = metric.partition("[")
    return name.upper() + bracket + parameters


def number(value: float) -> str:
    """Format a number for a reader, with four digits or all before the point; empty for nan.

    >>> number(0.123456), number(16140.0), number(float("nan"))
    ('0.1235', '16,140', '')
    """
    if np.isnan(value):
        return ""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value or 0.0:.4g}"


def with_interval(value: float, half: float, digits: int) -> str:
    """Format a number with half of its interval; empty for nan."""
    return rounded(value, digits) + plus_minus(value, half, digits)


def plus_minus(value: float, half: float, digits: int) -> str:
    """Return half of an interval as tables show it, after a no-break space; empty for nan.

    That of two trials may be wider than all values that a metric can have, of which no digit says anything.

    >>> [plus_minus(*one).replace("\N{NO-BREAK SPACE}", " ") for one in ((0.704, 0.021, 3), (73.81, 173.95, 2))]
    [' ± 0.021', ' ± > 100']
    """
    if not np.isfinite(half):
        return ""
    scale = 1.0 if abs(value) <= 1 else 100.0
    words = f">\N{NO-BREAK SPACE}{scale:g}" if abs(value) <= scale < half else f"{half:.{digits}f}"
    return f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{words}"


def rounded(value: float, digits: int, sign: str = "") -> str:
    """Format a number with some digits behind the point; empty for nan."""
    return f"{value:{sign}.{digits}f}" if np.isfinite(value) else ""


def facts(dataset: str, seed: int = 0) -> dict[str, float]:
    """Return the sizes of a data set's first fold, as the first trial under a master seed has it.

    >>> counted = facts("synthetic[queries=50,documents=10,sample=0]")
    >>> counted["queries"], counted["test queries"], counted["features"]
    (50.0, 10.0, 136.0)
    """
    from rankplug.data import load

    parts = load(dataset, seed=trial_seed(seed, 0))
    labels, lengths = (np.concatenate([getattr(part, name) for part in parts]) for name in ("labels", "lengths"))
    starts, tests = np.cumsum(lengths) - lengths, len(parts.test)
    barren = np.maximum.reduceat(labels, starts) == 0
    lowest = labels == labels.min()
    shares = np.add.reduceat(lowest, starts, dtype=np.int64) / lengths
    sizes = {
        "queries": lengths.size,
        "test queries": tests,
        "queries without a relevant document": barren.sum(),
        "test queries without a relevant document": barren[barren.size - tests :].sum(),
        "documents": labels.size,
        "mean documents per query": labels.size / lengths.size,
        "most documents per query": lengths.max(),
        "features": parts.train.features.shape[1],
        "ratings": np.unique(labels).size,
        "documents of the lowest rating (%)": 100.0 * lowest.mean(),
        "mean share of the lowest rating in a query (%)": 100.0 * shares.mean(),
    }
    return {name: float(size) for name, size in sizes.items()}


def facts_beside_published(results: Results, exhibit: str, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return the facts a paper prints about its data sets beside ours, a row for each data set and fact.

    Args:
        results: results of the study.
        exhibit: the section that prints them.
        groups: the paper's data set -> the group of runs in its place.
    """
    import pandas as pd

    printed = results.published[results.published["exhibit"] == exhibit]
    rows = []
    for name, group in groups.items():
        dataset = str(results[group]["dataset"].iloc[0])
        ours = facts(dataset, results.runs[group].shared.get("seed", 0) if group in results.runs else 0)
        for fact, value in printed.loc[printed["dataset"] == name, ["metric", "value"]].itertuples(index=False):
            row = {"paper's data": name, "our data": dataset, "fact": fact, "published": value, "ours": ours[fact]}
            rows.append(row)
    return pd.DataFrame(rows)
