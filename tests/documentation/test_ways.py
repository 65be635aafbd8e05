"""The page on the architecture lists the modules that each of the three ways through rankplug passes."""

from __future__ import annotations

import pytest
from rankplug_documentation.ways import WAYS, on_page, passed

BEFORE = {"rp.fit": 34, "rankplug sweep": 81, "rankplug reproduce": 45}
"""Modules that each way passed before the library had layers."""


@pytest.mark.parametrize("way", WAYS)
def test_the_page_lists_fewer_modules_than_there_were(way):
    assert 0 < len(set(on_page(way))) < BEFORE[way]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", WAYS)
def test_the_modules_of_the_page_are_those_that_are_called(way):
    # Threads share out the work, so that the order in which they call differs from run to run.
    assert sorted(passed(way)) == sorted(on_page(way))
