"""The tests that plugins inherit: subclass the contract of a kind, name the plugin, and pytest runs every check."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from rankplug.testing import (
    dataset_checks,
    fitting_checks,
    loss_checks,
    metric_checks,
    sampler_checks,
    study_checks,
    transform_checks,
)
from rankplug.testing._checks import Check, Contract


class PluginContract:
    """Tests that run a contract's checks on the plugin that a subclass names under its kind."""

    contract: ClassVar[Contract]
    kind: ClassVar[str]
    _case: ClassVar[Any]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one test of each check."""
        if "check" in metafunc.fixturenames:
            metafunc.parametrize("check", self.contract.checks, ids=lambda check: check.__name__)

    @pytest.fixture
    def case(self) -> Any:
        """Return the plugin under test, the same for all checks, so that what they share is fitted once."""
        if "_case" not in vars(type(self)):
            type(self)._case = self.make_case()
        return type(self)._case

    def make_case(self) -> Any:
        """Make the case of the plugin that the class names."""
        return self.contract.case(getattr(self, self.kind))

    def test_contract(self, case: Any, check: Check) -> None:
        """One promise of the contract."""
        check(case)


class LossContract(PluginContract):
    """The contract of a loss.

    Class attributes other than ``loss`` say where a loss is allowed to differ; see
    :class:`~rankplug.testing.loss_checks.Case` for what each means.
    """

    contract, kind = loss_checks.CONTRACT, "loss"
    loss: ClassVar[str]
    largest_label: ClassVar[int | None] = None
    zero_cases: ClassVar[frozenset[str] | None] = None
    equal_labels_by_position: ClassVar[bool] = False
    tolerance: ClassVar[float] = 1e-5
    longest: ClassVar[int] = 10_000

    def make_case(self) -> loss_checks.Case:
        return loss_checks.Case(
            self.loss,
            self.largest_label,
            self.zero_cases,
            self.equal_labels_by_position,
            self.tolerance,
            self.longest,
        )


class SamplerContract(PluginContract):
    """The contract of a sampler, see :mod:`rankplug.testing.sampler_checks`."""

    contract, kind = sampler_checks.CONTRACT, "sampler"
    sampler: ClassVar[str]


class MetricContract(PluginContract):
    """The contract of a metric, see :mod:`rankplug.testing.metric_checks`."""

    contract, kind = metric_checks.CONTRACT, "metric"
    metric: ClassVar[str]


class DatasetContract(PluginContract):
    """The contract of a data set, see :mod:`rankplug.testing.dataset_checks`."""

    contract, kind = dataset_checks.CONTRACT, "dataset"
    dataset: ClassVar[str]


class TransformContract(PluginContract):
    """The contract of a transform, see :mod:`rankplug.testing.transform_checks`.

    ``dataset`` names what it is tried on, where it is made for special data.
    """

    contract, kind = transform_checks.CONTRACT, "transform"
    transform: ClassVar[str]
    dataset: ClassVar[str] = ""

    def make_case(self) -> transform_checks.Case:
        return transform_checks.Case(self.transform, self.dataset)


class StudyContract(PluginContract):
    """The contract of a study, see :mod:`rankplug.testing.study_checks`; it runs the profile smoke once."""

    contract, kind = study_checks.CONTRACT, "study"
    study: ClassVar[str]


class BackendContract(PluginContract):
    """The contract of a backend, tried with its usual scorer, see :mod:`rankplug.testing.fitting_checks`."""

    contract, kind = fitting_checks.CONTRACT, "backend"
    backend: ClassVar[str]


class ScorerContract(PluginContract):
    """The contract of a scorer, tried with each installed backend that fits it."""

    contract, kind = fitting_checks.CONTRACT, "scorer"
    scorer: ClassVar[str]
