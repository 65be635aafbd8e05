"""``rankplug sweep``: runs what is missing of a grid of combinations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sweep")(sweep)


def sweep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|STUDY|GRID",
            help="A YAML file, a study's name, or a grid: loss=[mse,urank] backend=lightgbm dataset=synthetic.",
        ),
    ],
    jobs: Annotated[int, typer.Option(help="How many at once, each with its share of the cores.")] = 1,
    cluster: Annotated[str, typer.Option(help="Address of a Dask scheduler, or local.")] = "",
    inline: Annotated[bool, typer.Option("--inline", help="Without notebooks.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and run nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of the file or the study.")] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions, each with a seed of its own.")] = None,
    folds: Annotated[str | None, typer.Option(help="Such as 1,2,3 or all.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder of results; else that of the project, which rankplug doctor tells.")
    ] = None,
) -> None:
    """Run every combination of a grid that is not finished, one notebook each, and keep the results."""
    from rankplug.cli.sweep_words import read_sweeps
    from rankplug.store import Store
    from rankplug.sweeps import Plan, carry_out

    results = Store(store)
    plans = [
        one.with_repetitions(trials, folds).plan(results, retry_failed=retry_failed)
        for one in read_sweeps(words, profile)
    ]
    plan = Plan.joined(plans)
    say(f"{plan}, in {results.folder}")
    if dry_run:
        for state, group in (("run", plan.waiting), ("done", plan.done), ("failed", plan.failed)):
            for trial in group:
                say(f"{state:7}{trial.identity}  {trial}")
        return
    outcome = carry_out(plan, results, jobs=jobs, cluster=cluster, notebooks=not inline)
    for sentence in outcome.failures:
        say(f"failed: {sentence}", colour="red", error=True)
    for sentence in outcome.not_run:
        say(f"not run: {sentence}", colour="yellow", error=True)
    if outcome.not_run:
        say(
            f"{len(outcome.not_run)} of {len(plan.trials)} trials could not run, and nothing is recorded of them; the"
            " same command runs them",
            error=True,
        )
    if outcome.failures:
        say(
            f"{len(outcome.failures)} of {len(plan.trials)} trials failed; run them again with --retry-failed",
            error=True,
        )
    if outcome.failures or outcome.not_run:
        raise typer.Exit(1)
