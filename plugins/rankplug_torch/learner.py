"""Networks in the making: an iteration is an epoch, a step takes the packed documents of some lists.

The gradient of the loss with respect to the scores is computed on the CPU and handed to PyTorch, which carries it on
through the network. A scorer that needs another way of training than this gives its function under ``fitted_by`` an
attribute ``learner``: a class like :class:`NetworkLearner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rankplug.fitting import Problem
from rankplug.losses import Evaluation
from rankplug.models import Model, Record
from rankplug.seeds import generator, stream
from rankplug.training import Part, StepwiseLearner, checked
from rankplug_torch.plugin import TorchParameters
from rankplug_torch.scoring import batch_scores, network_scores

Weights = dict[str, torch.Tensor]


class NetworkLearner(StepwiseLearner):
    """Trains a network on the problem's loss.

    Args:
        problem: what is to be fitted.
        make_model: makes a model of a network and a record.
    """

    unit = "epoch"

    def __init__(self, problem: Problem, make_model: Callable[[torch.nn.Module, Record], Model]) -> None:
        assert isinstance(problem.backend_parameters, TorchParameters)
        self.problem, self.make_model = problem, make_model
        self.settings = problem.backend_parameters
        self.objective = problem.objective()
        self.network = self.new_network(0)
        self.optimiser = optimiser_of(self.network, self.settings)

    def new_network(self, number: int) -> torch.nn.Module:
        """A network with its first weights; they depend on the seed and not on the loss."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.problem.seed, "initialisation", number))
            build = self.problem.scorer_implementation
            network: torch.nn.Module = build(self.problem.scorer_parameters, self.problem.train.features.shape[1])
        return network.to(self.settings.device)

    def advance(self, iteration: int) -> bool:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.problem.seed, "training", iteration))
            total = sum(self.step(lists, iteration) for lists in self.batches(iteration))
        self.loss = total / len(self.problem.train)
        return True

    def batches(self, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Positions of the lists of each step."""
        order = generator(self.problem.seed, "batches", epoch) if self.settings.shuffle else None
        return self.problem.train.batches(self.settings.batch, order)

    def step(self, lists: NDArray[np.int64], iteration: int) -> float:
        """One step on some lists; returns the sum of their losses before it."""
        train = self.problem.train
        rows = train.rows(lists)
        # A single document has no variance to normalise by; it passes as in evaluation.
        self.network.train(rows.size > 1)
        features = torch.from_numpy(train.features[rows]).to(self.settings.device)
        starts = np.concatenate(([0], np.cumsum(train.lengths[lists])))
        with torch.autocast(features.device.type, torch.bfloat16, enabled=self.settings.autocast):
            scores = batch_scores(self.network, features, starts)
        found = checked(self.evaluate(scores.detach().cpu().double().numpy(), lists, iteration), iteration)
        scale = 1.0 / lists.size if self.settings.reduction == "mean" else 1.0
        self.optimiser.zero_grad(set_to_none=True)
        scores.backward(torch.from_numpy(found.gradient * scale).to(scores))
        if self.settings.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimiser.step()
        return float(found.value.sum())

    def evaluate(self, scores: NDArray[np.float64], lists: NDArray[np.int64], iteration: int) -> Evaluation:
        """The loss of some lists at their scores."""
        return self.objective(scores, iteration=iteration, lists=lists)

    def scores(self, part: Part) -> NDArray[Any] | None:
        lists = self.problem.train if part == "train" else self.problem.valid
        assert lists is not None
        return network_scores(self.network, lists.features, lists.starts, self.settings.device)

    def snapshot(self) -> Weights:
        return {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}

    def model(self, snapshot: Weights, record: Record) -> Model:
        self.network.load_state_dict(snapshot)
        return self.make_model(self.network.to("cpu"), record)


def optimiser_of(network: torch.nn.Module, settings: TorchParameters) -> torch.optim.Optimizer:
    """The rule of the steps, with the settings' numbers."""
    weights = network.parameters()
    if settings.optimiser == "adam":
        return torch.optim.Adam(weights, settings.lr, weight_decay=settings.l2)
    if settings.optimiser == "adagrad":
        return torch.optim.Adagrad(
            weights, settings.lr, weight_decay=settings.l2, initial_accumulator_value=settings.initial_accumulator
        )
    return torch.optim.SGD(weights, settings.lr, momentum=settings.momentum, weight_decay=settings.l2)
