"""``rankplug tune`` searches the parameters of a model."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from rankplug.cli._options import DryRunOption, JobsOption, JSONOption, RetryOption, StoreOption
from rankplug.cli.sweep import echo_plan
from rankplug.errors import GrammarError
from rankplug.system import echo, emit, interruptible


class Search(StrEnum):
    """A way to propose candidates."""

    RANDOM = "random"
    OPTUNA = "optuna"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Training and comparing")(tune)


def tune(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="PART=VALUE",
            help="Parts of a combination: loss=xe_ndcg backend=lightgbm dataset=synthetic; grids are searched.",
        ),
    ],
    budget: Annotated[int, typer.Option(help="Candidates to train.")] = 50,
    search: Annotated[Search, typer.Option(help="Random search, or proposals by Optuna.")] = Search.RANDOM,
    jobs: JobsOption = 1,
    retry_failed: RetryOption = False,
    trials: Annotated[int, typer.Option(help="Repetitions, each with its own seed.")] = 1,
    folds: Annotated[str, typer.Option(help="Folds to run, such as 1,2,3 or all.")] = "1",
    store: StoreOption = None,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Search the parameters of a model, and select the best on validation data.

    A backend and a scorer without a grid suggest one. After an interruption, the same command continues.
    """
    from rankplug.store import Store
    from rankplug.sweeps import read_folds, read_words
    from rankplug_tuning.search import plan_search
    from rankplug_tuning.search import tune as search_grid

    if not all("=" in word for word in words):
        raise GrammarError("name the parts of a combination, such as loss=xe_ndcg backend=lightgbm dataset=synthetic")
    results, grid = Store(store), read_words(words).grids[0]
    common: dict[str, Any] = {"folds": read_folds(folds), "trials": trials, "store": results}
    common |= {"budget": budget, "retry_failed": retry_failed}
    plan = plan_search(grid, **common)
    if dry_run:
        echo_plan(plan, results, jobs, as_json)
        return
    if outlook := plan.outlook(results, jobs):
        echo(outlook, error=as_json)
    with interruptible(lambda: "finished trials are stored"):
        tuning = search_grid(grid, search=search.value, jobs=jobs, **common)
    if not as_json:
        echo(tuning)
        return
    emit(
        {
            "budget": tuning.budget,
            "trained": len(tuning.quality),
            "candidates": tuning.size,
            "chosen": tuning.chosen.model_dump(mode="json"),
            "line": tuning.line,
            "valid": float(tuning.quality.mean(axis=1)[tuning.chosen.identity]),
            "test": tuning.test_means(),
            "failures": list(tuning.failures),
        }
    )
