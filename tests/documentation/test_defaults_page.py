"""docs/defaults.md is what its evidence says, counted by a rule that can come out either way."""

from __future__ import annotations

import json
from pathlib import Path

from rankplug_documentation.reference_pages.defaults import defaults_page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_made_of_its_evidence():
    findings = json.loads((DOCS / "evidence" / "defaults" / "defaults.json").read_text())
    assert (DOCS / "defaults.md").read_text() == defaults_page(findings)


def test_wins_and_losses_are_counted():
    about = {"folds": 1, "backend": "lbfgs", "loss": "mse"}
    numbers = [(0.5, 0.6, 0.605, 50), (0.5, 0.4, 0.6, 20), (0.5, 0.6, 0.61001, 20), (0.5, 0.5, 0.4, 20)]
    findings = [
        {**about, "collection": f"c{place}", "feature": feature, "usual": usual, "tuned": tuned, "draws": draws}
        for place, (feature, usual, tuned, draws) in enumerate(numbers)
    ]
    assert "| `lbfgs` | `mse` | 20 to 50 | 2 of 4 | 2 of 4 | +2.9 |" in defaults_page(findings)
