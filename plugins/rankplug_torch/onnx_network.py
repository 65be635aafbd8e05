"""Networks that score each document by itself as ONNX graphs, with the names that all exported models have."""

from __future__ import annotations

import io
import warnings

import torch

from rankplug.system import require_modules


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
