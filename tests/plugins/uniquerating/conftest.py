"""Results that the tests of the study share."""

from __future__ import annotations

import pytest


@pytest.fixture
def results(results_of_study):
    """Return the results of one smoke run."""
    return results_of_study("uniquerating")
