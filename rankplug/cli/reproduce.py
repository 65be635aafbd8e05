"""``rankplug reproduce``: a paper's figures, tables and claims, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce)


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
) -> None:
    """Run what papers need, execute their notebooks and write the report."""
    from rankplug.report import reproduce as run
    from rankplug.store import Store
    from rankplug.studies import Budget, read_profile, read_time
    from rankplug.system import threads

    if not decide and (budget is not None or margin is not None):
        raise typer.BadParameter("--budget and --margin say how claims are decided; add --decide")
    page = run(
        names,
        profile=read_profile(profile),
        data=data,
        store=Store(store) if store else None,
        report=report,
        jobs=threads() if jobs is None else jobs,
        notebooks=notebooks,
        decide=Budget(read_time(budget or "2h"), margin) if decide else None,
    )
    say(f"The report is at {page.resolve()}")
