"""The tests that every loss inherits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

from rankplug.testing import loss_checks
from rankplug.testing.loss_checks import ALL_ZERO_CASES, Case


class LossContract:
    """Subclass it, name the loss, and pytest runs every check of :mod:`rankplug.testing.loss_checks`.

    Class attributes other than ``loss`` say where a loss is allowed to differ; see
    :class:`~rankplug.testing.loss_checks.Case` for what each means.
    """

    loss: ClassVar[str]
    largest_label: ClassVar[int] = 4
    zero_cases: ClassVar[frozenset[str]] = ALL_ZERO_CASES
    equal_labels_by_position: ClassVar[bool] = False
    tolerance: ClassVar[float] = 1e-5
    longest: ClassVar[int] = 10_000

    @pytest.fixture
    def case(self) -> Case:
        """The loss under test."""
        return Case(
            self.loss,
            self.largest_label,
            self.zero_cases,
            self.equal_labels_by_position,
            self.tolerance,
            self.longest,
        )

    @pytest.mark.parametrize("check", loss_checks.CHECKS, ids=lambda check: check.__name__)
    def test_contract(self, case: Case, check) -> None:  # type: ignore[no-untyped-def]
        """One promise of the contract."""
        check(case)

    def test_speed(self, case: Case, record_property: Callable[[str, object], None]) -> None:
        """Reports documents a second; never fails."""
        length = min(120, case.loss.specification.longest or 120)
        scores, labels, starts = case.lists([length] * 50)
        bound = case.loss.on(labels, starts)
        bound(scores, dtype=np.float32)
        begin = time.perf_counter()
        bound(scores, dtype=np.float32)
        record_property("documents a second", round(scores.size / (time.perf_counter() - begin)))
