"""Trees and linear models as ONNX graphs: float32 features in, one score a document out.

Sums are made in double precision and then rounded to single. The input is ``features``, [documents, features], and the
output ``scores``, [documents].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Encoding, Scaling
from rankplug.system import __version__, require_modules
from rankplug_export.trees import LEAF, TreeEnsemble

if TYPE_CHECKING:
    import onnx

INPUT, OUTPUT = "features", "scores"
DOUBLES = "features_in_double_precision"
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8


def onnx_trees(ensemble: TreeEnsemble) -> bytes:
    """Return the graph of trees."""
    require_modules("onnx")
    from onnx import helper, numpy_helper

    tree_ids: list[int] = []
    node_ids: list[int] = []
    sizes: list[int] = []
    for number, (begin, end) in enumerate(ensemble.trees()):
        tree_ids += [number] * (end - begin)
        node_ids += range(end - begin)
        sizes += [begin] * (end - begin)
    first = np.array(sizes, np.int64)
    leaf = ensemble.feature == LEAF
    trees, nodes = np.array(tree_ids), np.array(node_ids)

    def doubles(name: str, values: NDArray[Any]) -> Any:
        return numpy_helper.from_array(np.ascontiguousarray(values, np.float64), name)

    node = helper.make_node(
        "TreeEnsembleRegressor",
        [DOUBLES],
        ["sums"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function="SUM",
        post_transform="NONE",
        base_values_as_tensor=doubles("base", np.array([ensemble.base])),
        nodes_treeids=trees.tolist(),
        nodes_nodeids=nodes.tolist(),
        nodes_featureids=np.where(leaf, 0, ensemble.feature).tolist(),
        nodes_modes=["LEAF" if is_leaf else "BRANCH_LEQ" for is_leaf in leaf],
        nodes_values_as_tensor=doubles("thresholds", np.where(leaf, 0.0, ensemble.threshold)),
        nodes_truenodeids=np.where(leaf, 0, ensemble.left - first).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, ensemble.right - first).tolist(),
        nodes_missing_value_tracks_true=np.where(leaf, 0, ensemble.missing_left).astype(int).tolist(),
        target_treeids=trees[leaf].tolist(),
        target_nodeids=nodes[leaf].tolist(),
        target_ids=[0] * int(leaf.sum()),
        target_weights_as_tensor=doubles("leaves", ensemble.value[leaf]),
    )
    return _encoded(_graph([node], [], ensemble.features))


def onnx_linear(weights: NDArray[np.float64], scaling: Scaling | None = None, *, bias: float = 0.0) -> bytes:
    """Return the graph of a weighted sum of features.

    Args:
        weights: float array of shape (features,).
        scaling: scale of the features, applied first.
        bias: constant that is added.
    """
    require_modules("onnx")
    from onnx import TensorProto, helper, numpy_helper

    scale = scaling if scaling is not None else Scaling()
    constants: dict[str, Any] = {
        "weights": weights.reshape(-1, 1), "bias": np.array([bias]), "zero": np.zeros(1), "one": np.ones(1),
    }  # fmt: skip
    nodes: list[Any] = []
    values = DOUBLES
    if scale.kind == "log":
        # log1p(x) is log(u) x / (u - 1) with u = 1 + x rounded (Goldberg 1991, Theorem 4), and x where u is 1.
        nodes += [
            helper.make_node("Abs", [values], ["sizes"]),
            helper.make_node("Add", ["sizes", "one"], ["rounded"]),
            helper.make_node("Sub", ["rounded", "one"], ["differences"]),
            helper.make_node("Equal", ["differences", "zero"], ["tiny"]),
            helper.make_node("Log", ["rounded"], ["logarithms"]),
            helper.make_node("Mul", ["logarithms", "sizes"], ["numerators"]),
            helper.make_node("Div", ["numerators", "differences"], ["quotients"]),
            helper.make_node("Where", ["tiny", "sizes", "quotients"], ["log1p"]),
            helper.make_node("Sign", [values], ["signs"]),
            helper.make_node("Mul", ["signs", "log1p"], ["spread"]),
        ]
        values = "spread"
    if scale.kind is not None:
        constants |= {"centre": scale.centre, "deviation": scale.deviation}
        nodes += [
            helper.make_node("Sub", [values, "centre"], ["centred"]),
            helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
        ]
        values = "scaled"
    nodes += [
        helper.make_node("MatMul", [values, "weights"], ["products"]),
        helper.make_node("Add", ["products", "bias"], ["totals"]),
        helper.make_node("Cast", ["totals"], ["sums"], to=TensorProto.FLOAT),
    ]
    tensors = [
        numpy_helper.from_array(np.ascontiguousarray(array, np.float64), name) for name, array in constants.items()
    ]
    return _encoded(_graph(nodes, tensors, weights.size))


def with_encoding(content: bytes, encoding: Encoding) -> bytes:
    """Return a graph that encodes categories and missing values before it scores, so that the data are its input."""
    import onnx
    from onnx import TensorProto, compose, helper, numpy_helper

    constants: dict[str, NDArray[Any]] = {"axis": np.array([1]), "medians": np.array([encoding.medians], np.float32)}
    nodes = [
        helper.make_node("IsNaN", [INPUT], ["missing"]),
        helper.make_node("Where", ["missing", "medians", INPUT], ["filled"]),
    ]

    def add(kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def columns(source: str, place: int, name: str) -> str:
        constants[f"{name} place"] = np.array([place])
        return add("Gather", [source, f"{name} place"], name, axis=1)

    def as_float(source: str) -> str:
        return add("Cast", [source], f"{source} as float", to=TensorProto.FLOAT)

    blocks, absent = [], {}
    for place in range(len(encoding.medians)):
        if place not in encoding.codes:
            blocks.append(columns("filled", place, f"number {place}"))
            continue
        codes = f"codes {place}"
        constants[codes] = np.array([encoding.codes[place] or (0.0,)], np.float32)
        values = columns(INPUT, place, f"category {place}")
        same = as_float(add("Equal", [values, codes], f"same {place}"))
        if place in encoding.columns_of_levels:
            blocks.append(same)
            continue
        known = add("ReduceSum", [same, "axis"], f"known {place}")
        below = as_float(add("Greater", [values, codes], f"below {place}"))
        rank = add("ReduceSum", [below, "axis"], f"rank {place}")
        seen = add("Cast", [known], f"seen {place}", to=TensorProto.BOOL)
        constants[f"median {place}"] = np.array([[encoding.medians[place]]], np.float32)
        blocks.append(add("Where", [seen, rank, f"median {place}"], f"ordinal {place}"))
        absent[place] = as_float(add("Not", [seen], f"unseen {place}"))
    gaps = [absent.get(place) or as_float(columns("missing", place, f"gap {place}")) for place in encoding.missing]
    add("Concat", [*blocks, *gaps], "encoded", axis=1)
    scorer = compose.add_prefix(onnx.load_from_string(content), "scorer/", rename_outputs=False)
    shape = [("encoded", encoding.width), (INPUT, len(encoding.medians))]
    infos = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["documents", width]) for name, width in shape
    }
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "encoding", [infos[INPUT]], [infos["encoded"]], tensors)
    model = helper.make_model(graph, opset_imports=scorer.opset_import, ir_version=scorer.ir_version)
    merged = compose.merge_models(model, scorer, io_map=[("encoded", f"scorer/{INPUT}")])
    return bytes(merged.SerializeToString())


def _graph(nodes: list[Any], constants: list[Any], features: int) -> onnx.GraphProto:
    from onnx import TensorProto, helper, numpy_helper

    last = numpy_helper.from_array(np.array([1], np.int64), "last_axis")
    return helper.make_graph(
        [
            helper.make_node("Cast", [INPUT], [DOUBLES], to=TensorProto.DOUBLE),
            *nodes,
            helper.make_node("Squeeze", ["sums", "last_axis"], [OUTPUT]),
        ],
        "scorer",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["documents", features])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["documents"])],
        [*constants, last],
    )


def _encoded(graph: onnx.GraphProto) -> bytes:
    from onnx import checker, helper

    opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="rankplug",
                              producer_version=__version__)  # fmt: skip
    checker.check_model(model)
    return bytes(model.SerializeToString())
