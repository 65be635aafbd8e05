"""Gradient and positive curvature of every document, the form in which boosting engines use a loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import FitError
from rankplug.losses import Evaluation, Objective
from rankplug.system import WORTH_A_THREAD_BESIDE_AN_ENGINE, check_memory, generator, threads_for
from rankplug.training.fitting import Problem
from rankplug.training.training_loop import checked

CURVATURE_FLOOR = 1e-16


def check_memory_for_bins(problem: Problem, max_bin: int) -> None:
    """Raise an error if the binned features, a byte or two an entry, cannot be held in memory."""
    documents = problem.train.documents + (problem.valid.documents if problem.valid is not None else 0)
    entries = documents * problem.train.features.shape[1]
    check_memory(
        entries * (1 if max_bin <= 256 else 2),
        str(problem.backend_specification),
        "train on fewer queries, or with max_bin=255 or less",
    )


def threads_for_trees(problem: Problem, nanoseconds: float, leaves: int = 2) -> int:
    """Return the number of threads on which trees are grown.

    Args:
        problem: what is to be fitted.
        nanoseconds: that the engine needs on one thread to look at one value of a document.
        leaves: of a tree. Each time their number doubles, half of the documents are looked at once more.
    """
    entries = problem.train.documents * problem.train.features.shape[1]
    return threads_for(entries * (1 + math.log2(leaves) / 2) * nanoseconds * 1e-6)


class BoostingObjective:
    """The derivatives an engine asks for, iteration after iteration.

    Args:
        objective: the loss on the training data, bound with ``step="newton"``.
        valued: whether the loss itself is wanted too.
        sampling: share of the lists that a tree learns from, and how many trees learn from the same; all lists where
            there is none. Unless the loss is wanted too, nothing is computed of the others.
    """

    def __init__(self, objective: Objective, valued: bool, sampling: tuple[float, int] | None = None) -> None:
        self.objective, self.valued, self.sampling = objective, valued, sampling
        objective.worth_threads = WORTH_A_THREAD_BESIDE_AN_ENGINE
        self.loss = float("nan")

    def __call__(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        """Return the gradient and curvature in float32; no curvature is 0, which would divide 0 by 0 in a leaf.

        Only a curvature that is 0 beside a gradient of 0 is raised; a negative one is an error, not a thing to repair.
        With sampling they are those of :meth:`sampled_rows`, for the scores of all documents.
        """
        step = checked(self._evaluate(scores, iteration), iteration, self.valued)
        lowest = step.curvature.min(initial=0)
        if lowest < 0:
            raise FitError(
                f"{self.objective.loss} has the negative curvature {lowest:.3g} at iteration {iteration}; boosting"
                " needs a positive one, so choose another curvature of the loss or another backend"
            )
        if lowest < CURVATURE_FLOOR:
            np.maximum(step.curvature, CURVATURE_FLOOR, out=step.curvature, where=step.gradient == 0)
        if self.valued:
            self.loss = float(step.value.mean())
        return step

    def everywhere(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        """Return gradient and curvature of all documents, with neither for those of lists that are not sampled."""
        step = self(scores, iteration)
        if self.sampling is None:
            return step
        whole = Evaluation(step.value, *(np.zeros(scores.size, np.float32) for _ in range(2)))
        rows = self.sampled_rows(iteration)
        whole.gradient[rows], whole.curvature[rows] = step.gradient, step.curvature
        return whole

    def sampled_lists(self, iteration: int) -> NDArray[np.bool_]:
        """Return which lists an iteration learns from, at least one."""
        assert self.sampling is not None
        share, frequency = self.sampling
        lists = self.objective.lengths.size
        drawn = generator(self.objective.seed, "query bagging", iteration // frequency).permutation(lists)
        return np.asarray(drawn < max(round(share * lists), 1))

    def sampled_rows(self, iteration: int) -> NDArray[np.int64]:
        """Return the positions of the documents of the lists that an iteration learns from."""
        return np.flatnonzero(np.repeat(self.sampled_lists(iteration), self.objective.lengths))

    def _evaluate(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        if self.sampling is None:
            return self.objective(scores, iteration=iteration, dtype=np.float32, valued=self.valued)
        rows = self.sampled_rows(iteration)
        if self.valued:
            whole = self.objective(scores, iteration=iteration, dtype=np.float32)
            return Evaluation(whole.value, whole.gradient[rows], whole.curvature[rows])
        lists = np.flatnonzero(self.sampled_lists(iteration))
        return self.objective(scores[rows], lists=lists, iteration=iteration, dtype=np.float32, valued=False)
