"""``rankplug bench``: speed and memory beside other libraries."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from rankplug.errors import RankplugError, did_you_mean
from rankplug.system import echo

SUBJECTS = {
    "boosting": "boosting iterations beside the engines' own objectives, all threads, busy machine",
    "losses": "losses beside dense and compiled PyTorch on ragged, equal and short lists; long lists",
    "evaluation": "NDCG of many queries beside other evaluators; serving of trees",
    "data": "reading LETOR text beside scikit-learn and XGBoost; opening a prepared data set",
    "sweeps": "overhead of a sweep; queries over 10,000 stored results",
    "memory": "peak memory of training beyond the data",
    "quality": "held-out NDCG@10 and training seconds of backends and losses",
}
"""Subjects and what they measure; each is a module with a function ``measure``."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Maintenance")(bench)


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SUBJECT]...", help="Subjects; all by default.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes, to check that every subject runs.")] = False,
    out: Annotated[Path, typer.Option(help="Folder of the reports; nothing is written with --quick.")] = Path(
        "benchmarks/results"
    ),
    document: Annotated[Path | None, typer.Option(help="Page whose table is filled from the reports.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the subjects.")] = False,
) -> None:
    """Measure speed and memory beside other libraries, interleaved."""
    from rankplug_benchmarks.rounds import fill_page, write_report

    if listed:
        for name, title in SUBJECTS.items():
            echo(f"{name:12}{title}")
        return
    if document is not None:
        fill_page(document, out)
        echo(f"filled {document}")
        return
    for name in names or list(SUBJECTS):
        if name not in SUBJECTS:
            raise RankplugError(f"there is no benchmark {name}: {did_you_mean(name, SUBJECTS)}")
        echo(f"{name}: {SUBJECTS[name]}", bold=True)
        begin, rows = time.perf_counter(), []
        for row in import_module(f"rankplug_benchmarks.{name}").measure(rounds=rounds, quick=quick):
            rows.append(row)
            what, threads, value, quartiles, target = row.cells()
            echo(f"  {what} ({threads} thread{'s' * (threads != '1')}): {value} [{quartiles}] {target}".rstrip())
        echo(f"  took {time.perf_counter() - begin:.0f} s")
        if not quick:
            write_report(out / f"{name}.json", rows)
