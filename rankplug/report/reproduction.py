"""``rankplug reproduce``: trains what papers need, executes their notebooks, and renders the report.

The notebooks evaluate: each writes the artefact of its study, from which the pages are rendered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug.report.rendering import COMPACT
from rankplug.report.site import NOTEBOOK, build_report, study_report, writing
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
from rankplug.sweeps import Plan, require
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
    plan: Plan | None = None,
    jobs: int = 1,
    **execution: Any,
) -> Path:
    """Reproduce some papers, and return the path of the report's first page.

    Args:
        names: of studies, or ``all``.
        profile: how large.
        data: a data set in place of the profile's own.
        store: where results lie; what is there is not run again.
        report: the folder to write.
        progress: shows what is being done.
        run_missing: runs trials that are not in the store; else of ``all`` only studies that lack none are shown.
        decide: adds trials until every claim is decided that this allows; each paper has it.
        trials: repetitions, in place of the profile's number.
        seed: the master seed.
        retry_failed: runs trials again that failed before.
        plan: the joined plans of the studies, where they have been made.
        jobs: trials at a time, and notebooks.
        execution: handed to the sweeps.
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
        plan = plan or Plan.joined(paper.plan(profile, **planned) for paper in selected)
        require(plan.waiting, NEEDED)
    else:
        require((), NEEDED)
        selected = _with_all_runs(selected, "all" not in wanted, profile, data, store)
    if run_missing and decide is None:
        sweeps = [runs.sweep() for paper in selected for runs in paper.planned_runs(profile, **parameters).values()]
        train(sweeps, store, plan=plan, **further)
    for paper in selected:
        decisions = report / paper.name / DECISIONS
        if run_missing and decide is not None:
            results = add_trials(paper, profile, decide, data=data, seed=seed, store=store, **further)
            echo(decisions_in_words(paper, results))
            with writing(report):
                write_decisions(results, decisions)
        else:
            decisions.unlink(missing_ok=True)
    with writing(report):
        _execute_notebooks(selected, profile, parameters, store, report, jobs)
        # The whole store is read for it, which a report of one paper need not wait for.
        compared = scoreboard(store=store) if "all" in wanted else None
        return render_report(selected, profile, store, report, compared=compared, **parameters)


def render_report(
    selected: Iterable[Study], profile: Profile, store: Store, report: Path, compared: Any = None, **parameters: Any
) -> Path:
    """Render the pages of some studies from their artefacts, and return the first; nothing is evaluated."""
    evaluations = read_artefacts(report, [paper.name for paper in selected])
    shown = []
    for paper in selected:
        records = paper.results(profile, store=store, **parameters).records
        shown.append(study_report(evaluations[paper.name], report, records, store))
    return build_report(shown, report, compared, store)


def selected_studies(names: Iterable[str]) -> list[Study]:
    """Return the studies of some names, or all of them."""
    wanted = list(names)
    selected = studies() if "all" in wanted else [study(name) for name in wanted]
    if not selected:
        raise RankplugError("no study is installed")
    return selected


def _with_all_runs(selected: list[Study], named: bool, profile: Profile, data: str | None, store: Store) -> list[Study]:
    """Return the studies that lack no trial in the store; raise an error if there is none, or a named one does."""
    absent = {paper.name: len(paper.missing(profile, data=data, store=store)) for paper in selected}
    there = [paper for paper in selected if not absent[paper.name]]
    lacking = ", ".join(f"{count} of {name}" for name, count in absent.items() if count)
    if lacking and (named or not there):
        raise RankplugError(
            f"{store.folder} lacks trials at the profile {profile} ({lacking}); run rankplug reproduce, which runs them"
        )
    return there


def _execute_notebooks(
    papers: Iterable[Study], profile: Profile, parameters: Mapping[str, Any], store: Store, report: Path, jobs: int
) -> None:
    with ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="notebook") as kernels:
        running = [kernels.submit(execute_notebook, paper, profile, parameters, store, report) for paper in papers]
        try:
            for notebook in running:
                notebook.result()
        except BaseException:
            kernels.shutdown(wait=False, cancel_futures=True)
            end_kernels()
            raise


def execute_notebook(paper: Study, profile: Profile, asked: Mapping[str, Any], store: Store, report: Path) -> Path:
    """Execute a study's notebook on the results in the store, and return the path of the executed notebook.

    Args:
        paper: the study.
        profile: how large.
        asked: further parameters of the notebook.
        store: where the results lie.
        report: folder of the report; the notebook writes the artefact into its folder of the study's name.

    Raises:
        RankplugError: the notebook writes no artefact.
    """
    folder = (report / paper.name).resolve()
    target, decisions = folder / NOTEBOOK, folder / DECISIONS
    folder.mkdir(parents=True, exist_ok=True)
    parameters = {"profile": profile, **asked, "store": str(store.folder.resolve()), "report": str(report.resolve())}
    if decisions.exists():
        parameters["decisions"] = str(decisions)
    Evaluation.withdraw(folder)
    execute(paper.notebook_path, target, parameters, folder)
    # Without the line breaks for people who compare notebooks, which papermill writes around every value.
    notebook = json.loads(target.read_text(encoding="utf-8"))
    target.write_text(json.dumps(notebook, ensure_ascii=False, separators=COMPACT), encoding="utf-8")
    if not Evaluation.is_in(folder):
        raise RankplugError(
            f"the notebook of the study {paper.name} wrote no evaluation; end {paper.notebook_path} with the cell"
            " write_artefact(evaluation, report)"
        )
    return target
