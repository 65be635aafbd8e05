"""What all tests share."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator

import pytest
from filelock import FileLock
from hypothesis import settings

from rankplug.registry import SESSION, registry
from rankplug.studies import Results, study

# The first example of a test may compile a function, so time says nothing about the code under test.
settings.register_profile("rankplug", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rankplug")


@pytest.fixture(autouse=True, scope="module")
def forget_plugins_of_the_module() -> Iterator[None]:
    """A plugin that a module of tests adds is not seen by the modules after it."""
    yield
    if any(plugin.distribution == SESSION for plugin in registry().plugins()):
        registry.cache_clear()


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Figures that a test drew take no memory after it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def results_of_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """Runs a study at its smallest size, once for all workers of this run of the tests."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    @functools.cache
    def results(name: str) -> Results:
        with FileLock(shared / f"{name}.lock"):
            return study(name).results("smoke", store=shared / name, progress=False)

    return results
