"""``rankplug doctor`` and ``rankplug warm``: what works on this machine, and compilation before first use."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rankplug.system import Cell, echo, echo_table, emit, interruptible


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("doctor")(doctor)
    app.command("warm")(warm)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Tell versions, threads, which backends work, which plugins failed and where things lie; fails on problems."""
    from rankplug.authoring import examine

    diagnosis = examine()
    if as_json:
        emit(json.dumps(diagnosis.describe(), indent=2))
        raise typer.Exit(1 if diagnosis.problems else 0)
    echo_table(("versions", ""), diagnosis.versions.items())
    echo(f"\nthreads\n  {diagnosis.threads} of {diagnosis.cores} cores; {_others(diagnosis.busy)}")
    echo(f"  threads that wait: {', '.join(f'{name}={value}' for name, value in diagnosis.waiting.items())}")
    works: Cell = ("works", "green")
    backends = [(backend.name, works if backend.works else (backend.reason, "red")) for backend in diagnosis.backends]
    echo("")
    echo_table(("backends", ""), backends)
    if diagnosis.others:
        others = [(name, (problem, "red") if problem else works) for name, problem in diagnosis.others.items()]
        echo("")
        echo_table(("plugins from elsewhere", ""), others)
    for remark in diagnosis.remarks:
        echo(f"remark: {remark}", colour="yellow", error=True)
    rows = []
    for folder in diagnosis.folders:
        state = ", ".join(
            ["exists" if folder.exists else "not made yet", "writable" if folder.writable else "read-only"]
        )
        told = ", ".join(filter(None, [folder.why, state]))
        rows.append((folder.purpose, str(folder.path), told, folder.variable))
    echo("")
    echo_table(("folders", "path", "state", "variable"), rows)
    for problem in diagnosis.problems:
        echo(f"problem: {problem}", colour="red", error=True)
    if diagnosis.problems:
        raise typer.Exit(1)
    echo("no problems")


def _others(busy: int) -> str:
    if not busy:
        return "no other program computes"
    return f"{busy} threads of other programs compute too, so that fits and sweeps take fewer"


def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Losses, samplers and metrics; all that are compiled by default."),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        typer.Option(help="Compile losses for their expectation under this sampler too, such as gumbel."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be compiled, and compile nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compile losses, samplers and metrics into the cache, which their first use does otherwise."""
    from rankplug.authoring import Compilation, compile_ahead, to_compile

    wanted = to_compile(names or (), sampler or ())
    if dry_run:
        if as_json:
            emit(json.dumps([{"kind": one.kind, "name": one.name, "sampler": one.sampler} for one in wanted]))
        else:
            echo_table(("kind", "name", "sampler"), [(one.kind, one.name, one.sampler) for one in wanted])
        return
    done: list[Compilation] = []
    with interruptible(lambda: f"{len(done)} of {len(wanted)} are compiled"):
        for compiled in compile_ahead(wanted):
            done.append(compiled)
            if compiled.problem:
                echo(f"{compiled}: {compiled.problem}", colour="red", error=True)
            elif not as_json:
                echo(f"{compiled}: {f'compiled in {compiled.seconds:.1f} s' if compiled.kept else 'was there'}")
    if as_json:
        emit(json.dumps([compiled.describe() for compiled in done], indent=1))
    if any(compiled.problem for compiled in done):
        raise typer.Exit(1)
