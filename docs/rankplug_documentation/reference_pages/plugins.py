"""The page of every installed plugin that comes with rankplug, with all its parameters."""

from __future__ import annotations

from rankplug.registry import KINDS, Plugin, ScorerSpecification, registry
from rankplug_documentation.parameter_table import parameter_table, table

HEAD = """# Plugins and their parameters

Made by `make docs` from the plugins themselves: what `rankplug plugins` lists, kind by kind. A parameter goes in square
brackets after the name, `synthetic[queries=200]`; a list of values makes a grid, `lambdarank[sigma=[1,2]]`.
[Losses](../losses.md) have a page of their own with formulas and pictures.

"""
PLURAL = {
    "loss": "Losses",
    "sampler": "Samplers",
    "scorer": "Scorers",
    "backend": "Backends",
    "dataset": "Data sets",
    "transform": "Transforms",
    "metric": "Metrics",
    "study": "Studies",
}


def plugins_page() -> str:
    """Return the text of the page."""
    return HEAD + "\n".join(line for kind in KINDS for line in _kind(kind))


def built_in(kind: str) -> list[Plugin]:
    """Return the plugins of a kind that come with rankplug itself."""
    return [plugin for plugin in registry().plugins(kind) if plugin.distribution == "rankplug"]


def _kind(kind: str) -> list[str]:
    if kind == "loss":
        rows = ((f"[`{name}`](../losses.md#{name})", summary) for name, summary in _summaries(kind))
        return [f"## {PLURAL[kind]}", "", *table(["loss", ""], rows)]
    sections = [line for plugin in built_in(kind) for line in _plugin(kind, plugin)]
    return [f"## {PLURAL[kind]}", "", *sections]


def _summaries(kind: str) -> list[tuple[str, str]]:
    return [(plugin.specification.name, plugin.specification.summary) for plugin in built_in(kind)]


def _plugin(kind: str, plugin: Plugin) -> list[str]:
    specification = plugin.specification
    summary = specification.summary[:1].upper() + specification.summary[1:]
    lines = [f"### {specification.name} {{ #{kind}-{specification.name} }}", "", f"{summary}.", ""]
    if isinstance(specification, ScorerSpecification):
        lines += [f"Fitted by {', '.join(f'`{backend}`' for backend in sorted(specification.fitted_by))}.", ""]
    return lines + parameter_table(specification.parameters)
