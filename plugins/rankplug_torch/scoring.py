"""Scores of documents under a network, some thousands at a time so that memory stays small; networks as ONNX."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rankplug.data import Integers, Scaling
from rankplug.errors import DataError
from rankplug.system import require_modules

DOCUMENTS_AT_ONCE = 16_384


def sees_lists(network: torch.nn.Module) -> bool:
    """Tell whether a document's score depends on the others of its list."""
    return bool(getattr(network, "sees_lists", False))


def batch_scores(network: torch.nn.Module, features: torch.Tensor, starts: Integers | None) -> torch.Tensor:
    """Return the scores of one batch of packed documents."""
    scores: torch.Tensor = network(features, starts) if sees_lists(network) else network(features)
    return scores


class ScaledFeatures(torch.nn.Module):
    """Features on the scale on which a network is trained, see :class:`rankplug.data.Scaling`."""

    centre: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, scaling: Scaling) -> None:
        super().__init__()
        self.scaling = scaling
        self.register_buffer("centre", torch.from_numpy(scaling.centre).float())
        self.register_buffer("deviation", torch.from_numpy(scaling.deviation).float())

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        if self.scaling.kind is None:
            return features
        if self.scaling.kind == "log":
            sizes = features.abs()
            features = features.sign() * (
                log1p_of_primitives(sizes) if torch.onnx.is_in_onnx_export() else sizes.log1p()
            )
        scaled: torch.Tensor = (features - self.centre) / self.deviation
        return scaled


def log1p_of_primitives(sizes: torch.Tensor) -> torch.Tensor:
    """Return ``log(1 + x)`` without the operator log1p, which ONNX lacks; accurate for tiny values too.

    It is ``log(u) x / (u - 1)`` with u = 1 + x rounded (Goldberg 1991, Theorem 4), and x where u is 1.
    """
    exact = sizes.double()
    rounded = exact + 1.0
    differences = rounded - 1.0
    return torch.where(differences == 0.0, exact, rounded.log() * exact / differences).to(sizes.dtype)


@torch.no_grad()
def network_scores(
    network: torch.nn.Module,
    scale: ScaledFeatures,
    features: NDArray[np.float32],
    starts: Integers | None,
    device: str = "cpu",
    autocast: bool = False,
) -> NDArray[Any]:
    """Return the scores of all documents, as the network in evaluation gives them, with bfloat16 where enabled."""
    if sees_lists(network) and starts is None:
        raise DataError("this scorer compares the documents of a list: predict on rankplug.Lists, not on a matrix")
    training = network.training
    network.eval()
    scores = np.empty(features.shape[0], np.float32)
    for begin, end, offsets in _blocks(features.shape[0], starts if sees_lists(network) else None):
        block = features[begin:end]
        tensor = torch.from_numpy(block if block.flags.writeable else block.copy()).to(device)
        with torch.autocast(tensor.device.type, torch.bfloat16, enabled=autocast):
            scores[begin:end] = batch_scores(network, scale(tensor), offsets).float().cpu().numpy()
    network.train(training)
    return scores


def _blocks(documents: int, starts: Integers | None) -> Iterator[tuple[int, int, Integers | None]]:
    if starts is None:
        for begin in range(0, documents, DOCUMENTS_AT_ONCE):
            yield begin, min(begin + DOCUMENTS_AT_ONCE, documents), None
        return
    first = 0
    while first < starts.size - 1:
        last = max(int(np.searchsorted(starts, starts[first] + DOCUMENTS_AT_ONCE, side="right")) - 1, first + 1)
        yield int(starts[first]), int(starts[last]), starts[first : last + 1] - starts[first]
        first = last


def onnx_network(network: torch.nn.Module, features: int) -> bytes:
    """Return the graph of a network: ``features``, [documents, features], to ``scores``, [documents]."""
    require_modules("onnx")
    file = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        # The exporter that needs no further package is the older one.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.eval(),
            (torch.zeros(2, features),),
            file,  # type: ignore[arg-type]
            input_names=["features"],
            output_names=["scores"],
            dynamic_axes={"features": {0: "documents"}, "scores": {0: "documents"}},
            dynamo=False,
        )
    return file.getvalue()
