"""Arguments that must be plain numbers, and the sentence for those that are not.

>>> whole_number(3, "fold", least=1)
3
>>> whole_number("one", "fold", least=1)
Traceback (most recent call last):
...
rankplug.errors.ParameterError: fold must be a whole number of at least 1, got 'one'
>>> numbers(["high", "low"], "scores")
Traceback (most recent call last):
...
rankplug.errors.DataError: scores must be numbers: could not convert string to float: 'high'
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from rankplug.errors import DataError, ParameterError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


def whole_number(value: Any, name: str, *, least: int = 0) -> int:
    """A whole number of at least ``least``; numpy's are taken too, truth values and fractions are not."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    return number


def numbers(values: Any, name: str, dtype: str = "float64") -> NDArray[Any]:
    """A contiguous array of numbers; the same memory where it is one already."""
    import numpy as np

    try:
        array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {str(error)[:200]}") from None
    return array


def fraction(value: Any, name: str) -> float:
    """A number between 0 and 1, both excluded."""
    if not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ParameterError(f"{name} must be a number between 0 and 1, got {shown(value)}")
    return float(value)
