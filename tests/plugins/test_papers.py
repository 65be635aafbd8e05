"""Claims of all papers, from one smoke run each: every one is judged, and exact checks have their known verdicts."""

from __future__ import annotations

import pytest

import rankplug as rp

pytestmark = pytest.mark.slow

FAILING = {
    "logrank": ["small-changes-are-likelier", "l3-is-not-convex"],
    "stochastic": ["cross-entropy-best-scores-stay"],
    "uniquerating": [],
    "xendcg": [],
}
"""Exact claims of each paper that are wrong."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"draw {name}")) for name in FAILING]
)
def test_claims_are_judged_and_exact_ones_decided(name, results_of_study):
    study, results = rp.study(name), results_of_study(name)
    verdicts = {claim.id: claim.judge(results) for claim in study.claims}
    assert all(verdict.sentence for verdict in verdicts.values())
    assert all(study.exhibit(claim.exhibit) for claim in study.claims if claim.exhibit)
    exact = [claim for claim in study.claims if getattr(verdicts[claim.id], "exact", False)]
    assert [claim.id for claim in exact if verdicts[claim.id].verdict == "fails"] == FAILING[name]
    assert "inconclusive" not in {verdicts[claim.id].verdict for claim in exact}
    assert all(check.tells for claim in exact for check in claim.statistic(results).parts.values())
