"""``rankplug plugins``: everything that is installed, and what failed to load."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.errors import UnknownPluginError, did_you_mean
from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    from rankplug.registry import Plugin


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plugins")(plugins)


def plugins(
    name: Annotated[
        str | None,
        typer.Argument(help="Only plugins of this name, such as lambdarank."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only plugins of one kind, such as loss.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every plugin with its parameters, and the plugins that failed to load."""
    from rankplug.registry import registry

    plugins = registry()
    chosen = _named(plugins.plugins(kind), name)
    if as_json:
        listing = {
            "plugins": [plugin.describe() for plugin in chosen],
            "failed": [broken.describe() for broken in plugins.broken],
            "remarks": plugins.remarks,
            "conflicts": [
                {"kind": kind, "name": name, "distributions": offers} for kind, name, offers in plugins.conflicts()
            ],
        }
        emit(json.dumps(listing, indent=2, default=str))
        return
    if name is None:
        echo_table(("kind", "name", "what it is", "parameters", "from"), map(_row, chosen))
    for plugin in chosen if name is not None else ():
        _tell(plugin)
    for kind_, name, offers in plugins.conflicts():
        echo(f"conflict: {kind_} {name} is offered by {' and '.join(offers)}", colour="yellow", error=True)
    for remark in plugins.remarks:
        echo(f"remark: {remark}", colour="yellow", error=True)
    for broken in plugins.broken:
        echo(
            f"failed: {broken.entry_point} of {broken.distribution} {broken.version}: {broken.reason}",
            colour="red",
            error=True,
        )


def _named(plugins: Iterable[Plugin], name: str | None) -> list[Plugin]:
    """Return the plugins of a name, or all; one that has no namesake here is refused with what is near it."""
    from rankplug.registry import parse

    several = list(plugins)
    if name is None:
        return several
    wanted = parse(name).name
    chosen = [plugin for plugin in several if plugin.specification.name == wanted]
    if not chosen:
        known = {plugin.specification.name for plugin in several}
        raise UnknownPluginError(f"no plugin is called {wanted}: {did_you_mean(wanted, known)}")
    return chosen


def _row(plugin: Plugin) -> tuple[str, ...]:
    about = plugin.describe()
    parameters = ", ".join(f"{parameter['name']}={_default(parameter)}" for parameter in about["parameters"])
    return about["kind"], about["name"], _summary(about), parameters, f"{about['distribution']} {about['version']}"


def _tell(plugin: Plugin) -> None:
    """Print what a plugin is, and its parameters with their types, defaults and meanings."""
    about = plugin.describe()
    echo(f"{about['kind']} {about['name']}: {_summary(about)}, from {about['distribution']} {about['version']}")
    rows = [
        (parameter["name"], parameter["type"], _default(parameter), parameter["description"] or "")
        for parameter in about["parameters"]
    ]
    if rows:
        echo_table(("parameter", "type", "default", "what it is"), rows)


def _summary(about: dict[str, Any]) -> str:
    return f"{about['summary']} ({about['paper']})" if about["paper"] else str(about["summary"])


def _default(parameter: dict[str, Any]) -> str:
    return "required" if parameter["required"] else _written(parameter["default"])


def _written(value: Any) -> str:
    """Write a default as the grammar does, where it can."""
    from rankplug.registry import format_value

    return format_value(value) if value is None or isinstance(value, (bool, int, float, str, tuple)) else str(value)
