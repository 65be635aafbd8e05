r"""urBoost's conditional recurrent network (Eq. 7): what was ranked before conditions what is scored next.

The documents of a list are embedded, :math:`\tilde x(d)`. In training, step t = 1..R-1 scores the documents whose
rating is at most the t-th highest, :math:`r_t`,

.. math:: \tilde h_t(d) = \tanh(h_{t-1} W + \tilde x(d) U + b), \qquad f_t(d) = [\tilde h_t(d), \tilde x(d)]\, w,

and :math:`h_t` is the elementwise maximum (or mean) of :math:`\tilde h_t` over the documents rated :math:`r_t`, from
:math:`h_0 = 0`. Prediction is step 1 for all documents.

The loss of step t is that of a list of its own: its documents, with the label :math:`r_t` where they are rated so and 0
where lower. Steps of a list weigh 1/(R-1). With the loss ``urank`` that is the paper's; any other loss goes as well.
"""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from rankplug_torch.networks import hidden_layers, initialised
from torch import nn

from rankplug.data import Integers
from rankplug.errors import FitError
from rankplug.losses import Evaluation
from rankplug.system import stream
from rankplug.training import Problem
from rankplug_uniquerating.rating_steps import RatingSteps
from rankplug_uniquerating.scorers import ConditionalRNNParameters


class ConditionalRNN(nn.Module):
    """The network; called with features, it gives step 1's scores."""

    def __init__(self, settings: ConditionalRNNParameters, features: int) -> None:
        super().__init__()
        modules, width = hidden_layers(settings, features)
        self.embedding = nn.Sequential(*modules)
        self.from_state = nn.Linear(width, width, bias=False)
        self.from_document = nn.Linear(width, width)
        self.concatenates = settings.rnn == "concat"
        self.pooling: Literal["max", "mean"] = settings.pooling
        self.score = nn.Linear(2 * width if self.concatenates else width, 1, bias=False)
        self.width = width
        initialised(self, settings.initialisation)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(features)
        return self._scores(torch.tanh(self.from_document(embedded)), embedded)

    def _scores(self, hidden: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.score(torch.cat([hidden, embedded], -1) if self.concatenates else hidden)
        return scores.squeeze(-1)

    def step_scores(self, features: torch.Tensor, steps: RatingSteps) -> torch.Tensor:
        """Return the scores of all steps of some lists, in the order of ``steps``."""
        embedded = self.embedding(features)
        driven = self.from_document(embedded)
        state = embedded.new_zeros(steps.lists, self.width)
        number, documents, lists, rated = (
            torch.from_numpy(values).to(features.device)
            for values in (steps.step, steps.document, steps.list_of_document, steps.chosen)
        )
        scores, places = [], []
        for step in range(1, int(steps.step.max(initial=0)) + 1):
            place = torch.nonzero(number == step).squeeze(-1)
            document = documents[place]
            of_list = lists[document]
            hidden = torch.tanh(self.from_state(state)[of_list] + driven[document])
            scores.append(self._scores(hidden, embedded[document]))
            places.append(place)
            chosen = rated[place]
            state = self._pooled(hidden[chosen], of_list[chosen], state)
        if not scores:
            return embedded.new_zeros(0)
        return torch.cat(scores)[torch.argsort(torch.cat(places))]

    def _pooled(self, hidden: torch.Tensor, of_list: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        index = of_list[:, None].expand_as(hidden)
        reduce = "amax" if self.pooling == "max" else "mean"
        return torch.zeros_like(state).scatter_reduce(0, index, hidden, reduce, include_self=False)

    def criterion(self, problem: Problem) -> StepsCriterion:
        """Return a criterion in which the steps take the place of the lists."""
        return StepsCriterion(problem)


class StepsCriterion:
    """Loss of all steps of the training lists."""

    def __init__(self, problem: Problem) -> None:
        self.data = problem.train
        self.steps = RatingSteps(problem.train.labels, problem.train.starts)
        weights = self.steps.weights
        if problem.weights is not None:
            if problem.weights.size != len(problem.train):
                raise FitError("the steps of a conditional RNN take one weight a list; these differ inside lists")
            weights = weights * problem.weights[self.steps.list_of_step]
        self.objective = problem.loss.on(
            self.steps.labels,
            self.steps.starts,
            sampler=problem.sampler,
            weights=weights,
            seed=stream(problem.seed, "noise"),
        )

    def scores(self, network: nn.Module, features: torch.Tensor, lists: Integers) -> torch.Tensor:
        rows = self.data.rows(lists)
        starts = np.concatenate(([0], np.cumsum(self.data.lengths[lists])))
        steps = RatingSteps(self.data.labels[rows], starts)
        return cast(ConditionalRNN, network).step_scores(features, steps)

    def loss(self, scores: NDArray[np.float64], lists: Integers, iteration: int) -> Evaluation:
        first, last = self.steps.first_step[lists], self.steps.first_step[lists + 1]
        chosen = np.concatenate([np.arange(begin, end) for begin, end in zip(first, last, strict=True)])
        return self.objective(scores, iteration=iteration, lists=chosen.astype(np.int64))
