"""Work space for compiled functions of one list.

LLVM gives a loop over several arrays a fast and a plain version and takes the plain one where arrays lie closer
together than a few vector registers. The two add up in different order, so the last digit of a short list would depend
on where the heap had put its arrays. Arrays from here always lie far enough apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled.parts import part

APART = 64
"""Numbers left free before and after each array."""


@part(nogil=True)
def scratch(length: int) -> NDArray[np.float64]:
    """Return an uninitialised array of so many numbers."""
    return np.empty(length + 2 * APART)[APART : APART + length]


@part(nogil=True)
def zeros(length: int) -> NDArray[np.float64]:
    """Return an array of so many numbers, all 0."""
    return np.zeros(length + 2 * APART)[APART : APART + length]
