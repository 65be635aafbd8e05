"""Intervals, tests, effect sizes and decisions: arrays in, numbers or a small frozen result out.

A number means little without what was repeated to get it: ten trials of one query set and ten thousand queries of one
trial answer different questions. Every interval and test therefore asks for the ``unit`` and carries it. SciPy
computes; these modules fix the conventions.

>>> str(t_interval([0.41, 0.43, 0.42, 0.44], unit="trials"))
'0.4250 [0.4045, 0.4455] (95% t interval over 4 trials)'
>>> paired_t_test([0.5, 0.6, 0.7], [0.4, 0.4, 0.6], unit="trials").degrees_of_freedom
2
"""

from rankplug.statistics.critical_difference import CriticalDifference, critical_difference
from rankplug.statistics.decisions import (
    LEVEL,
    PValues,
    all_alike,
    all_greater,
    any_greater,
    best_is_greater,
    holm_rejected,
    holm_steps,
    look_steps,
    none_greater,
    p_values,
)
from rankplug.statistics.designs import (
    Estimate,
    mean_of_folds,
    mean_of_queries_and_seeds,
    mean_of_resplits,
    mean_of_trials,
    weighted_sum,
)
from rankplug.statistics.intervals import Doubles, Interval, Unit, hierarchical_bootstrap, t_interval
from rankplug.statistics.paired_tests import (
    Correction,
    EffectSize,
    PairedTest,
    effect_size,
    holm,
    paired_permutation_test,
    paired_t_test,
)
from rankplug.statistics.power import repetitions_needed, smallest_difference

__all__ = [
    "LEVEL",
    "Correction",
    "CriticalDifference",
    "Doubles",
    "EffectSize",
    "Estimate",
    "Interval",
    "PValues",
    "PairedTest",
    "Unit",
    "all_alike",
    "all_greater",
    "any_greater",
    "best_is_greater",
    "critical_difference",
    "effect_size",
    "hierarchical_bootstrap",
    "holm",
    "holm_rejected",
    "holm_steps",
    "look_steps",
    "mean_of_folds",
    "mean_of_queries_and_seeds",
    "mean_of_resplits",
    "mean_of_trials",
    "none_greater",
    "p_values",
    "paired_permutation_test",
    "paired_t_test",
    "repetitions_needed",
    "smallest_difference",
    "t_interval",
    "weighted_sum",
]
