"""``rankplug plugins``, ``new`` and ``check``: what is installed, a new plugin, and whether it keeps its contract."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import DryRunOption, JSONOption
from rankplug.errors import UnknownPluginError, did_you_mean
from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    from rankplug.registry import Plugin


def plugins(
    name: Annotated[str | None, typer.Argument(help="Only plugins of this name, such as lambdarank.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only plugins of one kind, such as loss.")] = None,
    as_json: JSONOption = False,
) -> None:
    """List all plugins, or one with its parameters, and the plugins that failed to load."""
    from rankplug.registry import parse, registry

    plugins = registry()
    selected = list(plugins.plugins(kind))
    if name is not None:
        names, name = {plugin.specification.name for plugin in selected}, parse(name).name
        if name not in names:
            raise UnknownPluginError(f"no plugin is called {name}: {did_you_mean(name, names)}")
        selected = [plugin for plugin in selected if plugin.specification.name == name]
    conflicts = [
        {"kind": kind, "name": name, "distributions": distributions}
        for kind, name, distributions in plugins.conflicts()
    ]
    if as_json:
        emit(
            {
                "plugins": [plugin.describe() for plugin in selected],
                "failed": [broken.describe() for broken in plugins.broken],
                "remarks": plugins.remarks,
                "conflicts": conflicts,
            }
        )
        return
    if name is None:
        echo_table(("kind", "name", "summary"), [_row(plugin) for plugin in selected], width=80)
    else:
        for plugin in selected:
            _echo_plugin(plugin)
    for conflict in conflicts:
        offers = " and ".join(conflict["distributions"])
        echo(f"conflict: {conflict['kind']} {conflict['name']} is offered by {offers}", colour="yellow", error=True)
    for remark in plugins.remarks:
        echo(f"remark: {remark}", colour="yellow", error=True)
    for broken in plugins.broken:
        origin = f"{broken.entry_point} of {broken.distribution} {broken.version}"
        echo(f"failed: {origin}: {broken.reason}", colour="red", error=True)


def _row(plugin: Plugin) -> tuple[str, str, str]:
    about = plugin.describe()
    origin = "" if plugin.distribution == "rankplug" else f", from {plugin.distribution} {plugin.version}"
    return about["kind"], about["name"], _summary(about) + origin


def _echo_plugin(plugin: Plugin) -> None:
    about = plugin.describe()
    echo(f"{about['kind']} {about['name']}: {_summary(about)}, from {about['distribution']} {about['version']}")
    rows = [
        (parameter["name"], parameter["type"], _default(parameter), parameter["description"] or "")
        for parameter in about["parameters"]
    ]
    if rows:
        echo_table(("parameter", "type", "default", "meaning"), rows)


def _summary(about: dict[str, Any]) -> str:
    return f"{about['summary']} ({about['paper']})" if about["paper"] else str(about["summary"])


def _default(parameter: dict[str, Any]) -> str:
    from rankplug.registry import format_value

    return "required" if parameter["required"] else format_value(parameter["default"])


class Flavour(StrEnum):
    """Language in which a loss is written."""

    NUMBA = "numba"
    TORCH = "torch"


def new(
    kind: Annotated[
        str, typer.Argument(help="Kind of plugin: loss, sampler, scorer, backend, dataset, transform, metric or study.")
    ],
    name: Annotated[str, typer.Argument(help="Name of the plugin, such as my_loss.")],
    flavour: Annotated[
        Flavour, typer.Option(help="How to write a loss: a compiled function of one list, or a PyTorch expression.")
    ] = Flavour.NUMBA,
    into: Annotated[Path, typer.Option(help="Folder in which to create the package's folder.")] = Path(),
    dry_run: DryRunOption = False,
) -> None:
    """Create a package with one working plugin, its contract test and a README."""
    from rankplug.authoring import NewPlugin

    plugin = NewPlugin(kind, name, flavour.value)
    if dry_run:
        for path in sorted(plugin.files()):
            echo(f"would write {into / name / path}")
        return
    folder = plugin.write(into)
    echo(f"wrote {folder}; next:")
    echo(f"  pip install -e {folder}")
    echo(f"  rankplug check {name}")
    echo(f"  {plugin.facts['run']}")


def check(
    plugin: Annotated[
        str,
        typer.Argument(metavar="NAME|PATH", help="An installed plugin, such as my_loss, or a file, such as loss.py."),
    ],
    kind: Annotated[str | None, typer.Option(help="Kind of the plugin, where several have the name.")] = None,
    as_json: JSONOption = False,
) -> None:
    """Run the contract tests of a plugin's kind, and explain each failure."""
    from rankplug.authoring import check_plugins

    reports = check_plugins(plugin, kind)
    if as_json:
        emit([report.describe() for report in reports])
    else:
        for line in (line for report in reports for line in report.lines()):
            echo(line, colour="red" if line.startswith("  FAIL") else None)
    if any(report.failed for report in reports):
        raise typer.Exit(1)
