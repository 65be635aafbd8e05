"""Promises of a study: it plans, runs in seconds, draws, decides either way, and its notebook executes."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.errors import RankplugError
from rankplug.registry import SESSION, registry
from rankplug.report import execute_notebook
from rankplug.store import Store, combinations
from rankplug.studies import (
    PROFILES,
    Checks,
    Citation,
    Profile,
    Results,
    Runs,
    Study,
    check_parameters,
    evaluate,
    study,
)
from rankplug.testing.checks import Contract, NotApplicableError

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 60.0
COLUMNS = ("exhibit", "dataset", "model", "metric", "value", "half_width", "note")
LEVELS = (0.35, 0.75)
"""Least and greatest quality in made up results."""
MADE_UP = 12


@dataclass(frozen=True)
class Case:
    """A study under test, run at the profile ``smoke`` into a folder of its own."""

    name: str

    def __str__(self) -> str:
        return self.name

    @cached_property
    def study(self) -> Study:
        return study(self.name)

    @cached_property
    def smoke(self) -> tuple[Results, float, Store]:
        """Its results at the profile smoke, the seconds of processor time that they took, and their store."""
        self._folder  # noqa: B018
        store = Store(Path(self._folder.name) / "results")
        began = time.process_time()
        results = self.study.run("smoke", store=store, progress=False)
        return results, time.process_time() - began, store

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="rankplug-study-")

    def runs(self, profile: Profile) -> list[Runs]:
        return list(self.study.runs(profile, None))


CONTRACT = Contract("study", Case)


@CONTRACT.check(
    means="nobody can tell which paper it is",
    fix="give its title and a rankplug.studies.Citation, or a few words where it runs no paper again",
    stage=0,
)
def it_says_which_paper_it_is(case: Case) -> str | None:
    """Require a title, and whom to cite."""
    one = case.study
    if not isinstance(one, Study):
        return f"its implementation is a {type(one).__name__}, not a rankplug.studies.Study"
    if one.name != case.name:
        return f"the specification calls it {case.name}, the study itself {one.name}"
    if not one.title or not one.citation:
        return "it has no title or no citation"
    if isinstance(one.citation, Citation) and one.citation.title != one.title:
        return f"its title is {one.title!r}, that of its citation {one.citation.title!r}"
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
    means="a verdict that is the same whatever was measured says nothing",
    fix="compute evidence from the results (rankplug.studies.greater, alike, reached), with a margin that results can"
    " exceed; give an exact check a control, for which it comes out otherwise",
)
def every_claim_can_come_out_at_least_two_ways(case: Case) -> str | None:
    """Check claims on results that are made up: models in every order of quality, and all alike."""
    if not case.study.claims:
        return "it has no claim"
    results, _, _ = case.smoke
    made_up = [results, *_made_up(results)]
    for claim in case.study.claims:
        names = [one.name for one in case.study.exhibits]
        if claim.exhibit and claim.exhibit not in names:
            return f"the claim {claim.sentence!r} names an exhibit {claim.exhibit}, which the study has not"
        evidence = claim.statistic(results)
        if isinstance(evidence, Checks):
            mute = [name for name, check in evidence.parts.items() if not check.tells]
            if mute:
                return f"the check {mute[0]!r} of the claim {claim.sentence!r} comes out alike for its control"
            continue
        words = {claim.judge(one).verdict for one in made_up}
        if len(words) == 1:
            return (
                f"the claim {claim.sentence!r} comes out as {words.pop()!r} on all of {len(made_up)} different results"
            )
    return None


@CONTRACT.check(
    means="a published number cannot be found in the paper, or is set beside another model's",
    fix=f"give published.csv the columns {', '.join(COLUMNS)}, and in each row the exhibit, the model and the metric",
)
def published_numbers_say_what_they_are(case: Case) -> str | None:
    """Check that each names an exhibit of the study and a metric, and has a finite value."""
    published = case.study.published()
    if published.empty:
        raise NotApplicableError("published.csv is empty")
    missing = [column for column in COLUMNS if column not in published]
    if missing:
        return f"published.csv has no column {missing[0]}"
    exhibits = {exhibit.name for exhibit in case.study.exhibits}
    for number, row in enumerate(published.to_dict("records"), 2):
        place = str(row["exhibit"])
        if place.startswith(("Table", "Figure")) and not any(name.startswith(place) for name in exhibits):
            return f"row {number} of published.csv names {place!r}, which is none of {', '.join(sorted(exhibits))}"
        if not isinstance(row["metric"], str) or not row["metric"]:
            return f"row {number} of published.csv names no metric"
        if not isinstance(row["value"], (int, float)) or not np.isfinite(row["value"]):
            return f"row {number} of published.csv has the value {row['value']!r}"
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
    folder = Path(case._folder.name) / "report"
    try:
        execute_notebook(case.study, "smoke", {}, store, folder, progress=False)
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


def _made_up(results: Results) -> Iterator[Results]:
    """Yield results of the same shape with other numbers: models in many orders of quality, then all alike.

    A model's learning curve rises to its quality. Queries and trials differ a little, so that there is a spread.
    """
    draws = np.random.default_rng(20)
    for number in range(MADE_UP + 1):
        frames = {}
        for group, frame in results.frames.items():
            models = list(frame["model"].cat.categories)
            order = draws.permutation(len(models)) if number > 1 else np.arange(len(models))[:: 1 - 2 * number]
            qualities = np.linspace(*LEVELS, len(models))[order] if number < MADE_UP else np.full(len(models), 0.5)
            frames[group] = _with_values(frame, dict(zip(models, qualities, strict=True)), draws)
        yield replace(results, frames=frames)


def _with_values(frame: pd.DataFrame, qualities: dict[Any, float], draws: np.random.Generator) -> pd.DataFrame:
    quality = frame["model"].astype(object).map(qualities).to_numpy(np.float64)
    rise = 1.0 - 0.5 * np.exp(-frame["iteration"].to_numpy(np.float64) / 3.0)
    of_curves = (frame["measure"] == "curve").to_numpy()
    noise = 0.002 * draws.normal(size=len(frame))
    return frame.assign(value=np.clip(np.where(of_curves, quality * rise, quality) + noise, 0.0, 1.0))
