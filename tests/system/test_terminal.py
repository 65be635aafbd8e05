"""Tests of whether a process is the kernel of a notebook."""

from ipykernel.kernelapp import IPKernelApp

from rankplug.system import in_notebook


def test_a_process_that_imports_what_kernels_need_is_no_notebook() -> None:
    assert not in_notebook()
    try:
        IPKernelApp.instance()
        assert in_notebook()
    finally:
        IPKernelApp.clear_instance()
    assert not in_notebook()
