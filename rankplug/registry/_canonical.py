"""Canonical text of a plugin with its parameters: one text for every way to write the same plugin."""

from __future__ import annotations

import functools
from typing import Any

from rankplug.errors import RankplugError
from rankplug.registry.grammar import Grid, Reference, parse
from rankplug.registry.plugins import Named, Registry, registry


def canonical(kind: str, reference: Named) -> str:
    """Return the text of a plugin in which parameters with their default values are left out, in a fixed order.

    Anything that does not name an installed plugin with valid parameters is returned as written.

    >>> canonical("metric", "ndcg[ties=stable,k=5]"), canonical("loss", "lambdarank[sigma=2.0]")
    ('ndcg@5', 'lambdarank[sigma=2]')
    """
    text = str(parse(reference))
    try:
        return _canonical(registry(), kind, text)
    except RankplugError:
        return text


@functools.lru_cache(maxsize=4096)
def _canonical(plugins: Registry, kind: str, text: str) -> str:
    specification, parameters = plugins.resolve(kind, text)
    plugin = plugins.find(kind, text)
    changed = {}
    for name, field in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        if field.is_required() or value != field.get_default(call_default_factory=True):
            changed[name] = _plain(value)
    if any(isinstance(value, dict) for value in changed.values()):
        return text
    namesakes = [other for other in plugins.plugins(kind) if other.specification.name == specification.name]
    return str(Reference(specification.name, changed, plugin.distribution if len(namesakes) > 1 else None))


def _plain(value: Any) -> Any:
    """Return a parameter's value as people write it: 2 for 2.0, a tuple for a list."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    if isinstance(value, Reference | Grid):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
