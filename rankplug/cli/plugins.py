"""``rankplug plugins``: everything that is installed, and what failed to load."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.system import hand_over, say

if TYPE_CHECKING:
    from rankplug.registry import Plugin


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plugins")(plugins)


def plugins(
    kind: Annotated[str | None, typer.Option(help="Only one kind, such as loss.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every plugin with its parameters, and the plugins that failed to load."""
    from rankplug.registry import registry

    found = registry()
    chosen = list(found.plugins(kind))
    if as_json:
        listing = {
            "plugins": [plugin.describe() for plugin in chosen],
            "failed": [broken.describe() for broken in found.broken],
            "remarks": found.remarks,
            "conflicts": [
                {"kind": kind, "name": name, "distributions": offers} for kind, name, offers in found.conflicts()
            ],
        }
        hand_over(json.dumps(listing, indent=2, default=str))
        return
    for plugin in chosen:
        say(_lines(plugin))
    for kind_, name, offers in found.conflicts():
        say(f"conflict: {kind_} {name} is offered by {' and '.join(offers)}", colour="yellow", error=True)
    for remark in found.remarks:
        say(f"remark: {remark}", colour="yellow", error=True)
    for broken in found.broken:
        say(
            f"failed: {broken.entry_point} of {broken.distribution} {broken.version}: {broken.reason}",
            colour="red",
            error=True,
        )


def _lines(plugin: Plugin) -> str:
    about = plugin.describe()
    paper = f" ({about['paper']})" if about["paper"] else ""
    head = (
        f"{about['kind']:9} {about['name']:18} {about['summary']}{paper}  [{about['distribution']} {about['version']}]"
    )
    return "\n".join([head, *(f"{'':10}{_parameter(parameter)}" for parameter in about["parameters"])])


def _parameter(parameter: dict[str, Any]) -> str:
    default = "required" if parameter["required"] else f"default {str(parameter['default']).lower()}"
    meaning = f": {parameter['description']}" if parameter["description"] else ""
    return f"{parameter['name']} ({parameter['type']}, {default}){meaning}"
