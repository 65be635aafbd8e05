"""Example packages of papers satisfy the contract of a study."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from rankplug.testing import study_checks

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "plugins" / "examples"
NAMES = ("neuralndcg", "toy")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_keeps_what_a_study_promises_without_training(name, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / name))
    case = study_checks.Case(name)
    vars(case)["study"] = importlib.import_module(f"rankplug_{name}.study").study
    for check in (
        study_checks.it_says_which_paper_it_is,
        study_checks.every_profile_plans,
        study_checks.published_numbers_say_what_they_are,
        study_checks.the_notebook_is_a_stripped_template,
    ):
        assert not (found := check.finding(case)).failed, found.what
    for module in [module for module in sys.modules if module.partition(".")[0] == f"rankplug_{name}"]:
        monkeypatch.delitem(sys.modules, module)
