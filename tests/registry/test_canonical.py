"""Canonical texts: one for every way to write a plugin, and it reads back to the same parameters."""

from __future__ import annotations

from typing import Any

import pytest

from rankplug.registry import parse, registry
from rankplug.registry._canonical import canonical

NEEDED = {"share": 0.5, "size": 3}


@pytest.mark.parametrize("plugin", list(registry().plugins()), ids=lambda plugin: str(plugin.specification))
def test_a_canonical_text_reads_back(plugin: Any) -> None:
    specification = plugin.specification
    model = specification.parameters
    required = {name: NEEDED.get(name, "x") for name, field in model.model_fields.items() if field.is_required()}
    written = {"name": specification.name, **dict(model(**required))}
    text = canonical(specification.kind, written)
    assert set(parse(text).parameters) == set(required)
    assert registry().resolve(specification.kind, text)[1] == model(**required)


@pytest.mark.parametrize(
    ("kind", "ways", "text"),
    [
        ("loss", ["lambdarank[sigma=1.0]", "rankplug:lambdarank[norm=false,sigma=1]"], "lambdarank"),
        ("loss", ["lambdarank[norm=true,sigma=2.0]"], "lambdarank[sigma=2,norm=true]"),
        ("metric", ["ndcg@5[ties=stable]", "ndcg[k=5]"], "ndcg@5"),
        ("loss", ["nobody[ a = 1 ]"], "nobody[a=1]"),
    ],
)
def test_every_way_to_write_a_plugin_has_one_text(kind: str, ways: list[str], text: str) -> None:
    assert {canonical(kind, way) for way in ways} == {text}
