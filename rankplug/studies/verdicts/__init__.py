"""Verdicts on claims: evidence in, one of four words out, by the rules that ``docs/verdicts.md`` states.

>>> import numpy as np
>>> gains = Sample(np.array([0.009, 0.008, 0.012, 0.010]), IndependentTrials())
>>> verdict = judge(greater({"ndcg@5": gains}), margin=0.005, scale=100, measured_in="points")
>>> verdict.verdict
'holds'
>>> print(verdict.sentence)
ndcg@5: +0.975 points [+0.703, +1.25] over 4 trials, margin 0.5, p = 0.00072
>>> judge(greater({"ndcg@5": gains}), margin=0.02, scale=100, measured_in="points").verdict
'no difference'
"""

from rankplug.studies.verdicts.evidence import (
    Check,
    Checks,
    Differences,
    Evidence,
    alike,
    exact_check,
    greater,
    no_greater,
    not_comparable,
    not_run,
    not_to_the_end,
    reached,
    some_greater,
)
from rankplug.studies.verdicts.rules import Steps, judge
from rankplug.studies.verdicts.samples import (
    Design,
    IndependentTrials,
    OfficialFolds,
    PublishedNumber,
    Resplits,
    Sample,
    Values,
    WeightedSum,
    interval_of,
    p_value_of,
)
from rankplug.studies.verdicts.verdict import (
    DECIDED,
    VERDICTS,
    Abstention,
    Judgement,
    Needs,
    Part,
    Verdict,
    read_judgement,
)

__all__ = [
    "DECIDED",
    "VERDICTS",
    "Abstention",
    "Check",
    "Checks",
    "Design",
    "Differences",
    "Evidence",
    "IndependentTrials",
    "Judgement",
    "Needs",
    "OfficialFolds",
    "Part",
    "PublishedNumber",
    "Resplits",
    "Sample",
    "Steps",
    "Values",
    "Verdict",
    "WeightedSum",
    "alike",
    "exact_check",
    "greater",
    "interval_of",
    "judge",
    "no_greater",
    "not_comparable",
    "not_run",
    "not_to_the_end",
    "p_value_of",
    "reached",
    "read_judgement",
    "some_greater",
]
