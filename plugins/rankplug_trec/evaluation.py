"""Metrics of runs: rankings that name documents, beside judgements that name others too.

A document of a run without a judgement counts as irrelevant; a judged one that the run lacks was not retrieved, and
counts only in what could have been found. Documents with equal scores are ordered by name, last first, as trec_eval has
it. Negative judgements are 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.errors import DataError
from rankplug.metrics import Metric
from rankplug.registry import Named
from rankplug_trec.files import read_qrels, read_run

if TYPE_CHECKING:
    import pandas as pd


def evaluate_run(run: Any, qrels: Any, metric: Named | Metric) -> pd.Series[float]:
    """Compute one value for each judged query, by its name; a query that the run lacks has retrieved nothing.

    Args:
        run: a file of TREC's format, a data frame, or ``{query: {document: score}}``.
        qrels: judgements, a file, a data frame, or ``{query: {document: relevance}}``.
        metric: its name, such as ``"ndcg@10[gain=linear]"``, which trec_eval calls ``ndcg_cut_10``.

    >>> evaluate_run({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"b": 1, "c": 1}}, "recall@5").to_dict()
    {'q1': 0.5}
    """
    import pandas as pd

    quality = Metric.named(metric)
    ranked, judged = read_run(run), read_qrels(qrels)
    if judged.empty:
        raise DataError("qrels judge no document")
    queries = pd.Index(judged["query"].unique(), name="query_id")
    theirs = ranked[ranked["query"].isin(queries)]
    if theirs.empty:
        ranks = f"ranks query {ranked['query'].iloc[0]}" if len(ranked) else "ranks nothing"
        raise DataError(f"the run has none of the judged queries, such as {queries[0]}: it {ranks}; name queries alike")
    ranked = theirs
    both = ranked.merge(judged, on=["query", "document"], how="outer")
    both["retrieved"] = both["score"].notna()
    # By name, last first, which a stable order of equal scores keeps; what was not retrieved comes last.
    both["place"] = queries.get_indexer(both["query"])
    both = both.sort_values("document", ascending=False, kind="stable")
    both = both.sort_values(["place", "retrieved"], ascending=[True, False], kind="stable")
    lengths = np.bincount(both["place"], minlength=queries.size)
    retrieved = np.bincount(both["place"], weights=both["retrieved"], minlength=queries.size).astype(np.int64)
    value = quality(
        both["score"].fillna(0.0).to_numpy(),
        both["relevance"].fillna(0.0).clip(lower=0.0).to_numpy(),
        np.concatenate(([0], np.cumsum(lengths))),
        retrieved=retrieved,
    )
    series = pd.Series(value, index=queries, name=str(quality))
    series.attrs["metric"] = quality.canonical
    return series
