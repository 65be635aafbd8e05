"""``rankplug claims``: what papers claim, with verdicts and evidence from the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import hand_over, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("claims")(claims)


def claims(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY]...", help="Studies; all whose runs are there by default.")
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(help="Only claims of this verdict, such as holds or inconclusive; may be repeated."),
    ] = None,
    profile: Annotated[str, typer.Option(help="How large: smoke, quick, full, real, paper.")] = "quick",
    store: Annotated[Path | None, typer.Option(help="Folder of results.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of the evidence as JSON.")] = False,
) -> None:
    """List claims with verdict, effect and margin from runs that are in the store; runs none."""
    from rankplug.store import Store
    from rankplug.studies import read_profile, stored_evidence

    found, absent = stored_evidence(names or [], read_profile(profile), Store(store) if store else None, verdict or [])
    if as_json:
        hand_over(json.dumps([one.describe() for one in found], indent=1, ensure_ascii=False))
        return
    lines = []
    for one in found:
        lines.append(f"{one.study}, profile {one.profile} of {one.date}, {one.trials} trials: {one.in_short}")
        lines += [
            f"  {claim.judgement.verdict:<15}{claim.effect:<40}{claim.margin:<24}{claim.sentence}"
            for claim in one.claims
        ]
    hand_over("\n".join(lines))
    if absent:
        say(f"Not run at the profile {profile}: {', '.join(absent)}", error=True)
