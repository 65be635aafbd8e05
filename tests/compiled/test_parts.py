"""Parts of compiled functions: callers copy them, Python calls a form of its own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rankplug.compiled import part
from rankplug.compiled.machine_code import compile_with_own_copies


@part(nogil=True, error_model="numpy")
def cubed(number):
    """Return the third power."""
    if number > 1e100:
        raise ValueError(f"{number} is too large")
    return number * number * number


def summed(numbers):
    total = 0.0
    for number in numbers:
        total += cubed(number)
    return total


def test_a_caller_and_python_get_the_same():
    compiled = compile_with_own_copies(summed)
    assert compiled(np.array([1.0, 2.0, -3.0])) == 1.0 + 8.0 - 27.0
    assert [cubed(number) for number in (1.0, 2.0, -3.0)] == [1.0, 8.0, -27.0]
    assert cubed(number=2.0) == 8.0 and cubed.__doc__ == "Return the third power."


def test_what_a_part_raises_arrives_with_its_words():
    compiled = compile_with_own_copies(summed)
    with pytest.raises(ValueError, match="is too large"):
        compiled(np.array([1.0, 1e200]))
    with pytest.raises(ValueError, match="is too large"):
        cubed(1e200)


def test_no_wrapper_is_made_for_what_python_does_not_call():
    compile_with_own_copies(summed)(np.array([1.0]))
    (result,) = cubed.overloads.values()
    made = {function.name for function in result.library.get_defined_functions()}
    assert result.fndesc.llvm_func_name in made
    assert result.fndesc.llvm_cpython_wrapper_name not in made and result.fndesc.llvm_cfunc_wrapper_name not in made


def test_a_part_passes_to_another_process():
    assert pickle.loads(pickle.dumps(cubed))(2.0) == 8.0
