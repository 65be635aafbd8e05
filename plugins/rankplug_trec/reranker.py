"""A model as a step of a PyTerrier pipeline, which re-ranks what the steps before retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.data import Lists
from rankplug.errors import DataError
from rankplug.system import require_modules
from rankplug.training import Model

if TYPE_CHECKING:
    import pandas as pd


def pyterrier(model: Model, *, features: str = "features") -> Any:
    """Return a ``pyterrier.Transformer`` that scores documents by their features and ranks them.

    It takes a data frame of results, with ``qid``, ``docno`` and an array of features a row, as ``a >> (b ** c)`` makes
    it, and returns it with ``score`` and ``rank``.

    Args:
        model: the scorer.
        features: the column that holds the arrays.
    """
    if not isinstance(model, Model):
        raise DataError(f"model must be a rankplug.Model, got {type(model).__name__}")
    require_modules("pyterrier")
    import pyterrier as pt

    class Reranker(pt.Transformer):  # type: ignore[misc]
        """Scores of a model of rankplug."""

        def transform(self, results: pd.DataFrame) -> pd.DataFrame:
            """Return the results with new scores and ranks."""
            for column in ("qid", features):
                if column not in results.columns:
                    raise DataError(
                        f"results have no column {column}: they have {', '.join(map(str, results.columns))}"
                    )
            if results.empty:
                return results.assign(score=np.empty(0), rank=np.empty(0, np.int64))
            try:
                matrix = np.stack([np.asarray(row, np.float32) for row in results[features]])
            except ValueError:
                raise DataError(f"the column {features} holds arrays of different lengths") from None
            by_query = np.argsort(results["qid"].astype(str).to_numpy(), kind="stable")
            queries = results["qid"].to_numpy()[by_query]
            lists = Lists.from_query_ids(matrix[by_query], np.zeros(len(results)), queries)
            scores = np.empty(len(results))
            scores[by_query] = model.predict(lists)
            return pt.model.add_ranks(results.drop(columns="rank", errors="ignore").assign(score=scores))

        def __repr__(self) -> str:
            return f"rankplug_trec.pyterrier({model!r})"

    return Reranker()
