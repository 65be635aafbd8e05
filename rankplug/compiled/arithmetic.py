"""Arithmetic for compiled functions of one list: noise, vectorised exponentials and logarithms, and work space.

Noise comes from a counter: the same (seed, iteration, query, sample, document) always gives the same number, so that
results do not depend on the number of threads or on the order of the lists. The generator is splitmix64's finaliser
over a keyed counter.

``math.exp`` and ``math.log`` are calls into the C library, which keep LLVM from using vector registers. :func:`exp` and
:func:`log` are plain arithmetic and integer operations, so that a loop around them is vectorised; both are within two
units in the last place of the C library's.

>>> bool(abs(exp(1.0) - 2.718281828459045) < 1e-15), bool(abs(log(10.0) - 2.302585092994046) < 1e-15)
(True, True)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankplug.compiled.functions import part

Doubles = NDArray[np.float64]

APART = 64
"""Numbers left free before and after each array of work space.

LLVM gives a loop over several arrays a fast and a plain version and takes the plain one where arrays lie closer
together than a few vector registers. The two add up in different order, so that the last digit of a short list would
depend on where the heap had put its arrays.
"""
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

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / 9007199254740992.0


@part(inline="always")
def mix(number: np.uint64) -> np.uint64:
    """Mix 64 bits by a bijection in which every input bit changes about half of the output bits."""
    number ^= number >> np.uint64(30)
    number *= _FIRST
    number ^= number >> np.uint64(27)
    number *= _SECOND
    return number ^ (number >> np.uint64(31))


@part(nogil=True)
def key_of(seed: int, iteration: int, query: int, sample: int) -> np.uint64:
    """Return the key of one list's noise."""
    key = mix(np.uint64(seed) + _INCREMENT)
    key = mix(key + np.uint64(iteration) * _INCREMENT + np.uint64(1))
    key = mix(key + np.uint64(query) * _INCREMENT + np.uint64(2))
    return mix(key + np.uint64(sample) * _INCREMENT + np.uint64(3))


@part(inline="always")
def uniform(key: np.uint64, document: int) -> float:
    """Return a number strictly between 0 and 1, uniform on a grid of 2^-53."""
    bits = mix(key + np.uint64(document + 1) * _INCREMENT)
    return (np.float64(bits >> np.uint64(11)) + 0.5) * _UNIT


@part(inline="always")
def logistic(key: np.uint64, document: int) -> float:
    """Return a number of the logistic distribution, which is that of a difference of two Gumbel numbers."""
    draw = uniform(key, document)
    return math.log(draw / (1.0 - draw))


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
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    fourth = square * square
    eighth = fourth * fourth
    series = (_L1 + square * _L2) + fourth * (_L3 + square * _L4)
    series += eighth * ((_L5 + square * _L6) + fourth * (_L7 + square * _L8) + eighth * (_L9 + square * _L10))
    result: float = power * _LOG_2_HIGH + (2.0 * ratio + (ratio * (square * series) + power * _LOG_2_LOW))
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


@part(nogil=True)
def scratch(length: int) -> NDArray[np.float64]:
    """Return an uninitialised array of so many numbers."""
    return np.empty(length + 2 * APART)[APART : APART + length]


@part(nogil=True)
def zeros(length: int) -> NDArray[np.float64]:
    """Return an array of so many numbers, all 0."""
    return np.zeros(length + 2 * APART)[APART : APART + length]


@part(inline="always")
def add_logistic_pair(
    scores: Doubles, better: int, worse: int, weight: float, gradient: Doubles, curvature: Doubles
) -> float:
    """Return ``weight log(1 + exp(-(f_better - f_worse)))``, and add its derivatives for both documents."""
    gap = scores[better] - scores[worse]
    small = math.exp(-abs(gap))
    wrong = (small if gap > 0.0 else 1.0) / (1.0 + small)
    gradient[better] -= weight * wrong
    gradient[worse] += weight * wrong
    curvature[better] += weight * wrong * (1.0 - wrong)
    curvature[worse] += weight * wrong * (1.0 - wrong)
    return weight * (max(0.0, -gap) + math.log1p(small))
