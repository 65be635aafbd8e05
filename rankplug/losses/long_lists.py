"""Another function of one list for the lists that are too long for a loss's own.

It is compiled where there is such a list, so that nobody waits for it who has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers
from rankplug.registry import Parameters

if TYPE_CHECKING:
    from rankplug.losses.list_losses import ListLoss


@dataclass(frozen=True)
class LongLists:
    """A second function of a loss, for its long lists.

    Args:
        function: a loss of one list that computes the same; it gets the constants and parameters of the loss.
        worth: tells of a list's labels and the parameters whether it is faster.
        longer_than: number of documents up to which nobody asks.
    """

    function: ListLoss
    worth: Callable[[NDArray[np.float64], Any], bool]
    longer_than: int

    def among(self, labels: NDArray[np.float64], starts: Integers, parameters: Parameters) -> NDArray[np.bool_]:
        """Return which lists the function is for."""
        chosen = np.diff(starts) > self.longer_than
        for one in np.flatnonzero(chosen):
            chosen[one] = self.worth(labels[starts[one] : starts[one + 1]], parameters)
        return chosen
