"""Contract of studies: they plan, run in seconds, draw, decide either way, and their notebooks execute."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankplug.errors import RankplugError
from rankplug.registry import SESSION, canonical, registry
from rankplug.report import execute_notebook
from rankplug.store import METRICS, Store, combinations
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
    Profile,
    Results,
    Runs,
    Study,
    check_parameters,
    evaluate,
    study,
)
from rankplug.testing import _checks
from rankplug.testing._checks import Contract, NotApplicableError, PluginContract

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 60.0
COLUMNS = ("exhibit", "dataset", "model", "metric", "value", "half_width", "note")
PLACE = re.compile(r"Section \d+(\.\d+)*|(train|valid|test) part")
"""Places in a paper or a release that are no exhibits."""
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_MAIN = 8
"""Main claims of a study at most: what a paper's abstract and conclusion say."""
FOLD = re.compile(r"fold (\d+)")
LEVELS = (0.35, 0.75)
"""Least and greatest quality in synthetic results."""
DIFFERING = 12
"""Synthetic results in which models differ."""
SPREAD = 0.0005
"""Standard deviation among queries and trials in synthetic results."""
QUERIES, STEPS = 4, 6
"""Test queries and iterations of a trial in results that are synthetic as a whole."""


@dataclass(frozen=True)
class Case(_checks.Case):
    """A study under test, run at the profile ``smoke`` into a folder of its own."""

    _synthetic: dict[Profile, list[Results]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def study(self) -> Study:
        return study(self.name)

    @cached_property
    def folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="rankplug-study-")

    @cached_property
    def smoke(self) -> tuple[Results, float, Store]:
        """Its results at the profile smoke, the seconds of processor time that they took, and their store."""
        store = Store(Path(self.folder.name) / "results")
        began = time.process_time()
        results = self.study.run("smoke", store=store, progress=False)
        return results, time.process_time() - began, store

    def runs(self, profile: Profile) -> list[Runs]:
        return list(self.study.runs(profile, None))

    def synthetic(self) -> Iterator[Results]:
        """Yield results with other numbers than any run gave, those of the smallest profile first."""
        profiles: list[Profile] = ["smoke", *(profile for profile in reversed(PROFILES) if profile != "smoke")]
        for profile in profiles:
            if profile not in self._synthetic:
                base = self.smoke[0] if profile == "smoke" else _without_numbers(self.study, profile)
                self._synthetic[profile] = list(_other_numbers(base))
            yield from self._synthetic[profile]


CONTRACT = Contract(Case)


class StudyContract(PluginContract):
    """The contract of a study; it runs the profile smoke once."""

    contract, kind = CONTRACT, "study"
    study: ClassVar[str]


@CONTRACT.check(
    means="nobody can tell which paper it is",
    fix="give its title and a rankplug.studies.Citation, or a few words where it runs no paper again",
    stage=0,
)
def it_says_which_paper_it_is(case: Case) -> str | None:
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
def every_profile_plans(case: Case) -> str | None:
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
def smoke_takes_less_than_a_minute(case: Case) -> str | None:
    """Check the processor time of all runs at the profile smoke, in this process."""
    _, seconds, _ = case.smoke
    return f"it took {seconds:.0f} s of processor time" if seconds > SECONDS else None


@CONTRACT.check(
    means="a reader sees a figure or table without numbers, or none",
    fix="compute it from results that a few queries give too, and give it a title that says what it shows",
)
def every_exhibit_draws(case: Case) -> str | None:
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
def claims_say_what_they_are(case: Case) -> str | None:
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
def every_claim_can_come_out_at_least_two_ways(case: Case) -> str | None:
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
def published_numbers_say_what_they_are(case: Case) -> str | None:
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
def the_notebook_is_a_stripped_template(case: Case) -> str | None:
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
def the_notebook_executes(case: Case) -> str | None:
    """Execute it with papermill at the profile smoke, in a kernel of its own."""
    plugin = registry().find("study", case.name)
    if plugin.distribution == SESSION:
        raise NotApplicableError("it is not installed, and the kernel of a notebook knows only what is")
    _, _, store = case.smoke
    folder = Path(case.folder.name) / "report"
    try:
        execute_notebook(case.study, "smoke", {}, store, folder)
    except Exception as error:
        last = str(error).strip().splitlines()[-1] if str(error).strip() else ""
        return f"it fails: {type(error).__name__}: {last}"
    return None


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


def _one_way(claim: Claim, case: Case) -> str | None:
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
    for results in case.synthetic():
        if len(words & DECIDED) > 1:
            break
        words.add(claim.judge(results).verdict)
    # What says why it is not judged, and names no margin for a judgement, counts nowhere.
    if len(words & DECIDED) > 1 or (words == {"not run"} and claim.margin is None):
        return None
    return f"comes out as {' or '.join(repr(word) for word in sorted(words))} on all results that could be made up"


def _without_numbers(study: Study, profile: Profile) -> Results:
    """Return results of a profile's shape, all zero: a few queries and iterations of each trial and fold."""
    import pandas as pd

    requested, frames = study.planned_runs(profile), {}
    keys = [("query", "test", f"q{number}", STEPS) for number in range(QUERIES)]
    keys += [("curve", part, "", step) for part in ("train", "valid") for step in range(STEPS)]
    names = ["model", "combination", "trial", "fold", "metric", "measure", "part", "query", "iteration"]
    for group, runs in requested.items():
        rows = [
            (model, model, trial, fold, canonical("metric", metric), *key)
            for model in runs.models
            for trial in range(runs.trials)
            for fold in runs.folds
            for metric in runs.grid(model).get("metrics") or METRICS
            for key in keys
        ]
        frame = pd.DataFrame(rows, columns=names).assign(value=0.0)
        frames[group] = frame.astype({"model": pd.CategoricalDtype(list(runs.models))})
    return Results(profile, frames, study.published(), (), requested)


def _other_numbers(results: Results) -> Iterator[Results]:
    """Yield results of the same shape with other numbers: models in many orders of quality, alike, and as published.

    A model's learning curve rises to its quality; in every other result it falls again, the sooner the lower it is, as
    of a model that overfits. Queries and trials differ a little, so that there is a spread.
    """
    generator = np.random.default_rng(20)
    for number in range(DIFFERING + 2):
        frames = {}
        for group, frame in results.frames.items():
            models = list(frame["model"].cat.categories)
            order = generator.permutation(len(models)) if number > 1 else np.arange(len(models))[:: 1 - 2 * number]
            levels = np.linspace(*LEVELS, len(models))[order] if number < DIFFERING else np.full(len(models), 0.5)
            quality = frame["model"].astype(object).map(dict(zip(models, levels, strict=True))).to_numpy(np.float64)
            if number > DIFFERING:
                quality = _as_published(results, group, frame, quality)
            iterations = frame["iteration"].to_numpy(np.float64)
            curve = 1.0 - 0.5 * np.exp(-iterations / 3.0)
            if 1 < number < DIFFERING and number % 2 == 1:
                turn = (quality - LEVELS[0]) / (LEVELS[1] - LEVELS[0])
                curve *= 1.0 - np.maximum(iterations / max(iterations.max(), 1.0) - turn, 0.0)
            values = quality * np.where(frame["measure"] == "curve", curve, 1.0)
            values += SPREAD * generator.normal(size=len(frame))
            frames[group] = frame.assign(value=values.clip(0.0, 1.0))
        yield replace(results, frames=frames)


def _as_published(results: Results, group: str, frame: pd.DataFrame, quality: np.ndarray) -> np.ndarray:
    """Return the quality of each row, the published one where there is one on the data of a group.

    These are the data in whose place the group's stand, or a fold of the only ones, such as ``fold 1``.
    """
    metrics = frame["metric"].astype(str)
    rows = results.published.to_dict("records") if group in results.runs else []
    for row in reversed(rows):
        fold = FOLD.fullmatch(str(row["dataset"]))
        if fold or row["dataset"] == results.place(group):
            measured = (metrics == _canonical(row["metric"])) | (metrics.str.partition("[")[0] == row["metric"])
            measured &= frame["model"].astype(str) == str(row["model"])
            quality = np.where(measured & (not fold or frame["fold"] == int(fold[1])), float(row["value"]), quality)
    return quality


def _canonical(metric: str) -> str:
    """Return the canonical name of a metric, or the name of a fact that no metric measures."""
    try:
        return canonical("metric", metric)
    except RankplugError:
        return metric
