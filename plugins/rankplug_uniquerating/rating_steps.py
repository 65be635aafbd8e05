"""The steps in which urBoost ranks a list: the best-rated documents first, then the next, until two ratings are left.

>>> steps = RatingSteps(np.array([1.0, 2.0, 2.0, 0.0]), np.array([0, 4]))
>>> steps.step.tolist(), steps.document.tolist()
([1, 1, 1, 1, 2, 2], [0, 1, 2, 3, 0, 3])
>>> steps.labels.tolist()
[0.0, 2.0, 2.0, 0.0, 1.0, 0.0]
>>> steps.starts.tolist(), steps.weights.tolist()
([0, 4, 6], [0.5, 0.5])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers


class RatingSteps:
    """Lists of ratings as steps: of a list with R ratings, step t of R-1 holds those rated at most the t-th highest.

    Args:
        labels: ratings of the documents, lists one after another.
        starts: where each list starts.

    Attributes:
        document, step, labels, chosen: one an entry of a step: its document, number of the step from 1, the label it
            has there (0 unless it is chosen), whether it is rated as the step asks.
        starts: where each step starts among the entries.
        weights: of the steps, 1/(R-1).
        list_of_step, first_step: the steps' lists, and each list's first step.
    """

    def __init__(self, labels: NDArray[np.floating], starts: Integers) -> None:
        lengths = np.diff(starts)
        self.lists = lengths.size
        self.list_of_document = np.repeat(np.arange(self.lists), lengths)
        order = np.lexsort((-labels, self.list_of_document))
        new_rating = np.ones(labels.size, np.int64)
        new_rating[1:] = (labels[order][1:] != labels[order][:-1]).astype(np.int64)
        new_rating[starts[:-1]] = 1
        counted = np.cumsum(new_rating)
        step_of = np.empty(labels.size, np.int64)
        step_of[order] = counted - np.repeat(counted[starts[:-1]] - 1, lengths)
        ratings = np.maximum.reduceat(step_of, starts[:-1]) if labels.size else np.zeros(0, np.int64)

        entries = np.minimum(step_of, ratings[self.list_of_document] - 1)
        document = np.repeat(np.arange(labels.size), entries)
        step = np.arange(document.size) - np.repeat(np.cumsum(entries) - entries, entries) + 1
        order = np.lexsort((document, step, self.list_of_document[document]))
        self.document, self.step = document[order], step[order]
        self.chosen = step_of[self.document] == self.step
        self.labels = np.where(self.chosen, labels[self.document], 0.0)

        self.first_step = np.concatenate(([0], np.cumsum(ratings - 1)))
        self.list_of_step = np.repeat(np.arange(self.lists), ratings - 1)
        self.weights = np.repeat(1.0 / np.maximum(ratings - 1, 1), ratings - 1)
        number = self.first_step[self.list_of_document[self.document]] + self.step - 1
        self.starts = np.concatenate(([0], np.cumsum(np.bincount(number, minlength=self.list_of_step.size))))
