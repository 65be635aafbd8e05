"""Trees of LightGBM that each learn from the documents of some queries.

LightGBM samples queries for its own objectives only; a tree of ours is grown on a subset of the binned documents, by a
booster that holds no other tree, and the scores of all documents are stored here. So an iteration takes the time of a
tree on few documents, and of one look at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from rankplug_export.compiled import CompiledModel, RunningScores

from rankplug.data import Lists
from rankplug.errors import FitError
from rankplug.system import threads
from rankplug.training import Part
from rankplug_lightgbm.as_arrays import ensemble_of

Derivatives = Callable[[NDArray[Any], lgb.Dataset], tuple[NDArray[Any], NDArray[Any]]]
END = "end of trees"


class SampledTrees:
    """A growing sum of trees, called as a booster is.

    Args:
        parameters: parameters of LightGBM.
        data: all documents, from which each tree takes some.
        parts: parts of the data whose scores are stored.
        rows: positions of the documents that an iteration learns from.
    """

    def __init__(
        self,
        parameters: dict[str, Any],
        data: lgb.Dataset,
        parts: dict[Part, Lists],
        rows: Callable[[int], NDArray[np.int64]],
    ) -> None:
        self.parameters, self.data, self.rows = parameters, data, rows
        self.running = {part: RunningScores(lists.features) for part, lists in parts.items()}
        self.trees: list[str] = []
        self.frame = ("", "")
        self.taken: NDArray[np.int64] | None = None
        self.some: lgb.Dataset | None = None
        self.grower: lgb.Booster | None = None

    def update(self, fobj: Derivatives) -> bool:
        """Grow one more tree; one without a split, where the sampled documents allow none, adds nothing."""
        rows = self.rows(len(self.trees))
        # The booster compares those of the next tree with those of the last, which must not be gone by then.
        before = self.some
        if self.taken is None or not np.array_equal(rows, self.taken):
            self.some, self.taken = self.data.subset(rows.tolist()), rows
        if self.grower is None:
            self.grower = lgb.Booster(self.parameters, self.some)
        stopped = self.grower.update(train_set=self.some, fobj=lambda _, data: fobj(self.scores("train"), data))
        del before
        head, tree, tail = last_tree(self.grower.model_to_string(num_iteration=-1))
        self.frame = self.frame if self.trees else (head, tail)
        self.trees.append(tree)
        if not stopped:
            self._add(self._text([tree]))
            self.grower.rollback_one_iter()
        return False

    def _add(self, text: str) -> None:
        """Add the scores of a tree to those of all documents."""
        assert self.grower is not None
        try:
            compiled = CompiledModel(ensemble_of(text))
        except FitError:
            # Splits of categories are LightGBM's own.
            for running in self.running.values():
                added = self.grower.predict(running.features, raw_score=True, num_threads=threads())
                running.scores += np.asarray(added)
            return
        for running in self.running.values():
            running.add(compiled)

    def scores(self, part: Part) -> NDArray[np.float64]:
        """Return the scores of a part under all trees."""
        return self.running[part].scores

    def current_iteration(self) -> int:
        """Return the number of trees."""
        return len(self.trees)

    def model_to_string(self, num_iteration: int) -> str:
        """Return LightGBM's text of the first trees."""
        # Reading and writing adds what is counted over all trees.
        return str(lgb.Booster(model_str=self._text(self.trees[:num_iteration])).model_to_string())

    def _text(self, trees: list[str]) -> str:
        head, tail = self.frame
        return head + "".join(f"Tree={number}\n{tree}" for number, tree in enumerate(trees)) + tail


def last_tree(text: str) -> tuple[str, str, str]:
    """Return what stands before the trees in the text of a model, its last tree without its number, and the rest."""
    head, _, trees = text.partition("Tree=")
    grown, end, tail = trees.rpartition(END)
    # Where trees begin is found by reading; the sizes would be those of other trees.
    lines = [line for line in head.splitlines(keepends=True) if not line.startswith("tree_sizes=")]
    return "".join(lines), grown.rpartition("Tree=")[2].partition("\n")[2], end + tail
