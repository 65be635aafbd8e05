"""``rankplug doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rankplug.system import hand_over, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Tell versions, threads, which backends work, which plugins failed and where things lie; fails on problems."""
    from rankplug.authoring import examine

    diagnosis = examine()
    if as_json:
        hand_over(json.dumps(diagnosis.describe(), indent=2))
        raise typer.Exit(1 if diagnosis.problems else 0)
    say("versions")
    for name, version in diagnosis.versions.items():
        say(f"  {name:20} {version}")
    say(f"threads\n  {diagnosis.threads} of {diagnosis.cores} cores; {_others(diagnosis.busy)}")
    say(f"  threads that wait: {', '.join(f'{name}={value}' for name, value in diagnosis.waiting.items())}")
    say("backends")
    for backend in diagnosis.backends:
        say(f"  {backend.name:20} {'works' if backend.works else backend.reason}")
    if diagnosis.others:
        say("plugins from elsewhere")
    for name, problem in diagnosis.others.items():
        say(f"  {name}: {problem or 'works'}")
    for remark in diagnosis.remarks:
        say(f"remark: {remark}", colour="yellow", error=True)
    say("folders")
    for folder in diagnosis.folders:
        state = ", ".join(
            ["exists" if folder.exists else "not made yet", "writable" if folder.writable else "read-only"]
        )
        told = ", ".join(filter(None, [folder.why, state]))
        say(f"  {folder.purpose:32} {folder.path} ({told}; {folder.variable})")
    for problem in diagnosis.problems:
        say(f"problem: {problem}", colour="red", error=True)
    if diagnosis.problems:
        raise typer.Exit(1)
    say("no problems")


def _others(busy: int) -> str:
    if not busy:
        return "no other program computes"
    return f"{busy} threads of other programs compute too, so that fits and sweeps take fewer"
