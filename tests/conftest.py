"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# The first example of a test may compile a function, so time says nothing about the code under test.
settings.register_profile("rankplug", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rankplug")
