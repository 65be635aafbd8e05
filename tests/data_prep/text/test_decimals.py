"""Decimal numbers are rounded as ``float`` rounds them."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_data.text.decimals import nearest_double
from rankplug_data.text.digits import read_digits


@given(st.integers(0, 2**63 - 1), st.integers(-400, 400))
def test_equals_float_wherever_it_decides(mantissa, power):
    value, decided = nearest_double(mantissa, power)
    if decided:
        assert value == float(f"{mantissa}e{power}")


@given(st.floats(min_value=1e-290, max_value=1e290))
def test_reads_back_what_python_prints(number):
    mantissa, _, power = f"{number:.16e}".partition("e")
    value, decided = nearest_double(int(mantissa.replace(".", "")), int(power) - 16)
    assert decided
    assert value == float(f"{number:.16e}")


def test_numbers_halfway_between_two_doubles_go_to_the_even_one():
    generator = random.Random(0)
    for _ in range(2000):
        halfway = 2**53 + 2 * generator.randrange(2**52) + 1
        value, decided = nearest_double(halfway, 0)
        assert decided
        assert value == float(halfway)


def test_leaves_what_is_too_small_or_too_large_to_float():
    for mantissa, power in ((5, -324), (2, 308), (1, -400), (1, 400)):
        assert not nearest_double(mantissa, power)[1]
    assert nearest_double(0, -400) == (0.0, True)


@given(st.integers(0, 10**18 - 1), st.sampled_from(" :.e\n"), st.integers(0, 12))
def test_digits_end_where_they_end(number, behind, padding):
    letters = np.frombuffer(f"{number}{behind}{'7' * padding} ".encode(), np.uint8)
    begin = letters.ctypes.data
    value, end = read_digits(begin, begin + letters.size)
    assert (value, end - begin) == (number, len(str(number)))


@pytest.mark.parametrize("text", [b"x1 ", b" 1 ", b"-12345678 ", b": "])
def test_no_digit_is_zero_digits_long(text):
    letters = np.frombuffer(text, np.uint8)
    assert read_digits(letters.ctypes.data, letters.ctypes.data + letters.size) == (0, letters.ctypes.data)


def test_doubles_are_exact_by_construction():
    assert nearest_double(1, -1)[0] == 0.1
    assert math.isclose(nearest_double(17976931348623157, 292)[0], 1.7976931348623157e308, rel_tol=0)
