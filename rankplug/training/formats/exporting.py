"""Export of a model: the ending of the file's name tells its format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import FitError, did_you_mean
from rankplug.training.formats.onnx_graphs import onnx_linear, onnx_trees
from rankplug.training.formats.search_engines import linear_weights, ranklib_xml, xgboost_dump
from rankplug.training.formats.tree_ensemble import TreeEnsemble

ENDINGS = {
    ".onnx": "ONNX",
    ".json": "XGBoost's dump for trees, weights by feature for linear models",
    ".xml": "RankLib's",
}


class Exportable(Protocol):
    """Interface of a model that other programs can have."""

    suffix: str

    def tree_ensemble(self) -> TreeEnsemble | None:
        """Return the trees of a model that has some."""

    def linear_weights(self) -> NDArray[np.float64] | None:
        """Return one weight a feature of a model that is linear."""

    def onnx_graph(self) -> bytes | None:
        """Return the model as ONNX, where trees or weights are not all of it."""

    def feature_names(self) -> tuple[str, ...]:
        """Return one name a feature."""

    def encode(self, suffix: str) -> bytes:
        """Return the model in the engine's own format."""


def exported(model: Exportable, ending: str) -> bytes:
    """Return the content of a file for other programs.

    Args:
        model: what is exported.
        ending: of the file's name: one of :data:`ENDINGS`, or that of the engine's own files.
    """
    kind = ending.lower()
    if kind not in {*ENDINGS, model.suffix}:
        known = [model.suffix, *ENDINGS]
        raise FitError(f"no format ends in {ending or 'nothing'}: {did_you_mean(ending, known)}")
    if kind not in ENDINGS:
        return model.encode(kind)
    trees, weights = model.tree_ensemble(), model.linear_weights()
    forms: dict[str, Callable[[], bytes | None]] = {".onnx": model.onnx_graph}
    if trees is not None:
        ensemble = trees
        forms = {
            ".onnx": lambda: onnx_trees(ensemble),
            ".json": lambda: xgboost_dump(ensemble),
            ".xml": lambda: ranklib_xml(ensemble),
        }
    elif weights is not None:
        row = weights
        forms = {
            ".onnx": lambda: model.onnx_graph() or onnx_linear(row),
            ".json": lambda: linear_weights(row, model.feature_names()),
        }
    try:
        content = forms[kind]() if kind in forms else None
    except RecursionError:
        raise FitError(f"{model!r} has trees too deep for {ENDINGS[kind]} (*{kind}); export it as ONNX") from None
    if content is None:
        raise FitError(f"{model!r} has no form as {ENDINGS[kind]} (*{kind})")
    return content
