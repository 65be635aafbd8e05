"""``rankplug sweep`` runs what is missing of a grid of combinations; ``rankplug tune`` searches in one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.errors import GrammarError, UnknownPluginError
from rankplug.system import echo, echo_table, emit, interruptible, whole_number

if TYPE_CHECKING:
    from rankplug.store import Store, Trial
    from rankplug.sweeps import Outcome, Plan, Sweep

STYLES = {"run": "", "done": "green", "failed": "red"}
"""State of a trial -> its style in terminals."""
MOST_ROWS = 40
"""Rows of the table at the end; larger ones are asked for."""


class Search(StrEnum):
    """A way to propose candidates."""

    RANDOM = "random"
    OPTUNA = "optuna"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("sweep")(sweep)
    app.command("tune")(tune)


def sweep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|STUDY|GRID",
            help="A YAML file, a study's name, or a grid: loss=[mse,urank] backend=lightgbm dataset=synthetic.",
        ),
    ],
    jobs: Annotated[int, typer.Option(help="Trials to run at once, each with its share of the cores.")] = 1,
    cluster: Annotated[str, typer.Option(help="Address of a Dask scheduler, or local.")] = "",
    notebooks: Annotated[
        bool, typer.Option("--notebooks", help="Run each combination as a notebook, which the store keeps.")
    ] = False,
    inline: Annotated[bool, typer.Option("--inline", hidden=True, help="As is the default.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and run nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run trials again that failed before.")] = False,
    keep_scores: Annotated[
        bool, typer.Option("--keep-scores", help="Keep all test scores, so that other metrics need no training.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of the file or the study.")] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions, each with a seed of its own.")] = None,
    folds: Annotated[str | None, typer.Option(help="Folds to run, such as 1,2,3 or all.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder of results; else that of the project, which rankplug doctor tells.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run every combination of a grid that is not finished, and keep the results."""
    from rankplug.store import Store
    from rankplug.sweeps import further_plans, plan_sweeps, run

    results = Store(store)
    whole_number(jobs, "jobs", least=1)
    asked = [read.with_repetitions(trials, folds) for read in read_sweeps(words, profile)]
    plan = plan_sweeps(asked, results, retry_failed=retry_failed)
    if dry_run:
        tell_plan(plan, results, jobs, as_json)
        return
    echo(f"{plan}, in {results.folder}", error=as_json)
    if outlook := plan.outlook(results, jobs):
        echo(outlook, error=as_json)
    with interruptible(lambda: plan.kept(results)):
        run_as_asked = partial(
            run, jobs=jobs, cluster=cluster, notebooks=notebooks and not inline, keep_scores=keep_scores
        )
        outcomes = [run_as_asked(plan, results)]
        for further in further_plans(asked, results):
            if outcomes[-1].failures or outcomes[-1].not_run:
                break
            echo(f"chosen on validation data, {further}", error=as_json)
            outcomes.append(run_as_asked(further, results))
    outcome, measured = outcomes[-1], sum(outcome.measured for outcome in outcomes)
    _tell_failures(outcome)
    if measured or keep_scores:
        echo(f"{measured} measured, {sum(outcome.trained for outcome in outcomes)} trained", error=as_json)
    if keep_scores and (without := len(plan.done) - len(results.with_scores(plan.done))):
        echo(f"{without} trials were done before and have no stored scores", error=as_json)
    if as_json:
        emit(json.dumps(_described(outcome), indent=1))
    else:
        _tell_results(outcome)
    if outcome.failures or outcome.not_run:
        raise typer.Exit(1)


def read_sweeps(words: Sequence[str], profile: str | None = None) -> list[Sweep]:
    """Return the sweeps that the command line's words stand for."""
    from rankplug.sweeps import read_file, read_words

    if len(words) == 1 and "=" not in words[0]:
        path = Path(words[0])
        if path.suffix in (".yaml", ".yml") or path.is_file():
            return [read_file(path, profile)]
        return _sweeps_of_study(words[0], profile or "quick")
    if profile is not None:
        raise GrammarError(f"a grid in words has no profile {profile}; name a file that has one, or a study")
    return [read_words(words)]


def _sweeps_of_study(name: str, profile: str) -> list[Sweep]:
    from rankplug.studies import read_profile, study

    read_profile(profile)
    try:
        chosen = study(name)
    except UnknownPluginError as error:
        raise GrammarError(f"{name} is neither a file nor a study, nor a grid such as loss=xe_ndcg ({error})") from None
    return [runs.sweep() for runs in chosen.planned_runs(read_profile(profile)).values()]


def tell_plan(plan: Plan, store: Store, jobs: int, as_json: bool) -> None:
    """Print what would run, what is done, and how long the rest may take by the times the store has recorded."""
    states = {"run": plan.waiting, "done": plan.done, "failed": plan.failed}
    measurable = {trial.identity for trial in plan.measurable}
    expected = plan.expected_time(store)
    if as_json:
        listing: dict[str, Any] = {
            state: [{"identity": trial.identity, **_parts(trial)} for trial in group] for state, group in states.items()
        }
        seconds = expected.seconds / jobs if expected.known == expected.trials else None
        described = {
            "store": str(store.folder),
            **listing,
            "measurable": sorted(measurable),
            "left_out": plan.left_out,
            "seconds": seconds,
        }
        emit(json.dumps(described, indent=1))
        return
    echo(f"{plan}, in {store.folder}")
    rows = [((state, STYLES[state]), trial.identity, str(trial)) for state, group in states.items() for trial in group]
    if rows:
        echo_table(("state", "identity", "trial"), rows)
    if expected.trials:
        echo(expected.sentence(jobs))


def _parts(trial: Trial) -> dict[str, Any]:
    return {**trial.combination.model_dump(mode="json"), "fold": trial.fold, "trial": trial.number}


def _tell_failures(outcome: Outcome) -> None:
    count = len(outcome.plan.trials)
    for sentence in outcome.failures:
        echo(f"failed: {sentence}", colour="red", error=True)
    for sentence in outcome.not_run:
        echo(f"not run: {sentence}", colour="yellow", error=True)
    if outcome.not_run:
        echo(
            f"{len(outcome.not_run)} of {count} trials could not run, and nothing is recorded of them; the same command"
            " runs them",
            error=True,
        )
    if outcome.failures:
        echo(f"{len(outcome.failures)} of {count} trials failed; run them again with --retry-failed", error=True)


def _described(outcome: Outcome) -> dict[str, Any]:
    store = outcome.store
    done = [trial for trial in outcome.plan.trials if store.has(trial)]
    return {
        "store": str(store.folder),
        "measured": outcome.measured,
        "trained": outcome.trained,
        "done": [{"identity": trial.identity, **_parts(trial)} for trial in done],
        "failures": outcome.failures,
        "not_run": outcome.not_run,
    }


def _tell_results(outcome: Outcome) -> None:
    """Print the means of what was asked for, and what one may do next."""
    from rankplug.cli.results import tell_paper_table
    from rankplug.store import ResultsError, paper_table

    done = {trial.combination.identity for trial in outcome.plan.trials if outcome.store.has(trial)}
    if not done:
        return
    names = ", ".join(f"'{identity}'" for identity in sorted(done))
    try:
        table = paper_table(outcome.store, where=f"combination in ({names})", bold=True)
    except ResultsError:
        # Combinations that differ in nothing the tables show, such as their metrics, make no table together.
        echo("finished; rankplug results shows them")
        return
    if len(table.rows) <= MOST_ROWS:
        echo("")
        tell_paper_table(table)
    first, *others = sorted(done)
    echo("\nnext: rankplug results --pivot metric --bold, or --plot means.png, or --format latex")
    if others:
        echo(f"      rankplug results compare \"combination = '{first}'\" \"combination = '{others[0]}'\"")


def tune(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="GRID",
            help="Parts of a combination: loss=xe_ndcg backend=lightgbm dataset=synthetic; grids in them are searched.",
        ),
    ],
    budget: Annotated[int, typer.Option(help="Candidates to train.")] = 50,
    search: Annotated[Search, typer.Option(help="Draw candidates at random, or let Optuna propose them.")] = (
        Search.RANDOM
    ),
    jobs: Annotated[int, typer.Option(help="Trials to run at once, each with its share of the cores.")] = 1,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Train what failed before again.")] = False,
    trials: Annotated[int, typer.Option(help="Repetitions, each with a seed of its own.")] = 1,
    folds: Annotated[str, typer.Option(help="Folds to run, such as 1,2,3 or all.")] = "1",
    store: Annotated[
        Path | None, typer.Option(help="Folder of results; else that of the project, which rankplug doctor tells.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be trained, at most by Optuna.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search among the parameters of a model, and choose by validation data.

    A backend and a scorer without a grid suggest what to search. The same command goes on after an interruption.
    """
    from rankplug.store import Store
    from rankplug.sweeps import plan_search, read_folds, read_words
    from rankplug.sweeps import tune as search_for

    if not all("=" in word for word in words):
        raise GrammarError("name the parts of a combination, such as loss=xe_ndcg backend=lightgbm dataset=synthetic")
    results = Store(store)
    asked: dict[str, Any] = {
        "budget": budget, "folds": read_folds(folds), "trials": trials, "store": results, "retry_failed": retry_failed
    }  # fmt: skip
    grid = read_words(words).grids[0]
    plan = plan_search(grid, **asked)
    if dry_run:
        tell_plan(plan, results, whole_number(jobs, "jobs", least=1), as_json)
        return
    if outlook := plan.outlook(results, whole_number(jobs, "jobs", least=1)):
        echo(outlook, error=as_json)
    with interruptible(lambda: "what is trained is kept"):
        tuning = search_for(grid, search=search.value, jobs=jobs, **asked)
    if not as_json:
        echo(tuning)
        return
    described = {
        "budget": tuning.budget,
        "trained": len(tuning.quality),
        "candidates": tuning.size,
        "chosen": tuning.chosen.model_dump(mode="json"),
        "line": tuning.line,
        "valid": float(tuning.quality.mean(axis=1)[tuning.chosen.identity]),
        "test": tuning.test_means(),
        "failures": list(tuning.failures),
    }
    emit(json.dumps(described, indent=1))
