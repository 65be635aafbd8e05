r"""Area under the ROC curve (Hanley and McNeil, Radiology 1982).

The share of pairs of a relevant document g and an irrelevant one b with :math:`f_g > f_b`; a tied pair counts one half,
or as the order of tied documents has it.
"""

from __future__ import annotations

import math

from rankplug.metrics import list_metric


@list_metric
def auc(scores, labels, order, threshold, ties_count_half):
    """Compute the AUC of one list; undefined if all documents are relevant or none is."""
    wins = 0.0
    relevant_above = 0
    irrelevant_above = 0
    begin = 0
    while begin < order.size:
        end = begin + 1
        while ties_count_half and end < order.size and scores[order[end]] == scores[order[begin]]:
            end += 1
        relevant = 0
        for position in range(begin, end):
            relevant += labels[order[position]] >= threshold
        irrelevant = end - begin - relevant
        wins += irrelevant * (relevant_above + 0.5 * relevant)
        relevant_above += relevant
        irrelevant_above += irrelevant
        begin = end
    if relevant_above == 0 or irrelevant_above == 0:
        return math.nan
    return wins / (relevant_above * irrelevant_above)
