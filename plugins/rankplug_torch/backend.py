"""PyTorch as a backend.

A scorer it fits names a function ``(parameters, features: int) -> torch.nn.Module`` under ``fitted_by["torch"]``. The
module takes the documents of a batch, one row each, lists one after another, and returns one score a document. A
module with ``sees_lists = True`` also gets ``starts``, the lists' offsets in the batch. Anything more that a
scorer needs of its training it says in :mod:`rankplug_torch.learner`. Features come to it on the backend's scale.

Results repeat bit for bit with one number of threads; another number may change the last bits of a matrix product.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray

from rankplug.data import Integers, Scaling
from rankplug.errors import FitError
from rankplug.registry import import_object, registry
from rankplug.system import threads_for
from rankplug.training import Model, Problem, Record, train
from rankplug_torch.learner import NetworkLearner
from rankplug_torch.scoring import ScaledFeatures, network_scores, onnx_network, sees_lists

PATIENCE = 10
"""Patience of a training for which neither epochs nor patience are set."""
NANOSECONDS = 0.06
"""Nanoseconds for one weight and one document, forward and backward, on one thread."""


class TorchModel(Model):
    """A network and the scale of its features; the file holds the weights of both as safetensors."""

    suffix = ".safetensors"

    def __init__(self, network: torch.nn.Module, scale: ScaledFeatures, record: Record) -> None:
        super().__init__(record)
        self.network, self.scale = network.eval(), scale.eval()

    @property
    def scaling(self) -> Scaling:
        """Scale on which the network sees features."""
        return self.scale.scaling

    def __reduce__(self) -> tuple[Any, ...]:
        return engine.load, (self.encode(self.suffix), self.record)

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        return network_scores(self.network, self.scale, features, starts)

    def onnx_graph(self) -> bytes | None:
        if sees_lists(self.network):
            return None
        return onnx_network(torch.nn.Sequential(self.scale, self.network), self.record.features)

    def encode(self, suffix: str) -> bytes:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.network.state_dict().items()}
        about = {"combination": self.record.combination}
        if self.scaling.kind is not None:
            about["scaling"] = self.scaling.describe()
        # One key, as safetensors writes several in an order that changes from file to file.
        return safetensors.torch.save(weights, {"rankplug": json.dumps(about)})


class Torch:
    """The backend ``torch``."""

    def fit(self, problem: Problem) -> Model:
        parameters: Any = problem.backend_parameters
        try:
            device = torch.device(parameters.device)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise FitError(f"the device {parameters.device} cannot be used: {error}") from None
        if parameters.epochs is None and problem.patience is None:
            problem = replace(problem, patience=PATIENCE)
        make_learner = getattr(problem.scorer_implementation, "learner", NetworkLearner)
        learner = make_learner(problem, TorchModel)
        return train(learner, problem, learner.plan.iterations)

    def threads(self, problem: Problem) -> int:
        parameters: Any = problem.backend_parameters
        documents = problem.train.documents * min(1.0, parameters.batch / len(problem.train))
        with torch.random.fork_rng(devices=[]):
            network = problem.scorer_implementation(problem.scorer_parameters, problem.train.features.shape[1])
        weights = sum(weight.numel() for weight in network.parameters())
        return threads_for(documents * weights * NANOSECONDS * 1e-6, same_bits=False)

    def load(self, content: bytes, record: Record) -> TorchModel:
        scorer, parameters = registry().resolve("scorer", record.combination["scorer"])
        make_network = import_object(scorer.fitted_by["torch"], str(scorer))
        network = make_network(parameters, record.features)
        network.load_state_dict(safetensors.torch.load(content))
        return TorchModel(network, ScaledFeatures(_scaling_in(content)), record)


def _scaling_in(content: bytes) -> Scaling:
    """Return the scaling that a file holds beside its weights, if any."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    about = json.loads(header["__metadata__"]["rankplug"])
    return Scaling.read(about["scaling"]) if "scaling" in about else Scaling()


engine = Torch()
