r"""Boosted networks: each further network is fitted to what the sum of the earlier ones leaves over.

With :math:`F_0` trained on the loss, network m learns the residuals :math:`\tilde y = -\partial L/\partial F_{m-1}` by
mean squared error over the documents of a list, and :math:`F_m = F_{m-1} + \mathrm{rate}\, h_m` (uniquerating, Eq. 4
and Algorithm 2). A network counts only if it makes validation better than all before it; the first that does not, in
its epochs or before patience runs out, ends boosting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rankplug.data import Integers, Lists
from rankplug.errors import FitError
from rankplug.losses import Evaluation
from rankplug.registry import Reference, import_object, registry
from rankplug.training import Model, Part, Problem, Record
from rankplug_torch.learner import NetworkLearner, Weights
from rankplug_torch.plugin import BoostingParameters
from rankplug_torch.scoring import ScaledFeatures


class SumOfNetworks(nn.Module):
    """A sum of networks; loading weights makes as many as there are weights for."""

    def __init__(self, first: nn.Module, make_next: Callable[[], nn.Module], rate: float) -> None:
        super().__init__()
        self.networks = nn.ModuleList([first])
        self.make_next = make_next
        self.rate = rate

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        first, *others = (network(features) for network in self.networks)
        total: torch.Tensor = first
        for scores in others:
            total = total + self.rate * scores
        return total

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        number = 1 + max(int(name.split(".")[1]) for name in state_dict)
        first = list(self.networks)[:number]
        self.networks = nn.ModuleList([*first, *(self.make_next() for _ in range(number - len(first)))])
        return super().load_state_dict(state_dict, strict, assign)


class SquaredResiduals:
    """Criterion of the further networks: the mean over a list's documents of ``(residual - score)^2``."""

    scores_are_the_networks = True

    def __init__(self, residuals: NDArray[np.float64], lists: Lists) -> None:
        self.residuals, self.data = residuals, lists

    def scores(self, network: nn.Module, features: torch.Tensor, lists: Integers) -> torch.Tensor:
        scores: torch.Tensor = network(features)
        return scores

    def loss(self, scores: NDArray[np.float64], lists: Integers, iteration: int) -> Evaluation:
        gaps = scores - self.residuals[self.data.rows(lists)]
        lengths = self.data.lengths[lists]
        firsts = np.cumsum(lengths) - lengths
        share = np.repeat(1.0 / lengths, lengths)
        return Evaluation(np.add.reduceat(gaps**2 * share, firsts), 2.0 * gaps * share, 2.0 * share)


class BoostedLearner(NetworkLearner):
    """A learner that trains one network after another; each is a stage of its own."""

    def __init__(self, problem: Problem, make_model: Callable[[nn.Module, ScaledFeatures, Record], Model]) -> None:
        super().__init__(problem, make_model)
        self.parameters = cast(BoostingParameters, problem.scorer_parameters)
        self.sum = cast(SumOfNetworks, self.network)
        self.set_network(self.sum.networks[0])
        self.before: dict[Part, NDArray[np.float64] | float] = {"train": 0.0, "valid": 0.0}

    def grow(self, snapshot: Weights, improved: bool) -> bool:
        if not improved or len(self.sum.networks) >= self.parameters.learners:
            return False
        self.sum.load_state_dict(snapshot)
        parts: list[Part] = ["train"] if self.problem.valid is None else ["train", "valid"]
        self.before = {part: self.scores_of(self.sum, part).astype(np.float64) for part in parts}
        number = len(self.sum.networks)
        sums = cast(NDArray[np.float64], self.before["train"])
        residuals = -self.problem.objective()(sums, iteration=number).gradient
        build, parameters = network_of(self.parameters.scorer)
        following = self.new_network(build, parameters, number)
        self.sum.networks.append(following)
        self.set_network(following, SquaredResiduals(residuals, self.problem.train))
        return True

    def scores(self, part: Part) -> NDArray[Any] | None:
        own = self.scores_of(self.trained, part)
        return own if len(self.sum.networks) == 1 else self.before[part] + self.sum.rate * own


def network_of(scorer: str | Reference) -> tuple[Callable[[Any, int], nn.Module], Any]:
    """Return the function that builds the network of a scorer, and its parameters."""
    space, parameters = registry().resolve("scorer", scorer)
    if "torch" not in space.fitted_by:
        raise FitError(f"{space} is not fitted by torch and cannot be part of a boosted network")
    return import_object(space.fitted_by["torch"], str(space)), parameters


def boosted(parameters: BoostingParameters, features: int) -> SumOfNetworks:
    """Build the first network, to which training adds others."""
    build_first, first = network_of(parameters.first or parameters.scorer)
    build_next, following = network_of(parameters.scorer)
    return SumOfNetworks(build_first(first, features), lambda: build_next(following, features), parameters.rate)


boosted.learner = BoostedLearner  # type: ignore[attr-defined]
