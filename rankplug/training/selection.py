"""Selection of the iteration that is kept, and early stopping: the best by one metric, or by several in order.

Several metrics are compared one after another: the first that differs by more than ``TOLERANCE`` decides.

>>> selection = Selection(("ndcg@1", "ndcg@3"), patience=2)
>>> [selection.improves(i, m) for i, m in enumerate([(0.5, 0.4), (0.5, 0.5), (0.5 + 1e-9, 0.5), (0.4, 0.9)])]
[True, True, False, False]
>>> selection.best_iteration, selection.exhausted
(1, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankplug.errors import FitError
from rankplug.system import whole_number

TOLERANCE = 1e-6
LOSS = "loss"


@dataclass
class Selection:
    """The best iteration so far; ``loss`` is the better the lower, every metric the higher.

    Args:
        metrics: names, the first decides first.
        patience: iterations without improvement after which training stops; None never stops.
    """

    metrics: tuple[str, ...]
    patience: int | None = None
    best: tuple[float, ...] = ()
    best_iteration: int = -1
    waited: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if not self.metrics:
            raise FitError("name at least one metric to select by, such as ndcg@5")
        if self.patience is not None:
            whole_number(self.patience, "patience", least=1)

    def improves(self, iteration: int, values: Sequence[float]) -> bool:
        """Record an iteration's metrics, and tell whether it is the best so far."""
        signed = tuple(-value if name == LOSS else value for name, value in zip(self.metrics, values, strict=True))
        if self.best and not _better(signed, self.best):
            self.waited += 1
            return False
        self.best, self.best_iteration, self.waited = signed, iteration, 0
        return True

    @property
    def exhausted(self) -> bool:
        """Tell whether patience has run out."""
        return self.patience is not None and self.waited >= self.patience

    def renew(self) -> None:
        """Reset patience; the best so far is still to be beaten."""
        self.waited = 0


def metric_names(selection: str | Iterable[str]) -> tuple[str, ...]:
    """Return one metric or several, as a tuple."""
    return (selection,) if isinstance(selection, str) else tuple(selection)


def _better(values: Sequence[float], best: Sequence[float]) -> bool:
    for value, old in zip(values, best, strict=True):
        if np.isnan(old) and not np.isnan(value):
            return True
        if abs(value - old) > TOLERANCE:
            return value > old
    return False
