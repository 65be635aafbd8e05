"""``rankplug reproduce``: runs what a paper needs, executes its notebook on the results, and writes the report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug.report.rendering import COMPACT
from rankplug.report.research_object.crate import require_empty, write_crate
from rankplug.report.site import build_report, write_summary, writing
from rankplug.report.study_report import StudyReport, study_report
from rankplug.store import Store
from rankplug.studies import (
    Budget,
    Profile,
    Results,
    Study,
    StudyEvaluation,
    decisions_in_words,
    evaluate,
    scoreboard,
    studies,
    study,
)
from rankplug.studies import decide as add_trials
from rankplug.sweeps import Plan, require
from rankplug.system import engine_name, say, write_whole

NEEDED = ("jinja2", "latex2mathml", "matplotlib", "mistune", "nh3", "papermill", "pyarrow", "seaborn")
"""Modules that notebooks and pages of a report need beside the packages of the backends."""


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
    crate: Path | None = None,
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
        crate: a folder for an RO-Crate of all of it, see :mod:`rankplug.report.research_object`.
        execution: handed to the sweeps.
    """
    wanted = list(names)
    chosen = chosen_studies(wanted)
    if crate is not None:
        require_empty(crate)
    results_of = store or Store()
    asked: dict[str, Any] = {"data": data, "trials": trials, "seed": seed}
    with writing(report):
        report.mkdir(parents=True, exist_ok=True)
    if run_missing:
        plan = plan_reproduction(wanted, profile, store=results_of, retry_failed=retry_failed, **asked)
        require(plan.waiting, NEEDED)
        run_missing = decide is not None or len(plan.done) < len(plan.trials)
    else:
        require((), NEEDED)
        chosen = _with_all_runs(chosen, "all" not in wanted, profile, data, results_of)
    shown: dict[str, StudyReport] = {}
    drawn: dict[str, Future[StudyReport]] = {}
    # Training keeps all cores busy and drawing one, so a paper is drawn while workers train the next one.
    with ThreadPoolExecutor(1, thread_name_prefix="drawing") as drawing:
        for paper in chosen:
            if run_missing:
                further: dict[str, Any] = {
                    "data": data, "seed": seed, "store": results_of, "progress": progress,
                    "retry_failed": retry_failed, **execution,
                }  # fmt: skip
                if decide:
                    results = add_trials(paper, profile, decide, **further)
                    say(decisions_in_words(paper, results))
                else:
                    results = paper.run(profile, trials=trials, **further)
            else:
                results = paper.results(profile, store=results_of, **asked)
            # While anything trains, no core is free for a second process that draws.
            together = execution.get("jobs", 1) > 1 and (not run_missing or paper is chosen[-1])
            if execution.get("jobs", 1) > 1:
                drawn[paper.name] = drawing.submit(_draw, paper, results, profile, asked, results_of, report, together)
            else:
                shown[paper.name] = _draw(paper, results, profile, asked, results_of, report, together)
        shown |= {name: future.result() for name, future in drawn.items()}
    with writing(report):
        write_summary(shown, report)
        # The whole store is read for it, which a report of one paper need not wait for.
        compared = scoreboard(store=results_of) if "all" in wanted else None
        page = build_report(shown, report, compared, results_of)
    if crate is not None:
        write_crate(shown, report, results_of, crate)
    return page


def _draw(
    paper: Study,
    results: Results,
    profile: Profile,
    asked: Mapping[str, Any],
    store: Store,
    report: Path,
    together: bool,
) -> StudyReport:
    """Evaluate a study, execute its notebook, and write its exhibits into the report.

    Each of the two processes finds what the other has evaluated: the notebook's kernel all of it, or, where they work
    together, what this one has done from the end on when the kernel comes to it. A notebook that was executed on the
    same evaluation is found as well, and starts no kernel.
    """
    evaluation = evaluate(paper, results)
    with writing(report), ThreadPoolExecutor(1, thread_name_prefix="notebook") as beside:
        if together:
            executed = beside.submit(notebook_of, evaluation, profile, asked, store, report)
        _ = evaluation.claims
        for exhibit in reversed(paper.exhibits):
            evaluation.exhibit(exhibit.name)
        notebook = executed.result() if together else notebook_of(evaluation, profile, asked, store, report)
        return study_report(evaluation, notebook, report, store)


def notebook_of(
    evaluation: StudyEvaluation, profile: Profile, asked: Mapping[str, Any], store: Store, report: Path
) -> Path:
    """Return the path of the notebook in the report, executed now or earlier on the same evaluation."""
    paper = evaluation.study
    target = report / "notebooks" / f"{paper.name}.ipynb"
    causes = (paper.notebook_path.read_text(encoding="utf-8"), json.dumps(asked), str(store.folder.resolve()))

    def executed() -> bytes:
        return execute_notebook(paper, profile, asked, store, report).read_bytes()

    write_whole(target, evaluation.once("notebook", causes, executed))
    return target


def chosen_studies(names: Iterable[str]) -> list[Study]:
    """Return the studies of some names, or all of them."""
    wanted = list(names)
    chosen = studies() if "all" in wanted else [study(name) for name in wanted]
    if not chosen:
        raise RankplugError("no study is installed")
    return chosen


def plan_reproduction(names: Iterable[str], profile: Profile, **asked: Any) -> Plan:
    """Return what reproducing some studies would run, see :meth:`rankplug.studies.Study.plan` for the arguments."""
    return Plan.joined(paper.plan(profile, **asked) for paper in chosen_studies(names))


def _with_all_runs(chosen: list[Study], named: bool, profile: Profile, data: str | None, store: Store) -> list[Study]:
    """Return the studies that lack no trial in the store; raise an error if there is none, or a named one does."""
    absent = {paper.name: len(paper.missing(profile, data=data, store=store)) for paper in chosen}
    there = [paper for paper in chosen if not absent[paper.name]]
    lacking = ", ".join(f"{count} of {name}" for name, count in absent.items() if count)
    if lacking and (named or not there):
        raise RankplugError(
            f"{store.folder} lacks trials at the profile {profile} ({lacking}); run rankplug reproduce, which runs them"
        )
    return there


def execute_notebook(paper: Study, profile: Profile, asked: Mapping[str, Any], store: Store, report: Path) -> Path:
    """Execute a study's notebook on the results in the store, and return the path of the executed notebook."""
    import papermill

    target = report / "notebooks" / f"{paper.name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    papermill.execute_notebook(
        paper.notebook_path,
        target,
        parameters={"profile": profile, **asked, "store": str(store.folder.resolve())},
        engine_name=engine_name(),
        progress_bar=False,
        # The kernel's folder. papermill's own argument for it changes that of this process and of all its threads.
        resources={"metadata": {"path": str(target.parent)}},
    )
    # Without the line breaks for people who compare notebooks, which papermill writes around every value.
    notebook = json.loads(target.read_text(encoding="utf-8"))
    target.write_text(json.dumps(notebook, ensure_ascii=False, separators=COMPACT), encoding="utf-8")
    return target
