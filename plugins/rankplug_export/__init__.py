"""Fitted models for other programs: ONNX, XGBoost's JSON, RankLib's XML, and trees compiled for serving."""

from rankplug_export.trees import Tree as Tree
from rankplug_export.trees import TreeEnsemble as TreeEnsemble
from rankplug_export.trees import at_most as at_most
from rankplug_export.trees import below as below
from rankplug_export.trees import tree_of as tree_of
