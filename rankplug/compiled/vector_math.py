"""Exponential and logarithm that a compiled loop runs on several documents at once.

``math.exp`` and ``math.log`` are calls into the C library, which keep LLVM from using vector registers. These two are
plain arithmetic and integer operations, so a loop around them is vectorised; both are within two units in the last
place of the C library's. Use them in functions of one list as you would use those of :mod:`math`.

>>> exp.py_func is not None and bool(abs(exp(1.0) - 2.718281828459045) < 1e-15)
True
>>> bool(abs(log(10.0) - 2.302585092994046) < 1e-15)
True
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankplug.compiled.parts import part

WIDEST = 600.0
"""Range of exponents whose exponentials fit into doubles, sums and quotients included."""

_LOG2_E = 1.0 / math.log(2.0)
_LOG_2_HIGH = 6.93147180369123816490e-01
_LOG_2_LOW = 1.90821492927058770002e-10
_ROUNDER = 6755399441055744.0
"""1.5 * 2^52: added to a double of moderate size, it leaves the nearest integer in the lowest bits."""
_ROUNDER_BITS = 0x4338000000000000
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
_LARGEST_EXPONENT = 709.0
_SMALLEST_EXPONENT = -708.0

_E3, _E4, _E5, _E6, _E7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
_E8, _E9, _E10, _E11, _E12, _E13 = (1.0 / math.factorial(power) for power in range(8, 14))
_L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8, _L9, _L10 = (2.0 / (2 * power + 1) for power in range(1, 11))


def _reinterpret(source: Any, target: Any, llvm_type: ir.Type) -> Any:
    def typing(context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm_type)

        return target(source), generate

    return intrinsic(typing)


@intrinsic
def _larger(context: Any, left: Any, right: Any) -> Any:
    """Return the larger of two numbers, in a form that LLVM keeps in vector registers; a comparison is not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        maximum = builder.module.declare_intrinsic("llvm.maxnum", [double], ir.FunctionType(double, [double, double]))
        return builder.call(maximum, arguments, fastmath=("reassoc", "nsz", "nnan"))

    return types.float64(types.float64, types.float64), generate


_bits_of = _reinterpret(types.float64, types.int64, ir.IntType(64))
_double_of = _reinterpret(types.int64, types.float64, ir.DoubleType())


# Without fastmath: the rounding by adding and subtracting a large number must not be simplified away.
@part(nogil=True, error_model="numpy", fastmath=False, forceinline=True)
def exp(number: float) -> float:
    """Return the exponential; 0 below -708 and e^709 above 709."""
    bounded = min(max(number, _SMALLEST_EXPONENT), _LARGEST_EXPONENT)
    shifted = bounded * _LOG2_E + _ROUNDER
    power = shifted - _ROUNDER
    rest = (bounded - power * _LOG_2_HIGH) - power * _LOG_2_LOW
    square = rest * rest
    # Estrin's scheme: short chains of dependent operations.
    low = 1.0 + rest + square * (0.5 + rest * _E3)
    middle = (_E4 + rest * _E5) + square * (_E6 + rest * _E7)
    high = (_E8 + rest * _E9) + square * (_E10 + rest * _E11)
    fourth = square * square
    series = low + fourth * (middle + fourth * (high + fourth * (_E12 + rest * _E13)))
    scaled = _double_of(_bits_of(series) + (_bits_of(shifted) << 52))
    return scaled if number > _SMALLEST_EXPONENT else 0.0


@part(nogil=True, error_model="numpy", fastmath=False, forceinline=True)
def log(number: float) -> float:
    """Return the natural logarithm of a positive, normal number."""
    bits = _bits_of(number)
    power_bits = (bits - _ROOT_HALF_BITS) >> 52
    power = _double_of(power_bits + _ROUNDER_BITS) - _ROUNDER
    mantissa = _double_of(bits - (power_bits << 52))
    part = (mantissa - 1.0) / (mantissa + 1.0)
    square = part * part
    fourth = square * square
    eighth = fourth * fourth
    series = (_L1 + square * _L2) + fourth * (_L3 + square * _L4)
    series += eighth * ((_L5 + square * _L6) + fourth * (_L7 + square * _L8) + eighth * (_L9 + square * _L10))
    result: float = power * _LOG_2_HIGH + (2.0 * part + (part * (square * series) + power * _LOG_2_LOW))
    return result


@part(nogil=True, error_model="numpy", fastmath=False)
def exponentials_from(exponents: NDArray[np.float64], origin: float, out: NDArray[np.float64]) -> None:
    """Fill ``out`` with ``exp(exponents - origin)``, cut off at ``exp(WIDEST)`` so that products do not overflow.

    The sigmoid of any difference of two exponents is then a quotient: ``e_i / (e_i + e_j)``. All of these are exact to
    rounding if no exponent is further than half of :data:`WIDEST` from the origin. Where exponents spread wider, take
    one of the two as the origin: it is exact again, as the smaller term vanishes only where the quotient is 0 or 1.
    """
    for position in range(exponents.size):
        out[position] = exp(min(exponents[position] - origin, WIDEST))


@part(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "nnan"})
def largest(numbers: NDArray[np.float64]) -> float:
    """Return the largest of some finite numbers, of which there is at least one."""
    best = numbers[0]
    for position in range(numbers.size):
        best = _larger(best, numbers[position])
    return float(best)


@part(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def make_log_probabilities(scores: NDArray[np.float64]) -> None:
    """Shift finite scores, of which there is at least one, so that their exponentials add up to 1."""
    peak = largest(scores)
    mass = 0.0
    for score in scores:
        mass += exp(score - peak)
    shift = peak + math.log(mass)
    for position in range(scores.size):
        scores[position] -= shift
