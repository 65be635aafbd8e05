"""``rankplug sweep`` runs the unfinished part of a grid of combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import DryRunOption, JobsOption, JSONOption, RetryOption, StoreOption
from rankplug.errors import GrammarError, UnknownPluginError
from rankplug.system import echo, echo_table, emit, interruptible

if TYPE_CHECKING:
    from rankplug.store import Store, Trial
    from rankplug.sweeps import Outcome, Plan, Sweep

STYLES = {"run": "", "done": "green", "failed": "red"}
"""State of a trial -> its style in terminals."""
MOST_ROWS = 40
"""Rows of the tables of trials and of results that are printed unasked."""


def sweep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|STUDY|PART=VALUE",
            help="A YAML file, a study's name, or a grid: loss=[mse,urank] backend=lightgbm dataset=synthetic.",
        ),
    ],
    jobs: JobsOption = 1,
    cluster: Annotated[str, typer.Option(help="Address of a Dask scheduler, or local.")] = "",
    notebooks: Annotated[
        bool, typer.Option("--notebooks", help="Run each combination in a notebook, which is stored with the results.")
    ] = False,
    dry_run: DryRunOption = False,
    retry_failed: RetryOption = False,
    keep_scores: Annotated[
        bool, typer.Option("--keep-scores", help="Store all test scores, so that other metrics need no training.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="Profile of the file or the study.")] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions, each with its own seed.")] = None,
    folds: Annotated[str | None, typer.Option(help="Folds to run, such as 1,2,3 or all.")] = None,
    store: StoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Train and measure every unfinished combination of a grid, and store the results."""
    from rankplug.store import Store
    from rankplug.sweeps import further_plans, plan_sweeps, run

    results = Store(store)
    sweeps = [sweep.with_repetitions(trials, folds) for sweep in read_sweeps(words, profile)]
    plan = plan_sweeps(sweeps, results, retry_failed=retry_failed)
    if dry_run:
        echo_plan(plan, results, jobs, as_json)
        return
    echo(f"{plan}, in {results.folder}", error=as_json)
    if outlook := plan.outlook(results, jobs):
        echo(outlook, error=as_json)
    run_plan = partial(run, jobs=jobs, cluster=cluster, notebooks=notebooks, keep_scores=keep_scores)
    with interruptible(lambda: plan.kept(results)):
        outcomes = [run_plan(plan, results)]
        for further in further_plans(sweeps, results):
            if outcomes[-1].failures or outcomes[-1].not_run:
                break
            echo(f"selected on validation data, {further}", error=as_json)
            outcomes.append(run_plan(further, results))
    outcome, measured = outcomes[-1], sum(outcome.measured for outcome in outcomes)
    _echo_failures(outcome)
    if measured or keep_scores:
        echo(f"{measured} measured, {sum(outcome.trained for outcome in outcomes)} trained", error=as_json)
    if keep_scores and (without := len(plan.done) - len(results.with_scores(plan.done))):
        echo(f"{without} trials were done before and have no stored scores", error=as_json)
    if as_json:
        _emit_outcome(outcome)
    else:
        _echo_results(outcome)
    if outcome.failures or outcome.not_run:
        raise typer.Exit(1)


def read_sweeps(words: Sequence[str], profile: str | None = None) -> list[Sweep]:
    """Return the sweeps that a file, a study's name or the parts of a grid stand for."""
    from rankplug.sweeps import read_file, read_words

    name = words[0]
    if len(words) > 1 or "=" in name:
        if profile is not None:
            raise GrammarError(f"a grid in words has no profile {profile}; name a file that has one, or a study")
        return [read_words(words)]
    if Path(name).suffix in (".yaml", ".yml") or Path(name).is_file():
        return [read_file(Path(name), profile)]
    from rankplug.studies import read_profile, study

    size = read_profile(profile or "quick")
    try:
        paper = study(name)
    except UnknownPluginError as error:
        raise GrammarError(f"{name} is neither a file nor a study, nor a grid such as loss=xe_ndcg ({error})") from None
    return [runs.sweep() for runs in paper.planned_runs(size).values()]


def echo_plan(plan: Plan, store: Store, jobs: int, as_json: bool, by_study: Mapping[str, Plan] | None = None) -> None:
    """Print what would run, what is done, and how long the rest may take by the recorded times.

    Args:
        plan: the plan.
        store: store of the results.
        jobs: trials at once.
        as_json: whether to print all trials as JSON.
        by_study: plans of several studies, which are summed instead of listed trial by trial.
    """
    states = {"run": plan.waiting, "done": plan.done, "failed": plan.failed}
    expected = plan.expected_time(store)
    if as_json:
        emit(
            {
                "store": str(store.folder),
                **{state: [_parts(trial) for trial in trials] for state, trials in states.items()},
                "measurable": sorted({trial.identity for trial in plan.measurable}),
                "left_out": plan.left_out,
                "seconds": expected.seconds / jobs if expected.known == expected.trials else None,
            }
        )
        return
    echo(f"{plan}, in {store.folder}")
    if by_study is not None:
        counts = [(name, *map(len, (part.waiting, part.done, part.failed))) for name, part in by_study.items()]
        echo_table(("study", "to run", "done", "failed"), [[str(cell) for cell in row] for row in counts])
    else:
        rows = [
            ((state, STYLES[state]), trial.identity, str(trial)) for state, trials in states.items() for trial in trials
        ]
        if rows:
            echo_table(("state", "identity", "trial"), rows[:MOST_ROWS])
        if len(rows) > MOST_ROWS:
            echo(f"and {len(rows) - MOST_ROWS} more; --json lists all")
    if expected.trials:
        echo(expected.sentence(jobs))


def _parts(trial: Trial) -> dict[str, Any]:
    parts = trial.combination.model_dump(mode="json")
    return {"identity": trial.identity, **parts, "fold": trial.fold, "trial": trial.number}


def _echo_failures(outcome: Outcome) -> None:
    count = len(outcome.plan.trials)
    for sentence in outcome.failures:
        echo(f"failed: {sentence}", colour="red", error=True)
    for sentence in outcome.not_run:
        echo(f"not run: {sentence}", colour="yellow", error=True)
    if outcome.not_run:
        echo(f"{len(outcome.not_run)} of {count} trials could not run; the same command runs them", error=True)
    if outcome.failures:
        echo(f"{len(outcome.failures)} of {count} trials failed; --retry-failed runs them again", error=True)


def _emit_outcome(outcome: Outcome) -> None:
    emit(
        {
            "store": str(outcome.store.folder),
            "measured": outcome.measured,
            "trained": outcome.trained,
            "done": [_parts(trial) for trial in outcome.plan.trials if outcome.store.has(trial)],
            "failures": outcome.failures,
            "not_run": outcome.not_run,
        }
    )


def _echo_results(outcome: Outcome) -> None:
    """Print the means of the sweep, and commands that show more."""
    from rankplug.cli.results import echo_paper_table
    from rankplug.store import ResultsError, paper_table

    done = {trial.combination.identity for trial in outcome.plan.trials if outcome.store.has(trial)}
    if not done:
        return
    names = ", ".join(f"'{identity}'" for identity in sorted(done))
    try:
        table = paper_table(outcome.store, where=f"combination in ({names})", bold=True)
    except ResultsError:
        # Combinations that differ in nothing that tables show, such as their metrics, make no table together.
        echo("finished; rankplug results shows the results")
        return
    if len(table.rows) <= MOST_ROWS:
        echo("")
        echo_paper_table(table)
    first, *others = sorted(done)
    echo("\nnext: rankplug results --pivot metric --bold, or --plot means.png, or --format latex")
    if others:
        echo(f"      rankplug results compare \"combination = '{first}'\" \"combination = '{others[0]}'\"")
