"""Continue a reference that is being typed: names of plugins, their parameters, and values where these are few."""

from __future__ import annotations

from collections.abc import Iterator

from rankplug.errors import RankplugError
from rankplug.registry.grammar import Reference, format_value
from rankplug.registry.parameters import literal_values
from rankplug.registry.plugins import registry

OPENING, CLOSING = "[(", "])"


def complete_reference(kind: str, text: str) -> list[str]:
    """Return what a text of the grammar may be continued to.

    Args:
        kind: of plugin.
        text: what has been typed, such as ``[mse,lambdarank[si``.
    """
    return sorted(_of_references(kind, text))


def _of_references(kind: str, text: str) -> Iterator[str]:
    """Continue one reference, or the last of a grid of them."""
    before, last = _last_item(text) if text.startswith("[") else ("", text)
    name, bracket, inside = last.partition("[")
    if bracket:
        yield from (f"{before}{name}[{rest}" for rest in _of_parameters(kind, name, inside))
        return
    for plugin in registry().plugins(kind):
        specification = plugin.specification
        if specification.name.startswith(name):
            yield f"{before}{specification.name}"
            if specification.parameters.model_fields:
                yield f"{before}{specification.name}["


def _of_parameters(kind: str, plugin: str, text: str) -> Iterator[str]:
    """Continue the parameters of a plugin, of which the last is incomplete."""
    try:
        fields = registry().find(kind, Reference(plugin)).specification.parameters.model_fields
    except RankplugError:
        return
    before, last = _last_item("[" + text)
    name, equals, value = last.partition("=")
    if not equals:
        given = {word.partition("=")[0] for word in before[1:].split(",")}
        yield from (f"{before[1:]}{field}=" for field in fields if field.startswith(name) and field not in given)
    elif name in fields:
        field = fields[name]
        words = literal_values(field) or ((False, True) if field.annotation is bool else ())
        inner, typed = _last_item(value) if value.startswith("[") else ("", value)
        written = [format_value(word) for word in words]
        yield from (f"{before[1:]}{name}={inner}{word}" for word in written if word.startswith(typed))


def _last_item(text: str) -> tuple[str, str]:
    """Split an open bracket before its last item: ``[mse,lambdar`` into ``[mse,`` and ``lambdar``."""
    depth, cut = 0, 1
    for index, letter in enumerate(text):
        depth += (letter in OPENING) - (letter in CLOSING)
        if letter == "," and depth == 1:
            cut = index + 1
    return text[:cut], text[cut:]
