"""Table 1: NDCG on test data, the paired tests between all models, and the data themselves (Section 5.1)."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankplug.statistics import effect_size, holm, paired_t_test
from rankplug.studies import Results, beside_published, facts_beside_published
from rankplug_xendcg.study.protocol import METRICS

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.01
TEST_TO_TRAIN = 20 / 60


def table_1(results: Results) -> tuple[pd.DataFrame, None]:
    """Means over trials with intervals."""
    import pandas as pd

    tables = [
        beside_published(results, group, METRICS, exhibit="Table 1", dataset=group.removeprefix("quality, "))
        for group in results.groups("quality")
    ]
    return pd.concat(tables, ignore_index=True), None


def table_1_tests(results: Results) -> tuple[pd.DataFrame, None]:
    """Two-sided paired t tests over trials, raw, Holm-corrected, and corrected for queries that trials share."""
    import pandas as pd

    rows = []
    for group in results.groups("quality"):
        for metric in METRICS:
            trials = 100 * results.trials(group, metric)
            family: list[dict[str, Any]] = []
            for first, second in itertools.combinations(reversed(results.models(group)), 2):
                test = paired_t_test(trials[first], trials[second], unit="trials")
                family.append(
                    {
                        "data": group.removeprefix("quality, "),
                        "metric": metric,
                        "models": f"{first} - {second}",
                        "difference": test.difference,
                        "t": test.statistic,
                        "degrees of freedom": test.degrees_of_freedom,
                        "effect size": effect_size(trials[first], trials[second], unit="trials").hedges,
                        "p": test.p_value,
                        "p, resampled": resampled_p_value(trials[first] - trials[second]),
                    }
                )
            corrected = holm([row["p"] for row in family], level=LEVEL)
            for row, p_value, rejected in zip(family, corrected.p_values, corrected.rejected, strict=True):
                rows.append({**row, "p, Holm": p_value, f"differ at {LEVEL:g}": rejected})
    return pd.DataFrame(rows), None


def data(results: Results) -> tuple[pd.DataFrame, None]:
    """Section 5.1: sizes of the data."""
    groups = {group.removeprefix("quality, "): group for group in results.groups("quality")}
    return facts_beside_published(results, "Section 5.1", groups), None


def resampled_p_value(differences: ArrayLike, test_to_train: float = TEST_TO_TRAIN) -> float:
    """Two-sided p value of a mean over random splits of one pool of queries.

    Splits share queries, so a plain t test takes its trials for more than they are. Nadeau and Bengio (2003) widen the
    variance from ``s^2 / T`` to ``s^2 (1 / T + test / train)``.

    >>> differences = [0.1, 0.3, 0.2, 0.4]
    >>> round(resampled_p_value(differences, test_to_train=0.0), 6)  # the plain test
    0.030466
    """
    from scipy import stats

    sample = np.asarray(differences, dtype=np.float64)
    spread = float(sample.std(ddof=1)) * math.sqrt(1 / sample.size + test_to_train)
    if spread == 0.0:
        return 1.0 if sample.mean() == 0.0 else 0.0
    return float(2 * stats.t.sf(abs(sample.mean()) / spread, sample.size - 1))
