"""One name for each plugin with its parameters, however it was written: parameters that are the defaults are left out.

A result's record holds all parameters of its plugins, so that its name tells what was run, also where a default has
changed since.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from rankplug.errors import RankplugError
from rankplug.registry import Reference, Registry, registry
from rankplug.store.combination import KIND_OF_PART, PLUGIN_PARTS
from rankplug.store.description import describe_plugin

BAR = " | "
TEXT = re.compile(r"'(?:[^']|'')*'")
"""A text in SQL."""
UNKNOWN = object()
"""The default of a parameter that must be given, and of one that is there no more."""


def canonical_parts(combination: Mapping[str, Any], plugins: Mapping[str, Any]) -> dict[str, str]:
    """Return the canonical name of each part of a recorded combination; those of several plugins are joined by bars.

    Args:
        combination: its parts as they were written.
        plugins: what was recorded of the plugins behind them; without it a part keeps the name that was written.
    """
    names = {}
    for part, kind in PLUGIN_PARTS.items():
        written = combination.get(part) or ()
        references = [written] if isinstance(written, str) else list(written)
        recorded = plugins.get(part) or ()
        if len(recorded) == max(len(references), part in KIND_OF_PART):
            references = [canonical_name(kind, name) or _at(references, index) for index, name in enumerate(recorded)]
        names[part] = BAR.join(references)
    return names


def _at(references: list[str], index: int) -> str:
    return references[index] if index < len(references) else ""


def canonical_name(kind: str, about: Mapping[str, Any]) -> str:
    """Return the canonical name of a recorded plugin; empty if no installed plugin knows its defaults."""
    return _name(registry(), kind, json.dumps(about, sort_keys=True))


def with_canonical_names(sql: str) -> str:
    """Rewrite every plugin with parameters that a question names to the canonical name in the tables."""
    return TEXT.sub(lambda match: _rewritten(match[0]) if "[" in match[0] else match[0], sql)


def _rewritten(text: str) -> str:
    names = [canonical_text(name) for name in text[1:-1].replace("''", "'").split(BAR)]
    return "'" + BAR.join(names).replace("'", "''") + "'"


def canonical_text(written: str) -> str:
    """Return the name that the tables have of a plugin that was written in any way; other words stay as they are."""
    for kind in (*KIND_OF_PART.values(), "transform"):
        with contextlib.suppress(RankplugError):
            if name := canonical_name(kind, _plain(describe_plugin(kind, written))):
                return name
    return written


@functools.lru_cache(maxsize=4096)
def _name(plugins: Registry, kind: str, recorded: str) -> str:
    about = json.loads(recorded)
    name, distribution = about["name"], about["distribution"]
    try:
        model = plugins.find(kind, Reference(name, {}, distribution)).specification.parameters
    except RankplugError:
        return ""
    defaults = {
        field: _plain(info.get_default(call_default_factory=True))
        for field, info in model.model_fields.items()
        if not info.is_required()
    }
    given = {**_plain(dict(model.added_later)), **about["parameters"]}
    order = sorted(given, key=list({**model.model_fields, **given}).index)
    changed = {field: _written(given[field]) for field in order if given[field] != defaults.get(field, UNKNOWN)}
    if any(isinstance(value, dict) for value in changed.values()):
        return ""
    namesakes = [plugin for plugin in plugins.plugins(kind) if plugin.specification.name == name]
    return str(Reference(name, changed, distribution if len(namesakes) > 1 else None))


def _plain(value: Any) -> Any:
    return json.loads(
        json.dumps(value, default=lambda part: asdict(part) if isinstance(part, Reference) else str(part))
    )


def _written(value: Any) -> Any:
    """Convert a recorded value to the form people write: 2 for 2.0, a tuple for a list, a plugin for its record."""
    if isinstance(value, list):
        return tuple(_written(part) for part in value)
    if isinstance(value, dict) and set(value) == {field.name for field in fields(Reference)}:
        parameters = {name: _written(parameter) for name, parameter in value["parameters"].items()}
        return Reference(value["name"], parameters, value["distribution"])
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
