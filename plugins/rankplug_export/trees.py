"""Sums of decision trees as plain arrays, whatever engine grew them.

Features are float32, and so are thresholds: an engine's is rounded to the float32 that divides all float32 in the same
way. A document goes left where its feature is at most the threshold.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import FitError

LEAF = -1


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """A sum of trees; nodes of all trees lie in one array each.

    Args:
        roots: the first node of each tree.
        feature: number of the feature that a node looks at, -1 for leaves.
        threshold: a document goes left where its feature is at most this.
        missing_left: whether a missing value goes left.
        left: the node for low values; a leaf's is itself.
        right: the node for high values; a leaf's is itself.
        value: number that a leaf adds.
        base: added to all scores.
        features: number of features.
        names: names of the features.
        single: whether the engine adds up in single precision.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    features: int
    names: tuple[str, ...]
    base: float = 0.0
    single: bool = False

    @classmethod
    def of_trees(cls, trees: Sequence[Tree], features: int, names: Sequence[str], **facts: Any) -> TreeEnsemble:
        """Join trees."""
        for tree in trees:
            if tree.feature.size and not (tree.feature.min() >= LEAF and tree.feature.max() < features):
                raise FitError(f"a tree is damaged: it looks at another feature than the {features} that there are")
        sizes = [tree.value.size for tree in trees]
        roots = np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int32)

        def joined(name: str, kind: Any, shifts: NDArray[np.int32] | None = None) -> NDArray[Any]:
            columns = [getattr(tree, name) for tree in trees]
            if shifts is not None:
                columns = [column + shift for column, shift in zip(columns, shifts, strict=True)]
            return np.concatenate(columns).astype(kind) if columns else np.empty(0, kind)

        return cls(
            roots=roots,
            feature=joined("feature", np.int32),
            threshold=joined("threshold", np.float32),
            missing_left=joined("missing_left", np.bool_),
            left=joined("left", np.int32, roots),
            right=joined("right", np.int32, roots),
            value=joined("value", np.float64),
            features=features,
            names=tuple(names),
            **facts,
        )

    def depths(self) -> NDArray[np.int64]:
        """Return the number of steps from each tree's root to its deepest leaf."""
        depth = np.zeros(self.feature.size, np.int64)
        for node in range(self.feature.size):
            # Children come after their parents.
            if self.feature[node] != LEAF:
                depth[self.left[node]] = depth[self.right[node]] = depth[node] + 1
        ends = np.append(self.roots[1:], self.feature.size)
        return np.array([depth[begin:end].max() for begin, end in zip(self.roots, ends, strict=True)], np.int64)

    def trees(self) -> Iterator[tuple[int, int]]:
        """Yield the first node of each tree, and the first beyond it."""
        ends = np.append(self.roots[1:], self.feature.size)
        yield from zip(self.roots.tolist(), ends.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree, its root first and children after their parents; fields as those of a :class:`TreeEnsemble`."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]


def tree_of(
    feature: ArrayLike, threshold: ArrayLike, missing_left: ArrayLike, left: ArrayLike, right: ArrayLike,
    value: ArrayLike,
) -> Tree:  # fmt: skip
    """Make a tree from nodes in any order, the root first; leaves have the feature -1."""
    features, lefts, rights = (np.asarray(column, np.int64) for column in (feature, left, right))
    children = np.concatenate([lefts[features != LEAF], rights[features != LEAF]])
    order: list[int] = []
    ahead = collections.deque([0])
    if features.size and (children.size == 0 or (children.min() >= 0 and children.max() < features.size)):
        while ahead and len(order) < features.size:
            # Breadth first, and both children of a node next to each other.
            node = ahead.popleft()
            order.append(node)
            if features[node] != LEAF:
                ahead += (int(lefts[node]), int(rights[node]))
    if ahead:
        raise FitError("a tree is damaged: a node leads to none, or back to one before it")
    chosen = np.array(order)
    positions = np.empty(features.size, np.int64)
    positions[chosen] = np.arange(chosen.size)
    leaf = features[chosen] == LEAF
    here = np.arange(chosen.size)
    return Tree(
        feature=features[chosen].astype(np.int32),
        threshold=np.where(leaf, np.float32(np.inf), np.asarray(threshold, np.float32)[chosen]).astype(np.float32),
        missing_left=np.asarray(missing_left, np.bool_)[chosen] | leaf,
        left=np.where(leaf, here, positions[lefts[chosen]]).astype(np.int32),
        right=np.where(leaf, here, positions[rights[chosen]]).astype(np.int32),
        value=np.where(leaf, np.asarray(value, np.float64)[chosen], 0.0),
    )


def at_most(thresholds: ArrayLike) -> NDArray[np.float32]:
    """Return the largest float32 that are at most some numbers.

    >>> threshold = at_most([0.1])[0]
    >>> threshold.item() <= 0.1 < np.nextafter(threshold, np.float32(1)).item()
    True
    """
    exact = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
    lower = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > exact, lower, rounded)


def below(thresholds: ArrayLike) -> NDArray[np.float32]:
    """Return the largest float32 that are less than some float32."""
    return np.nextafter(np.asarray(thresholds, np.float32), np.float32(-np.inf))
