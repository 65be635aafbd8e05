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
from rankplug_torch.networks import Score, hidden_layers, initialised
from torch import nn

from rankplug.data import Integers
from rankplug.errors import FitError
from rankplug.losses import Evaluation
from rankplug.system import stream
from rankplug.training import Problem
from rankplug_uniquerating.plugin import ConditionalRNNParameters


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


class ConditionalRNN(nn.Module):
    """The network; called with features, it gives step 1's scores."""

    def __init__(self, settings: ConditionalRNNParameters, features: int) -> None:
        super().__init__()
        modules, width = hidden_layers(settings, features)
        self.embedding = nn.Sequential(*modules)
        self.cell: nn.GRUCell | nn.LSTMCell | None = None
        if settings.rnn in ("gru", "lstm"):
            self.cell = (nn.GRUCell if settings.rnn == "gru" else nn.LSTMCell)(width, width)
        else:
            self.from_state = nn.Linear(width, width, bias=False)
            self.from_document = nn.Linear(width, width)
        self.concatenates = settings.rnn != "state"
        self.pooling: Literal["max", "mean"] = settings.pooling
        self.score = Score(2 * width if self.concatenates else width, 1, bias=False)
        self.width = width
        initialised(self, settings.initialisation)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(features)
        if self.cell is None:
            return self._scores(torch.tanh(self.from_document(embedded)), embedded)
        nothing = embedded.new_zeros(embedded.shape[0], self.width)
        return self._scores(self._advance(embedded, embedded, nothing, nothing)[0], embedded)

    def _driven(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return what the documents add to a state: of a simple cell a linear function of them."""
        return embedded if self.cell is not None else cast(torch.Tensor, self.from_document(embedded))

    def _advance(
        self, driven: torch.Tensor, embedded: torch.Tensor, state: torch.Tensor, memory: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the next state of each document's cell, and the memory of an LSTM."""
        if self.cell is None:
            return torch.tanh(self.from_state(state) + driven), memory
        if isinstance(self.cell, nn.LSTMCell):
            hidden, memory = self.cell(embedded, (state, memory))
            return hidden, memory
        return self.cell(embedded, state), memory

    def _scores(self, hidden: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.score(torch.cat([hidden, embedded], -1) if self.concatenates else hidden)
        return scores.squeeze(-1)

    def step_scores(self, features: torch.Tensor, steps: RatingSteps) -> torch.Tensor:
        """Return the scores of all steps of some lists, in the order of ``steps``."""
        embedded = self.embedding(features)
        driven = self._driven(embedded)
        state = memory = embedded.new_zeros(steps.lists, self.width)
        number, documents, lists, rated = (
            torch.from_numpy(values).to(features.device)
            for values in (steps.step, steps.document, steps.list_of_document, steps.chosen)
        )
        scores, inputs = [], []
        for step in range(1, int(steps.step.max(initial=0)) + 1):
            rows = torch.nonzero(number == step).squeeze(-1)
            document = documents[rows]
            of_list = lists[document]
            if self.cell is None:
                hidden, remembered = torch.tanh(self.from_state(state)[of_list] + driven[document]), None
            else:
                hidden, remembered = self._advance(
                    driven[document], embedded[document], state[of_list], memory[of_list]
                )
            scores.append(self._scores(hidden, embedded[document]))
            inputs.append(rows)
            chosen = rated[rows]
            state = self._pooled(hidden[chosen], of_list[chosen], state)
            if remembered is not None:
                memory = self._pooled(remembered[chosen], of_list[chosen], memory)
        if not scores:
            return embedded.new_zeros(0)
        return torch.cat(scores)[torch.argsort(torch.cat(inputs))]

    def _pooled(self, hidden: torch.Tensor, of_list: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        index = of_list[:, None].expand_as(hidden)
        reduce = "amax" if self.pooling == "max" else "mean"
        return torch.zeros_like(state).scatter_reduce(0, index, hidden, reduce, include_self=False)

    def criterion(self, problem: Problem) -> StepsCriterion:
        """Return a criterion in which the steps take the place of the lists."""
        return StepsCriterion(problem)


class SequentialRNN(ConditionalRNN):
    """The same network, whose prediction places one document after the other."""

    sees_lists = True

    def forward(self, features: torch.Tensor, starts: Integers) -> torch.Tensor:  # type: ignore[override]
        """Return minus the place of each document in its list, from 0."""
        lengths = np.diff(starts)
        of_list = torch.from_numpy(np.repeat(np.arange(lengths.size), lengths)).to(features.device)
        embedded = self.embedding(features)
        driven = self._driven(embedded)
        state = memory = embedded.new_zeros(lengths.size, self.width)
        previous = embedded.new_zeros(embedded.shape[0])
        left = torch.arange(embedded.shape[0], device=features.device)
        for position in range(int(lengths.max(initial=0))):
            lists = of_list[left]
            hidden, remembered = self._advance(driven[left], embedded[left], state[lists], memory[lists])
            scores = self._scores(hidden, embedded[left])
            best = scores.new_full((lengths.size,), -torch.inf).scatter_reduce(0, lists, scores, "amax")
            # Of equal scores the first document comes first, as in every ranking here.
            order = torch.where(scores == best[lists], left, embedded.shape[0])
            first = torch.full_like(of_list[:0].new_empty(lengths.size), embedded.shape[0])
            chosen = left == first.scatter_reduce(0, lists, order, "amin")[lists]
            previous[left[chosen]] = -float(position)
            state = state.index_copy(0, lists[chosen], hidden[chosen])
            memory = memory.index_copy(0, lists[chosen], remembered[chosen])
            left = left[~chosen]
        return previous


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
