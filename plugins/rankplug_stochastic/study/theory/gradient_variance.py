"""Variance of gradients from draw to draw: the paper's estimators beside those of its successors.

Every estimator's mean is another gradient, so its variance is told relative to the square of that mean's length. One
draw is one noisy score vector or one ranking.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankplug.losses import loss
from rankplug.registry import parse, registry
from rankplug.studies import Results

ESTIMATORS = {
    "E[CrossEntropy]": ("cross_entropy", "gumbel[beta=1.0,samples=1]"),
    "E[ApproxNDCG]": ("approx_ndcg[eta=10.0]", "gumbel[beta=1.0,samples=1]"),
    "PL-Rank-1": ("pl_rank[version=1,samples=1]", None),
    "PL-Rank-2 and -3": ("pl_rank[version=3,samples=1]", None),
    "StochasticRank": ("stochastic_rank[samples=1]", None),
}
"""Losses with one draw each, and their samplers; those whose package is not installed are left out."""
DOCUMENTS, LISTS, DRAWS = 20, 3, 10_000
SPREADS = (0.1, 1.0, 2.0)
"""Standard deviations of the scores: as training begins, on its way, and near its end."""


def relative_variance(name: str, sampler: str | None, spread: float) -> float:
    """Return the summed variance of a draw's gradient over its squared mean, averaged over lists; nan if unresolved."""
    generator = np.random.default_rng(7)
    shares = []
    for _ in range(LISTS):
        labels = generator.choice(5, size=DOCUMENTS, p=(0.5, 0.25, 0.15, 0.07, 0.03)).astype(float)
        labels[:2] = 0, 2
        scores = spread * generator.normal(size=DOCUMENTS)
        bound = loss(name).on(np.tile(labels, DRAWS), DOCUMENTS * np.arange(DRAWS + 1), sampler=sampler)
        drawn = bound(np.tile(scores, DRAWS)).gradient.reshape(DRAWS, DOCUMENTS)
        variance = drawn.var(axis=0, ddof=1).sum()
        # The square of an average is too large by the variance of the average.
        squared_mean = (drawn.mean(axis=0) ** 2).sum() - variance / DRAWS
        shares.append(variance / squared_mean if squared_mean > 0 else np.nan)
    return float(np.mean(shares))


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return a row for each estimator, a column for each spread of the scores; the results play no part."""
    installed = {plugin.specification.name for plugin in registry().plugins("loss")}
    rows = [
        {"estimator": label}
        | {f"scores of spread {spread:g}": relative_variance(name, sampler, spread) for spread in SPREADS}
        for label, (name, sampler) in ESTIMATORS.items()
        if parse(name).name in installed
    ]
    return pd.DataFrame(rows), None
