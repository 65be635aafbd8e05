"""Comparing several models over several data sets: Friedman's test and Nemenyi's critical difference.

Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006.

>>> found = critical_difference([[0.9, 0.8, 0.7]] * 6 + [[0.8, 0.9, 0.7]] * 4, unit="data sets")
>>> found.average_ranks
(1.4, 1.6, 3.0)
>>> found.groups
((0, 1),)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankplug.errors import DataError
from rankplug.statistics.intervals import Unit
from rankplug.system import numbers


@dataclass(frozen=True)
class CriticalDifference:
    """Average ranks of models, 1 the best, and how far apart two must lie to differ."""

    average_ranks: tuple[float, ...]
    critical_difference: float
    friedman_statistic: float
    p_value: float
    """The p value of Friedman's test that all models rank alike."""
    blocks: int
    unit: Unit
    level: float

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Largest sets of models that are not told apart, best first; the bars of a critical-difference diagram."""
        order = sorted(range(len(self.average_ranks)), key=lambda model: self.average_ranks[model])
        kept: list[tuple[int, ...]] = []
        for begin, best in enumerate(order):
            limit = self.average_ranks[best] + self.critical_difference
            group = tuple(model for model in order[begin:] if self.average_ranks[model] <= limit)
            if len(group) > 1 and not any(set(group) <= set(wider) for wider in kept):
                kept.append(group)
        return tuple(kept)


def critical_difference(quality: ArrayLike, *, unit: Unit, level: float = 0.05) -> CriticalDifference:
    """Compute ranks of models within each block, Friedman's test, and Nemenyi's critical difference.

    The difference is ``q sqrt(m (m + 1) / (6 N))`` for m models and N blocks.

    Args:
        quality: one row a block (a data set, a fold, a query), one column a model; higher is better.
        unit: what a block is.
        level: of Nemenyi's test.
    """
    from scipy import stats

    table = numbers(quality, "quality")
    if table.ndim != 2 or table.shape[1] < 3 or table.shape[0] < 2 or not np.isfinite(table).all():
        raise DataError(
            f"Friedman's test needs finite values of at least 3 models in at least 2 blocks, got shape {table.shape}"
        )
    blocks, models = table.shape
    ranks = stats.rankdata(-table, axis=1)
    statistic, p_value = (0.0, 1.0) if np.ptp(ranks) == 0 else stats.friedmanchisquare(*table.T)
    quantile = stats.studentized_range.ppf(1 - level, models, np.inf) / math.sqrt(2)
    return CriticalDifference(
        tuple(map(float, ranks.mean(axis=0))),
        float(quantile * math.sqrt(models * (models + 1) / (6 * blocks))),
        float(statistic),
        float(p_value),
        blocks,
        unit,
        level,
    )
