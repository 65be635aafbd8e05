"""A list's documents from the highest label to the lowest, sorted once before training."""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, sort_best_first, uniform
from rankplug.losses import list_constants


@list_constants
def best_label_first(constants, labels):
    """Return the documents' positions by descending label, ties by position."""
    order = np.empty(labels.size, np.int32)
    for document in range(labels.size):
        order[document] = document
    sort_best_first(labels, order)
    # numba compiles an assignment of whole arrays for seconds, because of the message for shapes that differ.
    for position in range(labels.size):
        constants[position] = order[position]


@building_block
def shuffle_ties(labels, key, order):
    """Put documents of equal label, which stand together in ``order``, into random order (Fisher and Yates)."""
    first = 0
    for position in range(order.size):
        if labels[order[position]] != labels[order[first]]:
            first = position
        other = first + int((position - first + 1) * uniform(key, position))
        order[position], order[other] = order[other], order[position]
