"""Intervals, tests, effect sizes and decisions: arrays in, numbers or a small frozen result out.

A number means little without what was repeated to get it: ten trials of one query set and ten thousand queries of one
trial answer different questions. Every interval and test therefore asks for the ``unit`` and carries it. SciPy
computes; these modules fix the conventions.

>>> str(t_interval([0.41, 0.43, 0.42, 0.44], unit="trials"))
'0.4250 [0.4045, 0.4455] (95% t interval over 4 trials)'
>>> paired_t_test([0.5, 0.6, 0.7], [0.4, 0.4, 0.6], unit="trials").degrees_of_freedom
2
"""

from rankplug.statistics._comparisons import Correction as Correction
from rankplug.statistics._comparisons import CriticalDifference as CriticalDifference
from rankplug.statistics._comparisons import EffectSize as EffectSize
from rankplug.statistics._comparisons import PairedTest as PairedTest
from rankplug.statistics._comparisons import critical_difference as critical_difference
from rankplug.statistics._comparisons import effect_size as effect_size
from rankplug.statistics._comparisons import holm as holm
from rankplug.statistics._comparisons import paired_permutation_test as paired_permutation_test
from rankplug.statistics._comparisons import paired_t_test as paired_t_test
from rankplug.statistics._comparisons import repetitions_needed as repetitions_needed
from rankplug.statistics._comparisons import smallest_difference as smallest_difference
from rankplug.statistics._decisions import LEVEL as LEVEL
from rankplug.statistics._decisions import PValues as PValues
from rankplug.statistics._decisions import all_alike as all_alike
from rankplug.statistics._decisions import all_greater as all_greater
from rankplug.statistics._decisions import any_greater as any_greater
from rankplug.statistics._decisions import best_is_greater as best_is_greater
from rankplug.statistics._decisions import holm_rejected as holm_rejected
from rankplug.statistics._decisions import holm_steps as holm_steps
from rankplug.statistics._decisions import look_steps as look_steps
from rankplug.statistics._decisions import none_greater as none_greater
from rankplug.statistics._decisions import p_values as p_values
from rankplug.statistics._estimates import Doubles as Doubles
from rankplug.statistics._estimates import Estimate as Estimate
from rankplug.statistics._estimates import Interval as Interval
from rankplug.statistics._estimates import Unit as Unit
from rankplug.statistics._estimates import hierarchical_bootstrap as hierarchical_bootstrap
from rankplug.statistics._estimates import mean_of_folds as mean_of_folds
from rankplug.statistics._estimates import mean_of_queries_and_seeds as mean_of_queries_and_seeds
from rankplug.statistics._estimates import mean_of_resplits as mean_of_resplits
from rankplug.statistics._estimates import mean_of_trials as mean_of_trials
from rankplug.statistics._estimates import t_interval as t_interval
from rankplug.statistics._estimates import weighted_sum as weighted_sum
