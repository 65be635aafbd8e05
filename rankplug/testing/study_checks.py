"""Promises of a study: it plans, runs in seconds, draws, decides either way, and its notebook executes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.errors import RankplugError
from rankplug.registry import SESSION, registry
from rankplug.report import execute_notebook
from rankplug.store import METRICS, combinations
from rankplug.studies import (
    DECIDED,
    PROFILES,
    ROLES,
    SOURCES,
    Abstention,
    Checks,
    Citation,
    Claim,
    Observation,
    Study,
    check_parameters,
    evaluate,
)
from rankplug.testing._checks import Contract, NotApplicableError
from rankplug.testing._study_case import StudyCase

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 60.0
COLUMNS = ("exhibit", "dataset", "model", "metric", "value", "half_width", "note")
PLACE = re.compile(r"Section \d+(\.\d+)*|(train|valid|test) part")
"""Places in a paper or a release that are no exhibits."""
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_MAIN = 8
"""Main claims of a study at most: what a paper's abstract and conclusion say."""


CONTRACT = Contract("study", StudyCase)


@CONTRACT.check(
    means="nobody can tell which paper it is",
    fix="give its title and a rankplug.studies.Citation, or a few words where it runs no paper again",
    stage=0,
)
def it_says_which_paper_it_is(case: StudyCase) -> str | None:
    """Require a title, and whom to cite."""
    paper = case.study
    if not isinstance(paper, Study):
        return f"its implementation is a {type(paper).__name__}, not a rankplug.studies.Study"
    if paper.name != case.name:
        return f"the specification calls it {case.name}, the study itself {paper.name}"
    if not paper.title or not paper.citation:
        return "it has no title or no citation"
    if isinstance(paper.citation, Citation) and paper.citation.title != paper.title:
        return f"its title is {paper.title!r}, that of its citation {paper.citation.title!r}"
    return None


@CONTRACT.check(
    means="rankplug reproduce fails at that profile before anything is trained",
    fix="return from runs(profile, data) groups with models whose parts name installed plugins, for every profile",
    stage=1,
)
def every_profile_plans(case: StudyCase) -> str | None:
    """Check that each profile gives groups of models with different names, and with plugins that exist."""
    for profile in PROFILES:
        groups = case.runs(profile)
        names = [runs.name for runs in groups]
        if len(set(names)) < len(names):
            return f"at the profile {profile} two groups are called {max(names, key=names.count)}"
        for runs in groups:
            if not runs.models or not runs.folds or runs.trials < 1:
                return f"at the profile {profile} the group {runs.name} has no models, no folds or no trials"
            for model in runs.models:
                try:
                    combinations(runs.grid(model))
                except RankplugError as error:
                    return f"at the profile {profile} the model {model} of {runs.name} cannot be planned: {error}"
    return None


@CONTRACT.check(
    means="nobody tries it, and tests leave it out",
    fix="take fewer queries, documents, trees or epochs at the profile smoke",
    stage=2,
)
def smoke_takes_less_than_a_minute(case: StudyCase) -> str | None:
    """Check the processor time of all runs at the profile smoke, in this process."""
    _, seconds, _ = case.smoke
    return f"it took {seconds:.0f} s of processor time" if seconds > SECONDS else None


@CONTRACT.check(
    means="a reader sees a figure or table without numbers, or none",
    fix="compute it from results that a few queries give too, and give it a title that says what it shows",
)
def every_exhibit_draws(case: StudyCase) -> str | None:
    """Check exhibits on results at the profile smoke: numbers without infinities, and a caption."""
    results, _, _ = case.smoke
    evaluation = evaluate(case.study, results)
    if not case.study.exhibits:
        return "it has no figure and no table"
    for exhibit in case.study.exhibits:
        if not exhibit.title:
            return f"{exhibit.name} has no title"
        try:
            table = evaluation.exhibit(exhibit.name).table
        except Exception as error:
            return f"{exhibit.name} cannot be drawn: {type(error).__name__}: {error}"
        if problem := _numbers_problem(table):
            return f"{exhibit.name} {problem}"
    return None


@CONTRACT.check(
    means="pages and verdicts cannot refer to the claim, or a reader takes our claim for the paper's",
    fix="give each claim and observation an id of its own such as beats-lambdamart, and each claim a text, a role (main"
    " or detail) and a source (paper or ours); one to eight claims are main, and the paper's where it makes any",
    stage=0,
)
def claims_say_what_they_are(case: StudyCase) -> str | None:
    """Check ids, texts, roles and sources of claims, and ids of observations."""
    claims, seen = case.study.claims, set[str]()
    entries: list[Claim | Observation] = [*claims, *case.study.observations]
    for entry in entries:
        if not KEBAB.fullmatch(entry.id):
            return f"the id {entry.id!r} is not in kebab case"
        if entry.id in seen:
            return f"two claims or observations have the id {entry.id}"
        if not entry.text:
            return f"{entry.id} has no text"
        seen.add(entry.id)
    for claim in claims:
        if claim.role not in ROLES or claim.source not in SOURCES:
            return f"the claim {claim.id} has the role {claim.role!r} and the source {claim.source!r}"
        if claim.source == "paper" and not claim.section:
            return f"the claim {claim.id} is the paper's and names no section"
    main = [claim for claim in claims if claim.role == "main"]
    if claims and not 1 <= len(main) <= MOST_MAIN:
        return f"{len(main)} of its claims are main, not 1 to {MOST_MAIN}"
    if any(claim.source == "paper" for claim in claims):
        ours = [claim.id for claim in main if claim.source == "ours"]
        return f"the main claim {ours[0]} is not the paper's" if ours else None
    return None


@CONTRACT.check(
    means="a verdict that is the same whatever was measured says nothing",
    fix="compute evidence from the results (rankplug.studies.greater, alike, reached), with a margin that results can"
    " exceed; give a claim that reads no results, and an exact check, a control for which it comes out otherwise",
)
def every_claim_can_come_out_at_least_two_ways(case: StudyCase) -> str | None:
    """Check on results that are made up that each claim can hold, fail or be of no difference, two of these at least.

    Models are put in every order of quality, all alike, and as good as published. Results are those of the profile
    smoke with other numbers; for claims that are not run there, results of larger profiles, which are made up whole.
    """
    if not case.study.claims:
        return "it has no claim"
    for claim in case.study.claims:
        names = [exhibit.name for exhibit in case.study.exhibits]
        if claim.exhibit and claim.exhibit not in names:
            return f"the claim {claim.id} names an exhibit {claim.exhibit}, which the study has not"
        if problem := _one_way(claim, case):
            return f"the claim {claim.id} {problem}"
    return None


@CONTRACT.check(
    means="a published number cannot be found in the paper, or is set beside another model's",
    fix=f"give published.csv the columns {', '.join(COLUMNS)}, and in each row the exhibit, or the section such as"
    " Section 5.1, the model as runs name it, and the metric",
)
def published_numbers_say_what_they_are(case: StudyCase) -> str | None:
    """Check that each has a place in the paper, a metric and a finite value, and a model that the study knows.

    A place is an exhibit of the study, a numbered section, or a part of the data beside which numbers were released. A
    model is run at some profile, or spoken of in a claim. Facts about data, which no metric measures, need no model.
    """
    published = case.study.published()
    if published.empty:
        raise NotApplicableError("published.csv is empty")
    missing = [column for column in COLUMNS if column not in published]
    if missing:
        return f"published.csv has no column {missing[0]}"
    groups = [runs for profile in PROFILES for runs in case.runs(profile)]
    models = {model for runs in groups for model in runs.models}
    measured = {
        str(name) for runs in groups for model in runs.models for name in runs.grid(model).get("metrics", METRICS)
    }
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(published.to_dict("records"), 2):
        if problem := _row_problem(row, case.study, models, measured):
            return f"row {number} of published.csv {problem}"
        key = tuple(str(row[name]) for name in ("exhibit", "dataset", "model", "metric"))
        if seen.setdefault(key, number) != number:
            return f"row {number} of published.csv has another number for what row {seen[key]} is about"
    return None


def _row_problem(row: Mapping[Any, Any], study: Study, models: set[str], measured: set[str]) -> str | None:
    where, metric = str(row["exhibit"]), row["metric"]
    model = row["model"] if isinstance(row["model"], str) else ""
    exhibits = [exhibit.name for exhibit in study.exhibits]
    if not PLACE.fullmatch(where) and not any(name.startswith(where) for name in exhibits):
        return f"names {where!r}, which is no section and none of {', '.join(sorted(exhibits))}"
    if not isinstance(metric, str) or not metric:
        return "names no metric"
    if not isinstance(row["value"], (int, float)) or not np.isfinite(row["value"]):
        return f"has the value {row['value']!r}"
    kinds = {plugin.specification.name for plugin in registry().plugins("metric")}
    if metric.partition("[")[0].partition("@")[0] not in kinds:
        return None
    if metric not in measured and metric not in {name.partition("[")[0] for name in measured}:
        return f"names the metric {metric}, which no run measures"
    if model not in models and not any(model and model in claim.text for claim in study.claims):
        return f"names the model {model!r}, which no profile runs and no claim speaks of"
    return None


@CONTRACT.check(
    means="the notebook cannot be executed with other parameters, or shows results of another day",
    fix="tag its first code cell parameters, assign each of the study's parameters there, and strip it with nbstripout",
)
def the_notebook_is_a_stripped_template(case: StudyCase) -> str | None:
    """Require one cell tagged ``parameters`` with those of a study, and no outputs."""
    path = case.study.notebook_path
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    tagged = [cell for cell in code if "parameters" in cell["metadata"].get("tags", ())]
    if len(tagged) != 1:
        return f"{path} has {len(tagged)} cells with the tag parameters, not one"
    given = set(re.findall(r"^(\w+)\s*=", "".join(tagged[0]["source"]), re.MULTILINE))
    wanted = set(type(check_parameters({})).model_fields)
    if wanted - given:
        return f"the parameters cell of {path} does not assign {', '.join(sorted(wanted - given))}"
    for number, cell in enumerate(code, 1):
        if cell.get("outputs") or cell.get("execution_count") is not None:
            return f"code cell {number} of {path} has outputs or an execution count"
    return None


@CONTRACT.check(
    means="rankplug reproduce stops at the notebook",
    fix="open the notebook with rankplug lab, run it at the profile smoke, and mend the cell that fails",
)
def the_notebook_executes(case: StudyCase) -> str | None:
    """Execute it with papermill at the profile smoke, in a kernel of its own."""
    plugin = registry().find("study", case.name)
    if plugin.distribution == SESSION:
        raise NotApplicableError("it is not installed, and the kernel of a notebook knows only what is")
    _, _, store = case.smoke
    folder = Path(case._folder.name) / "report"
    try:
        execute_notebook(case.study, "smoke", {}, store, folder)
    except Exception as error:
        last = str(error).strip().splitlines()[-1] if str(error).strip() else ""
        return f"it fails: {type(error).__name__}: {last}"
    return None


CHECKS = tuple(CONTRACT.checks)


def _numbers_problem(table: pd.DataFrame) -> str | None:
    numbers = table.select_dtypes("number")
    if table.empty:
        return "has no rows"
    if np.isinf(numbers.to_numpy(np.float64)).any():
        (column, *_) = [name for name in numbers if np.isinf(numbers[name]).any()]
        return f"has an infinite number in the column {column}"
    if not numbers.empty and not np.isfinite(numbers.to_numpy(np.float64)).any():
        return "has no finite number"
    return None


def _one_way(claim: Claim, case: StudyCase) -> str | None:
    """Return what shows that a claim can come out in one way only."""
    results, _, _ = case.smoke
    with results.noting_reads() as read:
        evidence = claim.statistic(results)
    if isinstance(evidence, Checks):
        mute = [name for name, check in evidence.parts.items() if not check.tells]
        return f"has a check {mute[0]!r} that comes out alike for its control" if mute else None
    if isinstance(evidence, Abstention) and evidence.verdict == "not comparable":
        return None
    words = {claim.judge(results).verdict}
    if claim.control is not None:
        known = claim.judge_evidence(claim.control(results), results).verdict
        return None if known in DECIDED - words else f"comes out as {known!r} for its control"
    if not read and not isinstance(evidence, Abstention):
        return "reads no results and has no control"
    for made_up in case.all_synthetic():
        if len(words & DECIDED) > 1:
            break
        words.add(claim.judge(made_up).verdict)
    # What says why it is not judged, and names no margin for a judgement, counts nowhere.
    if len(words & DECIDED) > 1 or (words == {"not run"} and claim.margin is None):
        return None
    return f"comes out as {' or '.join(repr(word) for word in sorted(words))} on all results that could be made up"
