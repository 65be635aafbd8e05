"""``rankplug warm``: what is compiled at first use, compiled now."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rankplug.system import hand_over, interruptible, say, say_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("warm")(warm)


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
            hand_over(json.dumps([{"kind": one.kind, "name": one.name, "sampler": one.sampler} for one in wanted]))
        else:
            say_table(("kind", "name", "sampler"), [(one.kind, one.name, one.sampler) for one in wanted])
        return
    done: list[Compilation] = []
    with interruptible(lambda: f"{len(done)} of {len(wanted)} are compiled"):
        for compiled in compile_ahead(wanted):
            done.append(compiled)
            if compiled.problem:
                say(f"{compiled}: {compiled.problem}", colour="red", error=True)
            elif not as_json:
                say(f"{compiled}: {f'compiled in {compiled.seconds:.1f} s' if compiled.kept else 'was there'}")
    if as_json:
        hand_over(json.dumps([compiled.describe() for compiled in done], indent=1))
    if any(compiled.problem for compiled in done):
        raise typer.Exit(1)
