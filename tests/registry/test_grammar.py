"""One grammar names plugins everywhere; wrong texts and parameters are explained in one sentence."""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, field_validator, model_validator

from rankplug import Parameters
from rankplug.errors import GrammarError, ParameterError
from rankplug.registry import Grid, Reference, canonical, expand, parse, read_parameters, registry

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
parameter_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
plain_values = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False),
    st.text(max_size=12),
)


def references(values):
    return st.builds(
        Reference,
        names,
        st.dictionaries(parameter_names, values, max_size=3),
        st.none() | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True),
    )


values = st.recursive(
    plain_values, lambda inner: st.lists(inner, max_size=3).map(tuple) | references(inner), max_leaves=6
)
gridded = st.one_of(values, st.lists(values, max_size=3).map(lambda items: Grid(tuple(items))))


@settings(max_examples=20)
@given(references(gridded))
def test_a_reference_reads_back_from_its_own_text(reference):
    again = parse(str(reference))
    assert again == reference
    assert str(again) == str(reference)
    assert hash(again) == hash(reference)
    assert (again.name, again.distribution) == (reference.name, reference.distribution)
    assert again.parameters == reference.parameters


@given(references(values))
def test_types_survive_the_round_trip(reference):
    def shape(value):
        if isinstance(value, tuple):
            return tuple(map(shape, value))
        return type(value)

    again = parse(str(reference)).parameters
    assert {name: shape(again[name]) for name in again} == {
        name: shape(value) for name, value in reference.parameters.items()
    }


@given(st.dictionaries(parameter_names, st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=3))
def test_a_grid_expands_to_its_product_in_order(grids):
    whole = Reference("loss", {name: Grid(tuple(items)) for name, items in grids.items()})
    expected = [Reference("loss", dict(zip(grids, row, strict=True))) for row in itertools.product(*grids.values())]
    assert expand(whole) == expected
    assert all(expand(text) == [text] for text in expected)


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("lambdarank", "lambdarank", {}),
        (" lambdarank [ sigma = 2 , norm=false, ] ", "lambdarank", {"sigma": 2, "norm": False}),
        ("ndcg@5[gain=linear]", "ndcg", {"k": 5, "gain": "linear"}),
        ("x[a=1e-3,b=.5,c=-inf,d=+2]", "x", {"a": 1e-3, "b": 0.5, "c": -math.inf, "d": 2}),
        ("x[a=TRUE,b=None]", "x", {"a": True, "b": None}),
        ('x[a="two words",b=\'it is\',c="a\\"b"]', "x", {"a": "two words", "b": "it is", "c": 'a"b'}),
        ("x[layers=(100,)]", "x", {"layers": (100,)}),
        ("x[date=2024-01-01]", "x", {"date": "2024-01-01"}),
        ("x[metric=ndcg@5]", "x", {"metric": Reference("ndcg", {"k": 5})}),
        ("x[inner=other:y]", "x", {"inner": Reference("y", {}, "other")}),
    ],
)
def test_texts_that_people_write(text, name, parameters):
    parsed = parse(text)
    assert (parsed.name, parsed.parameters) == (name, parameters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a plugin's name at character 1, found the end"),
        ("x[a]", "expected = after a at character 4, found ']'"),
        ("x[a=[1 2]]", "expected , or ] at character 8, found '2]]'"),
        ('x[a="open]', "expected a closing \" at character 5, found '\"open]'"),
        ("x]", "expected the end at character 2, found ']'"),
        ("ndcg@five", "expected a whole number after @ at character 6, found 'five'"),
        ("x[a=1,a=2]", "parameter a appears twice in 'x[a=1,a=2]'"),
        ("ndcg@5[k=3]", "parameter k appears twice in 'ndcg@5[k=3]'"),
    ],
)
def test_an_unreadable_text_names_what_was_expected_and_where(text, message):
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert repr(text) in str(caught.value)


def test_a_mapping_as_in_yaml_is_the_same_reference():
    assert parse({"name": "approx_ndcg", "eta": 10}) == parse("approx_ndcg[eta=10]")
    assert parse({"name": "ndcg@5", "gain": "linear"}) == parse("ndcg@5[gain=linear]")
    assert parse({"name": "mlp", "layers": [[100, 50], [20]]}) == parse("mlp[layers=[(100,50),(20,)]]")
    assert parse({"name": "x", "inner": {"name": "y", "a": [1, 2]}}) == parse("x[inner=y[a=[1,2]]]")


def test_grids_inside_references_and_tuples_expand_too():
    assert [str(reference) for reference in expand("x[inner=y[a=[1,2]],b=[3,4]]")] == [
        "x[inner=y[a=1],b=3]",
        "x[inner=y[a=1],b=4]",
        "x[inner=y[a=2],b=3]",
        "x[inner=y[a=2],b=4]",
    ]
    assert [str(reference) for reference in expand("x[pair=([1,2],3)]")] == ["x[pair=(1,3)]", "x[pair=(2,3)]"]
    assert expand("x[a=[]]") == []


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


class Example(Parameters):
    """Parameters of every type."""

    samples: int = Field(ge=1)
    sigma: float = Field(1.0, gt=0, description="steepness")
    depth: int | None = Field(None, ge=1)
    mode: Literal["fast", "exact"] = "fast"
    layers: tuple[int, ...] = (10,)

    @field_validator("layers")
    @classmethod
    def _some(cls, layers: tuple[int, ...]) -> tuple[int, ...]:
        if not layers:
            raise ValueError("at least one layer is needed")
        return layers

    @model_validator(mode="after")
    def _deep_enough(self) -> Example:
        if self.mode == "exact" and self.depth == 13:
            raise ValueError("mode=exact does not go with depth=13")
        return self


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sgma": 2}, "loss example has no parameter sgma: did you mean sigma?"),
        ({"sigma": 0}, "loss example: sigma=0 is not possible (float > 0): input should be greater than 0"),
        ({"mode": "fats"}, "loss example: mode='fats' is not possible: did you mean fast?"),
        ({"layers": ()}, "loss example: layers=() is not possible ((int, ...)): at least one layer is needed"),
        ({"mode": "exact", "depth": 13}, "loss example: mode=exact does not go with depth=13"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(parameters, message):
    with pytest.raises(ParameterError) as caught:
        read_parameters(Example, {"samples": 1} | parameters, "loss example")
    assert str(caught.value) == message


def test_a_missing_parameter_is_named_with_its_type():
    with pytest.raises(ParameterError, match=r"^loss example needs the parameter samples \(int >= 1\)$"):
        read_parameters(Example, {}, "loss example")
