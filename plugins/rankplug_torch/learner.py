"""Training of networks: a step takes the packed documents of some lists, an iteration some steps or an epoch.

The gradient of the loss with respect to the scores is computed on the CPU and handed to PyTorch, which carries it on
through the network. A scorer that trains in stages gives its function under ``fitted_by`` an attribute ``learner``: a
class like :class:`NetworkLearner`. One that sees other lists in training than in prediction gives its module a method
``criterion(problem)``, see :class:`Criterion`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from rankplug.data import Integers, Scaling
from rankplug.losses import Evaluation, Objective
from rankplug.registry import Parameters
from rankplug.system import generator, stream
from rankplug.training import Model, Part, Problem, Record, StepwiseLearner, checked
from rankplug_torch import plain_steps
from rankplug_torch.plugin import TorchParameters
from rankplug_torch.scoring import ScaledFeatures, batch_scores, network_scores

Weights = dict[str, torch.Tensor]
LEAST_STEPS, LEAST_EPOCHS = 1_000, 10
"""Length of a training that nobody gave: the larger of the two."""
ITERATIONS = 50
"""Iterations of a training that is counted in steps, after each of which the model is measured."""


@dataclass(frozen=True)
class Plan:
    """Length of a training, and how often the model is measured on the way.

    Args:
        steps: in all.
        of_iteration: steps of an iteration, after which the model is measured.
        in_epochs: whether an iteration is an epoch.
    """

    steps: int
    of_iteration: int
    in_epochs: bool

    @classmethod
    def of(cls, settings: TorchParameters, lists: int) -> Plan:
        """Return the length that settings ask for, of a training on some number of lists."""
        of_epoch = -(-lists // settings.batch)
        if settings.epochs is not None:
            return cls(settings.epochs * of_epoch, of_epoch, True)
        steps = settings.steps or max(LEAST_STEPS, LEAST_EPOCHS * of_epoch)
        return cls(steps, -(-steps // ITERATIONS), False)

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return -(-self.steps // self.of_iteration)

    @property
    def unit(self) -> str:
        """Unit of an iteration, for the progress bar."""
        return "epoch" if self.in_epochs else f"{self.of_iteration} steps"


class Criterion(Protocol):
    """Criterion a network is trained by: the scores it gives in a step, and their loss.

    One whose scores are what the network makes of the features, and nothing else, may say so with an attribute
    ``scores_are_the_networks = True``; steps of plain networks are then faster, see :mod:`rankplug_torch.plain_steps`.
    """

    def scores(self, network: torch.nn.Module, features: torch.Tensor, lists: Integers) -> torch.Tensor:
        """Return the scores in training, of the documents of some lists."""

    def loss(self, scores: NDArray[np.float64], lists: Integers, iteration: int) -> Evaluation:
        """Return the loss of those scores."""


class ListCriterion:
    """Usual criterion: one score for each document, and the problem's loss."""

    scores_are_the_networks = True

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def scores(self, network: torch.nn.Module, features: torch.Tensor, lists: Integers) -> torch.Tensor:
        starts = np.concatenate(([0], np.cumsum(self.objective.lengths[lists])))
        return batch_scores(network, features, starts)

    def loss(self, scores: NDArray[np.float64], lists: Integers, iteration: int) -> Evaluation:
        return self.objective(scores, iteration=iteration, lists=lists)


class NetworkLearner(StepwiseLearner):
    """A learner that trains a network on the problem's loss.

    Args:
        problem: what is to be fitted.
        make_model: makes a model of a network and a record.
    """

    def __init__(
        self, problem: Problem, make_model: Callable[[torch.nn.Module, ScaledFeatures, Record], Model]
    ) -> None:
        assert isinstance(problem.backend_parameters, TorchParameters)
        self.problem, self.make_model = problem, make_model
        self.settings = problem.backend_parameters
        self.plan = Plan.of(self.settings, len(problem.train))
        self.unit = self.plan.unit
        self.endless = itertools.chain.from_iterable(map(self.of_epoch, itertools.count()))
        self.scale = ScaledFeatures(Scaling.of(self.settings.scaling, problem.train.features)).to(self.settings.device)
        self.network = self.new_network(problem.scorer_implementation, problem.scorer_parameters, 0)
        self.set_network(self.network)

    def new_network(
        self, build: Callable[[Parameters, int], torch.nn.Module], parameters: Parameters, number: int
    ) -> torch.nn.Module:
        """Build a network with initial weights, which depend on the seed and not on the loss."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.problem.seed, "initialisation", number))
            return build(parameters, self.problem.train.features.shape[1]).to(self.settings.device)

    def set_network(self, network: torch.nn.Module, criterion: Criterion | None = None) -> None:
        """Set the network to train, and the criterion to train it by."""
        self.trained = network
        self.weights = list(network.parameters())
        self.optimiser = optimiser_of(self.weights, self.settings)
        self.steps_taken = 0
        if criterion is None:
            own = getattr(network, "criterion", None)
            criterion = ListCriterion(self.problem.objective()) if own is None else own(self.problem)
        self.criterion: Criterion = criterion
        plain = getattr(criterion, "scores_are_the_networks", False)
        self.plain_steps = plain_steps.plain_steps_of(network, self.settings) if plain else None

    def advance(self, iteration: int) -> bool:
        total, shown = 0.0, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.problem.seed, "training", iteration))
            for lists in self.batches(iteration):
                for group in self.optimiser.param_groups:
                    group["lr"] = self.settings.lr * self.factor()
                # Within an iteration that is no epoch a list may be shown again, with noise of its own.
                total += self.step(lists, iteration if self.plan.in_epochs else self.steps_taken)
                self.steps_taken, shown = self.steps_taken + 1, shown + lists.size
        self.loss = total / shown
        return True

    def factor(self) -> float:
        """Return the factor of the schedule on the learning rate of the next step."""
        if self.settings.schedule == "constant":
            return 1.0
        return 0.5 * (1.0 + math.cos(math.pi * min(1.0, self.steps_taken / self.plan.steps)))

    def batches(self, iteration: int) -> Iterator[Integers]:
        """Yield the positions of the lists of each step."""
        if self.plan.in_epochs:
            return self.of_epoch(iteration)
        return itertools.islice(self.endless, min(self.plan.of_iteration, self.plan.steps - self.steps_taken))

    def of_epoch(self, epoch: int) -> Iterator[Integers]:
        """Yield the positions of the lists of each step of an epoch."""
        order = generator(self.problem.seed, "batches", epoch) if self.settings.shuffle else None
        return self.problem.train.batches(self.settings.batch, order)

    def step(self, lists: Integers, iteration: int) -> float:
        """Take one step on some lists, and return the sum of their losses before it."""
        train = self.problem.train
        rows = train.rows(lists)
        # A single document has no variance to normalise by; it passes as in evaluation.
        if self.trained.training != (rows.size > 1):
            self.trained.train(rows.size > 1)
        features = self.scale(torch.from_numpy(train.features[rows]).to(self.settings.device))
        if self.plain_steps is not None:
            scores = self.plain_steps.scores(features)
        else:
            with torch.autocast(features.device.type, torch.bfloat16, enabled=self.settings.autocast):
                scores = self.criterion.scores(self.trained, features, lists)
        evaluation = checked(self.criterion.loss(scores.detach().cpu().double().numpy(), lists, iteration), iteration)
        scale = 1.0 / lists.size if self.settings.reduction == "mean" else 1.0
        gradient = torch.from_numpy(evaluation.gradient * scale).to(scores)
        if self.plain_steps is not None:
            self.plain_steps.step(gradient, self.optimiser.param_groups[0]["lr"])
        elif scores.requires_grad:
            self.optimiser.zero_grad(set_to_none=True)
            scores.backward(gradient)
            if self.settings.clip is not None:
                torch.nn.utils.clip_grad_norm_(self.weights, self.settings.clip)
            self.optimiser.step()
        return float(evaluation.value.sum())

    def scores(self, part: Part) -> NDArray[Any] | None:
        return self.scores_of(self.network, part, self.settings.autocast)

    def scores_of(self, network: torch.nn.Module, part: Part, autocast: bool = False) -> NDArray[Any]:
        """Return the scores of a part under a network, as in prediction unless bfloat16 is enabled."""
        lists = self.problem.train if part == "train" else self.problem.valid
        assert lists is not None
        return network_scores(network, self.scale, lists.features, lists.starts, self.settings.device, autocast)

    def snapshot(self) -> Weights:
        return {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}

    def model(self, snapshot: Weights, record: Record) -> Model:
        self.network.load_state_dict(snapshot)
        return self.make_model(self.network.to("cpu"), self.scale.to("cpu"), record)


def optimiser_of(weights: list[torch.nn.Parameter], settings: TorchParameters) -> torch.optim.Optimizer:
    """Make the optimiser with the settings' numbers; on the CPU as one compiled loop over each weight."""
    shared: dict[str, Any] = {"weight_decay": settings.l2, "fused": weights[0].device.type == "cpu"}
    if settings.optimiser == "adam":
        return torch.optim.Adam(weights, settings.lr, **shared)
    if settings.optimiser == "adagrad":
        accumulator = settings.initial_accumulator
        return torch.optim.Adagrad(weights, settings.lr, initial_accumulator_value=accumulator, **shared)
    return torch.optim.SGD(weights, settings.lr, momentum=settings.momentum, **shared)
