"""``rankplug reproduce``, ``report`` and ``verify``: a paper run again, its report, and whether an archive is whole."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rankplug.system import echo, echo_table, emit, interruptible


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("reproduce")(reproduce)
    app.command("report")(report)
    app.command("verify")(verify)


def reproduce(
    names: Annotated[list[str], typer.Argument(help="Studies, or all; see rankplug plugins --kind study.")],
    profile: Annotated[str, typer.Option(help="Size of the runs: smoke, quick, full, real, paper.")] = "quick",
    data: Annotated[str | None, typer.Option(help="A data set in place of the profile's own.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of results; what is there is not run again.")] = None,
    report: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    jobs: Annotated[int | None, typer.Option(help="Trials at once; one a core by default.")] = None,
    notebooks: Annotated[
        bool, typer.Option(help="Run each combination in a notebook that the report shows; takes a second more each.")
    ] = False,
    decide: Annotated[
        bool, typer.Option("--decide", help="Add trials until every claim is decided that the budget allows.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="With --decide, time of added training for each study, such as 30m; 2h if none.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="With --decide, the points that would matter, in place of each claim's margin.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions, in place of the profile's number.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and run nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Of a dry run, print JSON.")] = False,
) -> None:
    """Run what papers need, execute their notebooks and write the report."""
    from rankplug.report import plan_reproduction
    from rankplug.report import reproduce as run
    from rankplug.store import Store
    from rankplug.studies import Budget, read_profile, read_time
    from rankplug.system import threads, whole_number

    if not decide and (budget is not None or margin is not None):
        raise typer.BadParameter("--budget and --margin say how claims are decided; add --decide")
    if decide and trials is not None:
        raise typer.BadParameter("--decide finds how many trials it takes; leave --trials out")
    results = Store(store)
    at_once = threads() if jobs is None else whole_number(jobs, "jobs", least=1)
    asked: dict[str, Any] = {"data": data, "seed": seed, "retry_failed": retry_failed, "trials": trials}
    size = read_profile(profile)
    plan = plan_reproduction(names, size, store=results, **asked)
    if dry_run:
        from rankplug.cli.sweep import tell_plan

        tell_plan(plan, results, at_once, as_json)
        return
    echo(f"{plan}, in {results.folder}")
    if outlook := plan.outlook(results, at_once):
        echo(outlook)
    # Figures go to files. A lack of matplotlib is reported below.
    with contextlib.suppress(ImportError):
        import matplotlib as mpl

        mpl.use("agg")
    with interruptible(lambda: plan.kept(results)):
        page = run(
            names,
            profile=size,
            store=results,
            report=report,
            jobs=at_once,
            notebooks=notebooks,
            plan=plan,
            decide=Budget(read_time(budget or "2h"), margin) if decide else None,
            **asked,
        )
    echo(f"The report is at {page.resolve()}")


def report(
    names: Annotated[list[str] | None, typer.Argument(help="Studies; all whose runs are there by default.")] = None,
    profile: Annotated[str, typer.Option(help="Size of the runs: smoke, quick, full, real, paper.")] = "quick",
    data: Annotated[str | None, typer.Option(help="A data set in place of the profile's own.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of results.")] = None,
    report: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell which studies it would show, and write nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Of a dry run, print JSON.")] = False,
) -> None:
    """Evaluate the studies whose runs are all in the store, and write their report; trains nothing."""
    from rankplug.report import reproduce
    from rankplug.store import Store
    from rankplug.studies import read_profile, studies, study

    if dry_run:
        chosen = [study(name) for name in names or ()] or studies()
        lacking = {
            paper.name: len(paper.missing(read_profile(profile), data=data, store=Store(store))) for paper in chosen
        }
        if as_json:
            emit(json.dumps([{"study": name, "missing": count} for name, count in lacking.items()], indent=1))
            return
        rows = [(name, f"lacks {count} trials" if count else "all runs are there") for name, count in lacking.items()]
        echo_table(("study", f"at the profile {profile}"), rows)
        return
    page = reproduce(
        names or ["all"],
        profile=read_profile(profile),
        data=data,
        store=Store(store) if store else None,
        report=report,
        run_missing=False,
    )
    echo(f"The report is at {page.resolve()}")


def verify(
    folder: Annotated[Path, typer.Argument(help="An unpacked archive of rankplug results export.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare every file of an unpacked archive with its digest, and every result with its name."""
    from rankplug.store import verify as problems_of

    count, problems = problems_of(folder)
    if as_json:
        emit(json.dumps({"files": count, "problems": problems}, indent=2))
        raise typer.Exit(bool(problems))
    for problem in problems:
        echo(problem, colour="red")
    if problems:
        raise typer.Exit(1)
    echo(f"{count} files are unchanged")
