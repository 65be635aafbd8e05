"""Arguments that must be plain numbers, and the errors for those that are not.

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
>>> numbers([0, 1.9, 4], "starts", "int64")
Traceback (most recent call last):
...
rankplug.errors.DataError: starts must be whole numbers, got 1.9 at position 1
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from rankplug.errors import DataError, ParameterError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


LARGEST_SEED = 2**63 - 1
"""Largest seed that compiled code takes."""


def whole_number(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number of at least ``least``; NumPy's are accepted too, truth values and fractions are not.

    Args:
        value: the argument.
        name: name of the argument.
        least: smallest accepted number.
        most: largest accepted number, if there is one.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    if most is not None and number > most:
        raise ParameterError(f"{name} must be a whole number of at most {most}, got {shown(value)}")
    return number


def fraction(value: Any, name: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    if not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ParameterError(f"{name} must be a number between 0 and 1, got {shown(value)}")
    return float(value)


def numbers(values: Any, name: str, dtype: str = "float64") -> NDArray[Any]:
    """Return a contiguous array of numbers; the same memory if it is one already.

    Nothing is lost on the way: masked values, fractions where whole numbers are required and numbers that the type
    cannot hold are refused.
    """
    import numpy as np

    if type(values) is np.ndarray and np.can_cast(values.dtype, dtype):
        return np.ascontiguousarray(values, dtype)
    refuse_masked(values, name)
    try:
        with np.errstate(over="raise"):
            array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    except (OverflowError, FloatingPointError):
        raise DataError(f"{name} must be numbers that {dtype} can hold: one of them is larger") from None
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name} must be numbers: {_reason(values, error)}") from None
    original = np.asarray(values)
    if array.dtype.kind == "i" and original.dtype.kind not in "biSU":
        for position in np.flatnonzero(original != array)[:1]:
            raise DataError(f"{name} must be whole numbers, got {original.flat[position]} at position {position}")
    return array


def identifiers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of identifiers, names or numbers, none of them missing."""
    import numpy as np
    import pandas as pd

    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name} must be numbers or texts: {_reason(values, error)}") from None
    if array.dtype.kind not in "biuSU":
        for position in np.flatnonzero(pd.isna(array))[:1]:
            raise DataError(f"{name} must not be missing, got {array.flat[position]} at position {position}")
    if array.dtype.kind == "O" and len({isinstance(item, str) for item in array.flat}) > 1:
        raise DataError(f"{name} must be all numbers or all texts, not some of each")
    return array


def distinct(identified: NDArray[Any], name: str) -> Any:
    """Return NumPy's ``unique_all`` of identifiers; objects that cannot be sorted are an error."""
    import numpy as np

    try:
        return np.unique_all(identified)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} must be of a kind that can be sorted, such as numbers or texts: {str(error)[:200]}"
        ) from None


def refuse_masked(values: Any, name: str) -> None:
    """Raise an error if a masked array hides values, which would reappear as plain numbers."""
    import numpy as np

    parts = values if isinstance(values, (list, tuple)) else [values]
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if isinstance(part, np.ma.MaskedArray))
    if masked:
        raise DataError(
            f"{name}: a masked array hides {masked} of them; fill them, features as by numpy.ma.filled(X, numpy.nan),"
            " or leave those documents out"
        )


def _reason(values: Any, error: Exception) -> str:
    if getattr(values, "requires_grad", False):
        return "this tensor requires gradients; give its detach(), or use rp.torch_loss where a gradient is needed"
    return str(error)[:200]
