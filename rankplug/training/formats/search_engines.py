"""Trees and linear models as search engines read them.

``xgboost_dump`` is the JSON of XGBoost's ``dump_model``, which Vespa and the learning-to-rank plugins of Elasticsearch
and OpenSearch (``model/xgboost+json``) read; ``ranklib_xml`` is RankLib's (``model/ranklib``); ``linear_weights`` is
the plugins' ``model/linear``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from rankplug.training.formats.tree_ensemble import LEAF, TreeEnsemble


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
