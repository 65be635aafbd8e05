"""``rankplug reproduce``: trains what papers need, executes their notebooks, and renders the report.

The notebooks evaluate: each writes the artefact of its study, from which the pages are rendered. The report grows: the
notebook of a study is executed and its pages are written while the next study trains.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug.report.combination_records import combination_records
from rankplug.report.rendering import COMPACT
from rankplug.report.site import NOTEBOOK, StudyReport, build_report, writing
from rankplug.store import Store
from rankplug.studies import (
    Budget,
    Evaluation,
    Profile,
    Study,
    decisions_in_words,
    read_artefacts,
    scoreboard,
    studies,
    study,
    train,
    write_decisions,
)
from rankplug.studies import decide as add_trials
from rankplug.sweeps import Plan, require, shared_workers
from rankplug.system import echo, end_kernels
from rankplug.system import execute_notebook as execute

NEEDED = ("jinja2", "latex2mathml", "matplotlib", "mistune", "nh3", "papermill", "pyarrow", "seaborn")
"""Modules that notebooks and pages of a report need beside the packages of the backends."""
DECISIONS = "decisions.json"


def reproduce(
    names: Iterable[str] = ("all",),
    *,
    profile: Profile = "quick",
    data: str | None = None,
    store: Store | None = None,
    report: Path = Path("report"),
    progress: bool = True,
    run_missing: bool = True,
    decide: Budget | None = None,
    trials: int | None = None,
    seed: int = 0,
    retry_failed: bool = False,
    plans: Mapping[str, Plan] | None = None,
    jobs: int = 1,
    **execution: Any,
) -> Path:
    """Reproduce some papers, those with the fewest trials first, and return the path of the report's first page.

    Args:
        names: names of studies, or ``all``.
        profile: size of the runs.
        data: a data set in place of the profile's own.
        store: folder of results; what is there is not run again.
        report: folder of the report.
        progress: whether to show progress, and which studies are ready.
        run_missing: whether trials that are not in the store are run; else of ``all`` only studies that lack none are
            shown.
        decide: budget of added trials, until every claim is decided that it allows; each paper has it.
        trials: number of repetitions, in place of the profile's.
        seed: master seed.
        retry_failed: whether trials that failed before are run again.
        plans: plan of each study, where they have been made.
        jobs: number of trials at once, and of notebooks.
        execution: options of :func:`rankplug.sweeps.run`.
    """
    wanted = list(names)
    selected = selected_studies(wanted)
    store = store or Store()
    parameters: dict[str, Any] = {"data": data, "trials": trials, "seed": seed}
    further: dict[str, Any] = {"retry_failed": retry_failed, "progress": progress, "jobs": jobs, **execution}
    with writing(report):
        report.mkdir(parents=True, exist_ok=True)
    if run_missing:
        planned: dict[str, Any] = {"store": store, "retry_failed": retry_failed, **parameters}
        plans = plans or {paper.name: paper.plan(profile, **planned) for paper in selected}
        require(Plan.joined(plans.values()).waiting, NEEDED)
        order = sorted(selected, key=lambda paper: len(plans[paper.name].waiting))
    else:
        require((), NEEDED)
        order = selected = _with_all_runs(selected, "all" not in wanted, profile, data, store)
    index = report / "index.html"
    if progress:
        echo(f"The report will be at {index.resolve()}")
    ready: dict[str, StudyReport] = {}
    publishing = threading.Lock()

    def train_study(paper: Study) -> None:
        decisions = report / paper.name / DECISIONS
        if run_missing and decide is not None:
            results = add_trials(paper, profile, decide, data=data, seed=seed, store=store, **further)
            echo(decisions_in_words(paper, results))
            with writing(report):
                write_decisions(results, decisions)
            return
        decisions.unlink(missing_ok=True)
        if run_missing and plans:
            sweeps = [runs.sweep() for runs in paper.planned_runs(profile, **parameters).values()]
            train(sweeps, store, plan=plans[paper.name], **further)

    def draw_study(paper: Study) -> None:
        with writing(report):
            execute_notebook(paper, profile, parameters, store, report)
            evaluation = read_artefacts(report, [paper.name])[paper.name]
            records = paper.results(profile, store=store, **parameters).records
            drawn = StudyReport(evaluation, report, combination_records(records, store))
            with publishing:
                ready[paper.name] = drawn
                in_order = [ready[each.name] for each in selected if each.name in ready]
                if len(ready) == len(selected):
                    # The whole store is read for the scoreboard, which a report of one paper need not wait for.
                    compared = scoreboard(store=store) if "all" in wanted else None
                    build_report(in_order, report, compared, store)
                elif run_missing:
                    build_report(in_order, report, store=store, changed=paper.name)
        if progress:
            echo(f"{paper.name} is ready: {report / paper.name}.html")

    local = not (execution.get("cluster") or execution.get("notebooks"))
    trials_to_run = (
        [trial for plan in (plans or {}).values() for trial in plan.waiting] if run_missing and local else []
    )
    with (
        ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="notebook") as kernels,
        shared_workers(trials_to_run, jobs) as workers,
    ):
        further["workers"] = workers
        try:
            drawings = []
            for paper in order:
                train_study(paper)
                drawings.append(kernels.submit(draw_study, paper))
            for drawing in drawings:
                drawing.result()
        except BaseException:
            kernels.shutdown(wait=False, cancel_futures=True)
            end_kernels()
            raise
    return index


def selected_studies(names: Iterable[str]) -> list[Study]:
    """Return the studies of some names, or all of them."""
    wanted = list(names)
    selected = studies() if "all" in wanted else [study(name) for name in dict.fromkeys(wanted)]
    if not selected:
        raise RankplugError("no study is installed")
    return selected


def _with_all_runs(selected: list[Study], named: bool, profile: Profile, data: str | None, store: Store) -> list[Study]:
    """Return the studies that lack no trial in the store; raise an error if there is none, or a named one lacks some.

    Args:
        selected: the studies.
        named: whether the user named them.
        profile: size of the runs.
        data: a data set in place of the profile's own.
        store: folder of results.
    """
    absent = {paper.name: len(paper.missing(profile, data=data, store=store)) for paper in selected}
    there = [paper for paper in selected if not absent[paper.name]]
    lacking = ", ".join(f"{count} of {name}" for name, count in absent.items() if count)
    if lacking and (named or not there):
        raise RankplugError(
            f"{store.folder} lacks trials at the profile {profile} ({lacking}); run rankplug reproduce, which runs them"
        )
    return there


def execute_notebook(paper: Study, profile: Profile, parameters: Mapping[str, Any], store: Store, report: Path) -> Path:
    """Execute a study's notebook on the results in the store, and return the path of the executed notebook.

    Args:
        paper: the study.
        profile: size of the runs.
        parameters: further parameters of the notebook.
        store: folder of the results.
        report: folder of the report; the notebook writes the artefact into its folder of the study's name.

    Raises:
        RankplugError: the notebook writes no artefact.
    """
    folder = (report / paper.name).resolve()
    target, decisions = folder / NOTEBOOK, folder / DECISIONS
    folder.mkdir(parents=True, exist_ok=True)
    places = {"store": str(store.folder.resolve()), "report": str(report.resolve())}
    if decisions.exists():
        places["decisions"] = str(decisions)
    Evaluation.withdraw(folder)
    execute(paper.notebook_path, target, {"profile": profile, **parameters, **places}, folder)
    # Without the line breaks for people who compare notebooks, which papermill writes around every value.
    notebook = json.loads(target.read_text(encoding="utf-8"))
    target.write_text(json.dumps(notebook, ensure_ascii=False, separators=COMPACT), encoding="utf-8")
    if not Evaluation.is_in(folder):
        raise RankplugError(
            f"the notebook of the study {paper.name} wrote no evaluation; end {paper.notebook_path} with the cell"
            " write_artefact(evaluation, report)"
        )
    return target
