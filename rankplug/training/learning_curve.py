"""Metrics of the model after every iteration, on the training and the validation data.

>>> curve = LearningCurve()
>>> curve.add(0, {"valid ndcg@5": 0.4})
>>> curve.add(1, {"valid ndcg@5": 0.5, "train loss": 1.0})
>>> curve.iterations, curve.columns["valid ndcg@5"], curve.columns["train loss"]
([0, 1], [0.4, 0.5], [nan, 1.0])
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class LearningCurve:
    """One row an iteration, one column a metric and part, such as ``valid ndcg@5``."""

    iterations: list[int] = field(default_factory=list)
    columns: dict[str, list[float]] = field(default_factory=dict)

    def add(self, iteration: int, metrics: Mapping[str, float]) -> None:
        """Append a row."""
        for name in metrics:
            self.columns.setdefault(name, [math.nan] * len(self.iterations))
        self.iterations.append(iteration)
        for name, values in self.columns.items():
            values.append(float(metrics.get(name, math.nan)))

    def __len__(self) -> int:
        return len(self.iterations)

    def __iter__(self) -> Iterator[dict[str, float]]:
        for row, iteration in enumerate(self.iterations):
            yield {"iteration": iteration, **{name: values[row] for name, values in self.columns.items()}}

    def frame(self) -> pd.DataFrame:
        """Return the curve as a data frame."""
        import pandas as pd

        return pd.DataFrame({"iteration": self.iterations, **self.columns})

    def describe(self) -> dict[str, Any]:
        """Return the curve as plain values for JSON; undefined numbers are None."""
        columns = {
            name: [value if math.isfinite(value) else None for value in values] for name, values in self.columns.items()
        }
        return {"iterations": self.iterations, "columns": columns}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> LearningCurve:
        """Read a curve that :meth:`describe` wrote."""
        columns = {
            name: [math.nan if value is None else value for value in values]
            for name, values in described["columns"].items()
        }
        return cls(list(described["iterations"]), columns)
