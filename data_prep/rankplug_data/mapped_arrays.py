"""Arrays of the cache, mapped into memory; a file that is no array of numbers is refused, so nothing is unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError


def map_array(path: Path) -> NDArray[Any]:
    """Map the array in a ``.npy`` file of a folder that can be written again."""
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:
        # A damaged header raises errors of many kinds, of the tokenizer among others.
        raise DataError(
            f"{path} is damaged ({str(error)[:200]}); remove {path.parent}, and it is written again when it is needed"
        ) from error
    return array
