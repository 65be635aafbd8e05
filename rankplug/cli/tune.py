"""``rankplug tune``: searches for the parameters of a model."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rankplug.cli.sweep import INTERRUPTED
from rankplug.errors import GrammarError
from rankplug.system import hand_over, say


class Search(StrEnum):
    """A way to propose candidates."""

    RANDOM = "random"
    OPTUNA = "optuna"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune)


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search among the parameters of a model, and choose by validation data.

    A backend and a scorer without a grid suggest what to search. The same command goes on after an interruption.
    """
    from rankplug.sweeps import read_folds, read_words
    from rankplug.sweeps import tune as search_for

    if not all("=" in word for word in words):
        raise GrammarError("name the parts of a combination, such as loss=xe_ndcg backend=lightgbm dataset=synthetic")
    try:
        found = search_for(
            read_words(words).grids[0],
            budget=budget,
            search=search.value,
            folds=read_folds(folds),
            trials=trials,
            store=store,
            jobs=jobs,
            retry_failed=retry_failed,
        )
    except KeyboardInterrupt:
        say("\ninterrupted: what is trained is kept; the same command goes on", error=True)
        raise typer.Exit(INTERRUPTED) from None
    if not as_json:
        say(found)
        return
    described = {
        "budget": found.budget,
        "trained": len(found.quality),
        "candidates": found.size,
        "chosen": found.chosen.model_dump(mode="json"),
        "line": found.line,
        "valid": float(found.quality.mean(axis=1)[found.chosen.identity]),
        "test": found.test_means(),
        "failures": list(found.failures),
    }
    hand_over(json.dumps(described, indent=1))
