"""Completion of plugins' names in a shell; the rest is typer's own (``rankplug --install-completion``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import typer

ASKED = "_RANKPLUG_COMPLETE"
"""Environment variable by which a shell asks for completions."""
KINDS_OF_PARAMETERS = {
    "backend": "backend",
    "data": "dataset",
    "debias": "debiasing",
    "dataset": "dataset",
    "loss": "loss",
    "metric": "metric",
    "info name": "dataset",
    "names": "study",
    "sampler": "sampler",
    "scorer": "scorer",
    "transform": "transform",
}
"""Name of a parameter, perhaps after that of its command -> the kind of plugins that it names."""


def complete_names(app: typer.Typer) -> None:
    """Complete the names of plugins in all commands, if a shell asks for completions."""
    if ASKED not in os.environ:
        return
    for command in _commands(app):
        # Typer reads the annotations again, of which those that are text would be other objects by then.
        command.__annotations__ = get_type_hints(command, include_extras=True)
        for name, hint in command.__annotations__.items():
            for information in getattr(hint, "__metadata__", ()):
                if kind := KINDS_OF_PARAMETERS.get(f"{command.__name__} {name}") or KINDS_OF_PARAMETERS.get(name):
                    information.autocompletion = _names_of(kind)


def _commands(app: typer.Typer) -> Iterator[Callable[..., Any]]:
    yield from (command.callback for command in app.registered_commands if command.callback)
    for group in app.registered_groups:
        if group.typer_instance:
            yield from _commands(group.typer_instance)


def _names_of(kind: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        from rankplug.registry import registry

        names = {plugin.specification.name for plugin in registry().plugins(kind)}
        return sorted(name for name in names if name.startswith(incomplete))

    return complete
