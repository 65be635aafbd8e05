"""Each check of a study fails on a study that breaks it, and passes on one that does not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from rankplug.store import Store
from rankplug.studies import (
    Check,
    Checks,
    Citation,
    Claim,
    Exhibit,
    IndependentTrials,
    Margin,
    Runs,
    Sample,
    Study,
    greater,
    not_run,
)
from rankplug.testing import study_checks

MARGIN = Margin(0.01, "a point")
PAPER = Citation(authors=("A. Person",), title="A paper", venue="SIGIR", year=2026)


def runs(profile, data):
    shared = {
        "dataset": "synthetic[queries=20,documents=8]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=3,leaves=3,min_data=2]",
    }
    return [Runs("few", {"A": {"loss": "mse"}, "B": {"loss": "lambdarank"}}, shared, trials=2)]


def lead(results):
    return greater({"": results.difference("few", "ndcg@5", "A", "B")})


def computed(results=None):
    return greater({"": Sample(np.array([0.5, 0.6, 0.5]), IndependentTrials())})


def either_way(results):
    """Return evidence that is never against the claim, whatever was measured."""
    values = results.trials("few", "ndcg@5")
    wide = values["A"].mean() < values["B"].mean()
    return greater({"": Sample(np.array([-9.0, 9.0]) if wide else np.array([0.5, 0.501]), IndependentTrials())})


def away_from_smoke(results):
    """Return evidence that only runs on other data than those of the profile smoke give."""
    data = results.runs["few"].shared["dataset"]
    return lead(results) if data == "ohsumed" else not_run("not on OHSUMED")


def runs_elsewhere(profile, data):
    (group,) = runs(profile, data)
    return [dataclasses.replace(group, shared={**group.shared, "dataset": "ohsumed"}) if profile == "real" else group]


def table(results):
    return results.trials("few", "ndcg@5").astype(float), None


CLAIM = Claim("a-is-better", "A is better", lead, "Table 1", MARGIN, "Section 1", "main")
SOUND = Study(
    name="paper",
    title="A paper",
    citation=PAPER,
    notebook="rankplug:notebooks/xendcg.ipynb",
    runs=runs,
    exhibits=(Exhibit("Table 1", "numbers", table),),
    claims=(CLAIM,),
    published=lambda: published(),
)


def published(**changes):
    row = {"exhibit": "Table 1", "dataset": "X", "model": "A", "metric": "ndcg@5", "value": 0.5}
    return pd.DataFrame([{**row, "half_width": np.nan, "note": "", **changes}])


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("study"))
    return SOUND.run("smoke", store=store, progress=False), 1.0, store


def finding(check, study, smoke):
    case = study_checks.Case("paper")
    vars(case).update(study=study, smoke=smoke)
    return getattr(study_checks, check).finding(case)


CHECKS = [check.__name__ for check in study_checks.CONTRACT.checks if check.__name__ != "the_notebook_executes"]


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_study_passes(check, smoke):
    assert finding(check, SOUND, smoke).status == "ok"


def unknown_loss(profile, data):
    (group,) = runs(profile, data)
    return [dataclasses.replace(group, models={"A": {"loss": "lamdarank"}})]


def infinite(results):
    return pd.DataFrame({"ndcg": [1.0, np.inf]}), None


TWO_WAYS, PUBLISHED = "every_claim_can_come_out_at_least_two_ways", "published_numbers_say_what_they_are"


def claimed(*arguments):
    return {"claims": (Claim("claim", "a claim", *arguments),)}


def always(results):
    return Checks({"1 = 1": Check("x", 1, at_least=1, control=1)})


@pytest.mark.parametrize(
    ("check", "changes", "complaint"),
    [
        ("it_says_which_paper_it_is", {"name": "another"}, "the study itself another"),
        ("claims_say_what_they_are", claimed(lead, "Table 1", MARGIN), "names no section"),
        ("every_profile_plans", {"runs": unknown_loss}, "the model A of few cannot be planned: there is no loss"),
        ("every_exhibit_draws", {"exhibits": (Exhibit("Table 1", "x", infinite),)}, "infinite number in the column"),
        (TWO_WAYS, claimed(lambda results: not_run("never"), "Table 1", MARGIN), "comes out as 'not run' on all"),
        (TWO_WAYS, claimed(always), "has a check '1 = 1' that comes out alike for its control"),
        (TWO_WAYS, claimed(computed, "Table 1", MARGIN), "reads no results and has no control"),
        (TWO_WAYS, claimed(either_way, "Table 1", MARGIN), "comes out as 'holds' or 'inconclusive' on all results"),
        (TWO_WAYS, claimed(lead, "Table 9", MARGIN), "names an exhibit Table 9, which the study has not"),
        (PUBLISHED, {"published": lambda: published(exhibit="Table 9")}, "names 'Table 9'"),
        (PUBLISHED, {"published": lambda: published(metric="map")}, "no run measures"),
        (PUBLISHED, {"published": lambda: pd.concat([published(), published(value=0.6)])}, "row 3 of published"),
    ],
)
def test_a_broken_study_fails_the_check_that_is_meant_for_it(check, changes, complaint, smoke):
    result = finding(check, dataclasses.replace(SOUND, **changes), smoke)
    assert result.failed and complaint in result.what


def test_a_claim_passes_by_its_control_or_by_the_profile_that_runs_it_and_may_say_why_it_is_not_judged(smoke):
    apart = Claim("by-itself", "by itself", computed, "Table 1", MARGIN, control=alike_at_zero)
    elsewhere = Claim("on-ohsumed", "on OHSUMED", away_from_smoke, "Table 1", MARGIN)
    unjudged = Claim("never", "never", lambda results: not_run("nobody can"), "Table 1")
    study = dataclasses.replace(SOUND, claims=(apart, elsewhere, unjudged), runs=runs_elsewhere)
    assert finding("every_claim_can_come_out_at_least_two_ways", study, smoke).status == "ok"
    only_smoke = dataclasses.replace(study, runs=runs)
    assert "on-ohsumed" in finding("every_claim_can_come_out_at_least_two_ways", only_smoke, smoke).what


def alike_at_zero(results):
    return greater({"": Sample(np.zeros(3), IndependentTrials())})
