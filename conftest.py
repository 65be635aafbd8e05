"""Any folder under plugins/ may be deleted: the tests that need it are then skipped, and all others must pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = (
    "rankplug_classics",
    "rankplug_crossover",
    "rankplug_jupyter",
    "rankplug_lbfgs",
    "rankplug_letor2",
    "rankplug_lightgbm",
    "rankplug_logrank",
    "rankplug_metrics",
    "rankplug_mlflow",
    "rankplug_neuralsort",
    "rankplug_plrank",
    "rankplug_scorers",
    "rankplug_stochastic",
    "rankplug_stochasticrank",
    "rankplug_torch",
    "rankplug_uniquerating",
    "rankplug_xendcg",
    "rankplug_xgboost",
    "rankplug_yetiloss",
)
ABSENT = [package for package in PACKAGES if not (Path(__file__).parent / "plugins" / package).is_dir()]
NEEDS = re.compile(
    r"there is no (?:loss|sampler|scorer|backend|dataset|transform|metric|study) called \w+"
    r"|module 'rankplug' has no attribute '\w+'"
    rf"|No module named '(?:{'|'.join(ABSENT)})\b"
)
"""Messages about a name that an absent package would offer; with all packages there, no such test is skipped."""


def skip_where_needed(report: pytest.TestReport | pytest.CollectReport, where: Path) -> None:
    """Turn a failure for want of an absent package into a skipped test."""
    if ABSENT and report.failed and (found := NEEDS.search(f"{report.longreprtext}\n{report.capstdout}")):
        report.outcome = "skipped"
        report.longrepr = (str(where), 0, f"Skipped: needs {' or '.join(ABSENT)}: {found[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Skip a test that needs an absent package."""
    report = yield
    skip_where_needed(report, item.path)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Skip a module of tests that needs an absent package."""
    report = yield
    skip_where_needed(report, collector.path)
    return report
