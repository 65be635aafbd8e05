r"""FRank as a backend (Tsai, Liu, Qin, Chen, Ma 2007).

The score is a sum of weak rankers :math:`h \in \{0, 1\}`, each a threshold on a feature, and the fidelity loss of pairs
is summed so that all lists weigh alike. A pair with :math:`y_i > y_j` that a weak ranker parts has
:math:`m_{ij} = h(i) - h(j) = \pm 1` and the weight

.. math:: W_{ij} = D_{ij}\,\frac{e^{o/2}}{(1 + e^o)^{3/2}},\quad o = f_i - f_j,\quad D_{ij} = \frac1{\#\ \text{pairs}},

twice the slope of its loss. It would enter with

.. math:: \alpha = \frac12\ln\frac{\sum_{m=1} W}{\sum_{m=-1} W},

where the loss is least if weights fall by :math:`e^{-\alpha}` and grow by :math:`e^{\alpha}`. Each round takes the weak
ranker that leaves the least loss after its step, and training ends early where none lowers it.

The loss is the published one, as are the additive model and the normalisation by query. The step is derived from them
here, and could not be held against the paper's own text, from which it may differ.

The search looks at every pair. A threshold parts a pair where one of its documents is above it. Over the pairs that it
puts right, and those that it puts wrong, the slopes of the loss add up to S₊ and S₋, which sums along each feature give
for all thresholds at once; the step is α = ½ ln(S₊ / S₋). The loss after it is computed only where :func:`fall_at_most`
is above the best so far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import building_block
from rankplug.data import Lists
from rankplug.errors import FitError
from rankplug.training import LOSS, Model, Problem
from rankplug_classics.fidelity import fidelity_of
from rankplug_classics.plugin import Fidelity
from rankplug_classics.rankboost_engine import NEARLY_SURE, StumpsBackend, StumpsLearner, Thresholds, weights_of_lists

WIDEST = 600.0
"""Spread of a list's scores up to which their exponentials are taken about one origin."""
ROUNDING = 1e-12
"""Share of a sum that its rounding may amount to."""


class Step(NamedTuple):
    """A weak ranker with its weight, and by how much it lowers the loss."""

    feature: int
    threshold: float
    weight: float
    fall: float


class FidelitySteps:
    """The pairs of some lists, laid out for the search of a weak ranker.

    Args:
        lists: what is learned from.
        thresholds: of their features.
        weights: of each list's pairs.
    """

    def __init__(self, lists: Lists, thresholds: Thresholds, weights: NDArray[np.float64]) -> None:
        # Within each list from the highest label to the lowest, so that a document's worse ones are a span.
        list_of = np.repeat(np.arange(len(lists)), lists.lengths)
        self.order = np.lexsort((-lists.labels, list_of))
        self.labels, self.starts = lists.labels[self.order], np.asarray(lists.starts)
        self.places = np.ascontiguousarray(thresholds.places.T[self.order])
        self.weights, self.thresholds = weights, thresholds

    def best(self, scores: NDArray[np.float64]) -> Step | None:
        """Return the step that leaves the least loss, or none where none lowers it."""
        ordered = np.ascontiguousarray(scores[self.order])
        sums = slopes_by_threshold(self.places, ordered, self.labels, self.starts, self.weights)
        right, wrong = sums[:2]
        both = np.maximum(right + wrong, ROUNDING * right.max(initial=wrong.max()))
        share = (right - wrong) / np.where(both > 0.0, both, 1.0)
        steps = np.arctanh(np.clip(share, -NEARLY_SURE, NEARLY_SURE))
        bounds = fall_at_most(steps, sums)
        before = loss_after(self.places[:, 0], 255, 0.0, ordered, self.labels, self.starts, self.weights)
        best, least = None, ROUNDING * before
        for place in np.argsort(-bounds, axis=None, kind="stable"):
            feature, index = (int(number) for number in np.unravel_index(place, bounds.shape))
            if bounds[feature, index] <= least:
                break
            step, column = float(steps[feature, index]), self.places[:, feature]
            fall = before - loss_after(column, index, step, ordered, self.labels, self.starts, self.weights)
            if fall > least:
                least, best = fall, Step(feature, float(self.thresholds.of_feature[feature][index]), step, fall)
        return best


def fall_at_most(steps: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return more than what steps lower the loss by.

    A slope s has the logarithmic derivative ½(1 - 3P), between -1 and ½, and the second derivative
    s (¼ - 3P + 3¾ P²), between -⅜ s and s. So Taylor's series bounds what a pair gains or loses along a step.

    Args:
        steps: by which documents above a threshold are raised.
        sums: for each step, over the pairs that it puts right and those that it puts wrong: slopes, and slopes times P.
    """
    right, wrong, right_chances, wrong_chances = sums
    a, up = np.abs(steps), steps > 0
    gain, loss = np.where(up, right, wrong), np.where(up, wrong, right)
    of_gain, of_loss = np.where(up, right_chances, wrong_chances), np.where(up, wrong_chances, right_chances)
    cube = a**3 / 6
    gained = a * gain + a * a / 4 * (gain - 3 * of_gain) + cube * np.exp(a / 2) * gain
    lost = a * loss - a * a / 4 * (loss - 3 * of_loss) - 0.375 * cube * np.exp(a) * loss
    return np.minimum(gained, 2 * gain * np.expm1(a / 2)) - np.maximum(lost, -2 * loss * np.expm1(-a / 2))


@building_block
def first_worse(labels, document, end):
    """Return the first document behind one, up to an end, that has a lower label."""
    worse = document + 1
    while worse < end and labels[worse] == labels[document]:
        worse += 1
    return worse


@building_block
def slopes_by_threshold(places, scores, labels, starts, weights):
    """Return sums for each feature and threshold: slopes of pairs put right and wrong, and both times P."""
    features = places.shape[1]
    sums = np.zeros((features, 257, 4))
    for number in range(starts.size - 1):
        end = starts[number + 1]
        for better in range(starts[number], end):
            for worse in range(first_worse(labels, better, end), end):
                _, slope, chance = fidelity_of(scores[better] - scores[worse])
                slope *= weights[number]
                of_chance = slope * chance
                for feature in range(features):
                    higher, lower = places[better, feature], places[worse, feature]
                    # Of thresholds between the two: begins with the lower place, ends with the higher.
                    if higher > lower:
                        sums[feature, lower, 0] += slope
                        sums[feature, lower, 2] += of_chance
                        sums[feature, higher, 0] -= slope
                        sums[feature, higher, 2] -= of_chance
                    elif lower > higher:
                        sums[feature, higher, 1] += slope
                        sums[feature, higher, 3] += of_chance
                        sums[feature, lower, 1] -= slope
                        sums[feature, lower, 3] -= of_chance
    totals = np.empty((4, features, 257))
    for kind in range(4):
        for feature in range(features):
            total = 0.0
            for place in range(257):
                total += sums[feature, place, kind]
                totals[kind, feature, place] = total
    return totals


@building_block
def loss_after(column, index, step, scores, labels, starts, weights):
    """Return the weighted loss of all pairs where documents above a feature's threshold have a step more."""
    total, moved, exponentials = 0.0, np.empty(scores.size), np.empty(scores.size)
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        highest, lowest = -np.inf, np.inf
        for document in range(begin, end):
            moved[document] = scores[document] + (step if column[document] > index else 0.0)
            highest, lowest = max(highest, moved[document]), min(lowest, moved[document])
        wide = highest - lowest > WIDEST
        for document in range(begin, end):
            exponentials[document] = math.exp(max(moved[document] - highest, -WIDEST))
        of_list = 0.0
        for better in range(begin, end):
            own = exponentials[better]
            first = first_worse(labels, better, end)
            if wide:
                for worse in range(first, end):
                    of_list += fidelity_of(moved[better] - moved[worse])[0]
            else:
                others, chance = exponentials[first:end], 0.0
                for worse in range(others.size):
                    chance += math.sqrt(own / (own + others[worse]))
                of_list += others.size - chance
        total += weights[number] * of_list
    return total


class FRankLearner(StumpsLearner):
    """Weak rankers in the making."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.objective = problem.objective()
        lists, pairs = problem.train, np.ones(len(problem.train))
        if problem.loss.parameters.mean:  # type: ignore[attr-defined]
            counts = [np.unique(labels, return_counts=True)[1] for labels in np.split(lists.labels, lists.starts[1:-1])]
            pairs = np.array([max(1, (count.sum() ** 2 - (count**2).sum()) // 2) for count in counts])
        self.steps = FidelitySteps(lists, self.thresholds, weights_of_lists(problem) / pairs)

    def advance(self, iteration: int) -> bool:
        if LOSS in self.problem.metrics:
            self.loss = float(self.objective(self.now["train"], iteration=iteration, valued=True).value.mean())
        step = self.steps.best(self.now["train"])
        if step is None:
            return False
        self.take(step.feature, step.threshold, step.weight)
        return True


class FRank(StumpsBackend):
    """The backend ``frank``."""

    learner = FRankLearner

    def fit(self, problem: Problem) -> Model:
        if not isinstance(problem.loss.parameters, Fidelity):
            raise FitError(f"FRank takes steps of the fidelity loss, not of {problem.loss}; use fidelity, or rankboost")
        if problem.sampler is not None:
            raise FitError("FRank's steps are of the scores themselves; leave the sampler away, or use rankboost")
        return super().fit(problem)


engine = FRank()
