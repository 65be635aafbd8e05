"""docs/clicks.md is what its evidence says, counted by a rule that can come out either way."""

from __future__ import annotations

import json
from pathlib import Path

from rankplug_documentation.reference_pages.clicks import clicks_page

DOCS = Path(__file__).parents[2] / "docs"
SETTING = {"data": "made", "log": "log", "backends": {"lightgbm": "lightgbm trees"}}


def run(seed, loss, naive, debiased, true):
    quality = {"naive": naive, "true": true, "ips": debiased, "em": debiased, "dual": naive}
    errors = {"ips": 0.01 * (seed + 1), "em": 0.1, "dual": 0.2}
    return {"backend": "lightgbm", "loss": loss, "seed": seed, "quality": quality, "errors": errors}


def test_the_page_is_made_of_its_evidence():
    found = json.loads((DOCS / "evidence" / "clicks" / "clicks.json").read_text())
    assert (DOCS / "clicks.md").read_text() == clicks_page(found)


def test_shares_of_the_gap_and_what_meets_the_target_are_counted():
    runs = [run(seed, "mse", 0.5, 0.58 + 0.001 * seed, 0.6) for seed in range(3)]
    runs += [run(seed, "few", 0.5, 0.52 + 0.001 * seed, 0.6) for seed in range(3)]
    runs += [run(seed, "unsure", 0.5, (0.5, 0.5, 0.8)[seed], 0.6) for seed in range(3)]
    page = clicks_page({"setting": SETTING, "runs": runs})
    assert "| `lightgbm` | `mse` | 0.500 | 0.581 | 0.600 | 81 % | +8.1 [+7.9, +8.3] |" in page
    assert "with an interval above zero, for 1 of 3 pairs, over 3 seeds." in page
    assert "Propensities lie at most 0.030 from the truth at any position, 0.020 in the median run" in page


def test_an_engines_own_debiasing_is_compared_with_itself_and_only_where_it_is_there():
    own = run(0, "lambdarank", 0.5, 0.52, 0.6)
    own["quality"] |= {"native naive": 0.4, "native": 0.55}
    page = clicks_page({"setting": SETTING, "runs": [own, run(1, "mse", 0.5, 0.5, 0.6)]})
    table = page[page.index("### `native`") :]
    assert "| `lightgbm` | `lambdarank` | 0.400 | 0.550 | 0.600 | 75 % |" in table
    assert "mse" not in table and "Propensities" not in table
