"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from rankplug.registry import SESSION, registry

# The first example of a test may compile a function, so time says nothing about the code under test.
settings.register_profile("rankplug", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rankplug")


@pytest.fixture(autouse=True, scope="module")
def forget_plugins_of_the_module() -> Iterator[None]:
    """A plugin that a module of tests adds is not seen by the modules after it."""
    yield
    if any(plugin.distribution == SESSION for plugin in registry().plugins()):
        registry.cache_clear()
