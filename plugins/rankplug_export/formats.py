"""Export of a model for other programs; the ending of the file's name selects the format.

``.onnx`` is ONNX. ``.json`` is the dump of XGBoost's ``dump_model`` for trees, which Vespa and the learning-to-rank
plugins of Elasticsearch and OpenSearch (``model/xgboost+json``) read, and one weight per feature for linear models
(``model/linear``). ``.xml`` is RankLib's format (``model/ranklib``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import FitError, did_you_mean
from rankplug.training import Model, write_model_file
from rankplug_export.onnx_graphs import onnx_linear, onnx_trees, with_encoding
from rankplug_export.trees import LEAF, TreeEnsemble

FORMATS = {
    ".onnx": "ONNX",
    ".json": "XGBoost's dump for trees, weights by feature for linear models",
    ".xml": "RankLib's",
}


def export_model(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write a model for another program, and return the path.

    Args:
        model: a fitted model.
        path: file to write; its ending is one of :data:`FORMATS`, or that of the engine's own files.
    """
    return write_model_file(path, lambda suffix: _content(model, suffix))


def _content(model: Model, suffix: str) -> bytes:
    kind = suffix.lower()
    if kind not in {*FORMATS, model.suffix}:
        known = [model.suffix, *FORMATS]
        raise FitError(f"no format ends in {suffix or 'nothing'}: {did_you_mean(suffix, known)}")
    if kind not in FORMATS:
        return model.encode(kind)
    trees, weights = model.tree_ensemble(), model.linear_weights()
    writers: dict[str, Callable[[], bytes | None]] = {".onnx": model.onnx_graph}
    if trees is not None:
        writers = {
            ".onnx": lambda: onnx_trees(trees),
            ".json": lambda: xgboost_dump(trees),
            ".xml": lambda: ranklib_xml(trees),
        }
    elif weights is not None:
        writers = {
            ".onnx": lambda: model.onnx_graph() or onnx_linear(weights),
            ".json": lambda: linear_weights(weights, model.feature_names()),
        }
    try:
        content = writers[kind]() if kind in writers else None
    except RecursionError:
        raise FitError(f"{model!r} has trees too deep for {FORMATS[kind]} (*{kind}); export it as ONNX") from None
    if content is None:
        raise FitError(f"{model!r} has no form as {FORMATS[kind]} (*{kind})")
    encoding = model.record.encoding
    if encoding is None:
        return content
    if kind == ".onnx":
        return with_encoding(content, encoding)
    if not encoding.is_plain:
        raise FitError(
            f"{FORMATS[kind]} (*{kind}) cannot encode the categories and missing values of {model!r}; export it as ONNX"
        )
    return content


def xgboost_dump(ensemble: TreeEnsemble) -> bytes:
    """Return all trees as XGBoost dumps them: a document goes to ``yes`` below the condition."""
    conditions = np.nextafter(ensemble.threshold, np.float32(np.inf))

    def written(root: int) -> dict[str, Any]:
        def node(place: int, depth: int) -> dict[str, Any]:
            if ensemble.feature[place] == LEAF:
                return {"nodeid": place - root, "leaf": float(ensemble.value[place])}
            left, right = int(ensemble.left[place]), int(ensemble.right[place])
            return {
                "nodeid": place - root,
                "depth": depth,
                "split": ensemble.names[ensemble.feature[place]],
                "split_condition": float(conditions[place]),
                "yes": left - root,
                "no": right - root,
                "missing": (left if ensemble.missing_left[place] else right) - root,
                "children": [node(left, depth + 1), node(right, depth + 1)],
            }

        return node(root, 0)

    return json.dumps([written(begin) for begin, _ in ensemble.trees()], indent=1).encode()


def ranklib_xml(ensemble: TreeEnsemble) -> bytes:
    """Return all trees as a model of RankLib, whose features are numbered from 1 and never missing."""
    lines = ["## LambdaMART", f"## No. of trees = {ensemble.roots.size}"]
    names = [escape(" ".join(name.split())) for name in ensemble.names]
    lines += [f"## feature {place} is {name}" for place, name in enumerate(names, start=1)]
    lines += ["", "<ensemble>"]

    def node(place: int, indent: str) -> None:
        if ensemble.feature[place] == LEAF:
            lines.append(f"{indent}<output> {float(ensemble.value[place])!r} </output>")
            return
        lines.append(f"{indent}<feature> {ensemble.feature[place] + 1} </feature>")
        lines.append(f"{indent}<threshold> {ensemble.threshold[place]} </threshold>")
        for side, child in (("left", ensemble.left[place]), ("right", ensemble.right[place])):
            lines.append(f'{indent}<split pos="{side}">')
            node(int(child), f"{indent}\t")
            lines.append(f"{indent}</split>")

    for number, (begin, _) in enumerate(ensemble.trees(), start=1):
        lines += [f'\t<tree id="{number}" weight="1.0">', "\t\t<split>"]
        node(begin, "\t\t\t")
        lines += ["\t\t</split>", "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""]).encode()


def linear_weights(weights: NDArray[np.float64], names: Sequence[str]) -> bytes:
    """Return the weight of each feature by its name."""
    return json.dumps(dict(zip(names, weights.tolist(), strict=True)), indent=1).encode()
