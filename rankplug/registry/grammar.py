"""One way to name a plugin with its parameters, in shell, YAML and Python.

``name[parameter=value, ...]`` names one plugin; a value in square brackets is a grid, a value in round ones is a
tuple, and a value may itself be ``name[...]``. ``ndcg@5`` is short for ``ndcg[k=5]``. The path of a file is the name of
the data set that reads it, as in ``shop.csv[query=search]``.

>>> str(parse("lambdarank[ sigma=2, norm=false ]"))
'lambdarank[sigma=2,norm=false]'
>>> [str(reference) for reference in expand("mlp[layers=[(100,50),(200,200)],dropout=0.5]")]
['mlp[layers=(100,50),dropout=0.5]', 'mlp[layers=(200,200),dropout=0.5]']
>>> parse("ndcg@5") == parse("ndcg[k=5]")
True
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankplug.errors import GrammarError, shown

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DISTRIBUTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*:")
BARE = re.compile(r"[^\s,=\[\]()\"'@:]+")
PATH = re.compile(r"(?![-+])[^\s,=\[\]()\"'@:./]*[./][^\s,=\[\]()\"'@:]*")
NUMBER = re.compile(r"([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf)(?![^\s,=\[\]()\"'@]|:)")
QUOTED = re.compile(r"\"([^\"\\]|\\.)*\"|'([^'\\]|\\.)*'", re.DOTALL)
MOST_DIGITS = 300
DEEPEST = 50
"""Brackets within brackets."""
MOST_CHOICES = 100_000
"""References that one with grids may stand for."""
WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Grid:
    """Several values of one parameter, of which each combination takes one."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Reference:
    """A plugin's name with its parameters; hashable, and its text reads back to itself."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    distribution: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", dict(self.parameters))

    def __hash__(self) -> int:
        return hash(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and str(self) == str(other)

    def __str__(self) -> str:
        prefix = f"{self.distribution}:" if self.distribution else ""
        parameters = dict(self.parameters)
        cut = ""
        if isinstance(parameters.get("k"), int) and not isinstance(parameters["k"], bool) and parameters["k"] >= 0:
            cut = f"@{parameters.pop('k')}"
        inside = ",".join(f"{name}={format_value(value)}" for name, value in parameters.items())
        return f"{prefix}{self.name}{cut}" + (f"[{inside}]" if inside else "")


def format_value(value: Any) -> str:
    """Write a value in the grammar."""
    if isinstance(value, Reference):
        text = str(value)
        return text if text != value.name else f"{text}[]"
    if isinstance(value, Grid):
        return "[" + ",".join(format_value(item) for item in value.values) + "]"
    if isinstance(value, (tuple, list)):
        inside = ",".join(format_value(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, (int, float)):
        if isinstance(value, float) and math.isnan(value):
            raise GrammarError("a parameter cannot be nan")
        return repr(value)
    text = str(value)
    plain = BARE.fullmatch(text) and not NUMBER.fullmatch(text) and text.lower() not in WORDS
    if plain:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def fail(self, expected: str) -> GrammarError:
        rest = self.text[self.at : self.at + 20]
        return GrammarError(
            f"cannot read {shown(self.text)}: expected {expected} at character {self.at + 1}, found"
            f" {repr(rest) if rest else 'the end'}; write name[parameter=value,...]"
        )

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Return the next text if it matches, and go behind it."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match.group() if match else None

    def require(self, pattern: re.Pattern[str], expected: str) -> str:
        text = self.match(pattern)
        if text is None:
            raise self.fail(expected)
        return text

    def take(self, token: str) -> bool:
        return self.match(re.compile(re.escape(token))) is not None

    def reference(self) -> Reference:
        distribution = self.match(DISTRIBUTION)
        name = self.match(PATH) or self.require(NAME, "a plugin's name")
        parameters: dict[str, Any] = {}
        if self.take("@"):
            parameters["k"] = self.whole(self.require(re.compile(r"\d+"), "a whole number after @"))
        if self.take("["):
            for parameter, value in self.items("]", self.parameter):
                if parameter in parameters:
                    raise GrammarError(f"parameter {parameter} appears twice in {shown(self.text)}")
                parameters[parameter] = value
        return Reference(name, parameters, distribution.removesuffix(":") if distribution else None)

    def items(self, close: str, read: Callable[[], Any]) -> Iterator[Any]:
        while not self.take(close):
            yield read()
            if not self.take(",") and not self.text.startswith(close, self.at):
                raise self.fail(f", or {close}")

    def parameter(self) -> tuple[str, Any]:
        name = self.require(PARAMETER, "a parameter's name")
        if not self.take("="):
            raise self.fail(f"= after {name}")
        return name, self.value()

    def whole(self, digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise GrammarError(f"the number {digits[:20]}... in {shown(self.text)} has more than {MOST_DIGITS} digits")
        return int(digits)

    def value(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise GrammarError(f"{shown(self.text)} is nested more than {DEEPEST} deep")
        value = self.nested_value()
        self.depth -= 1
        return value

    def nested_value(self) -> Any:
        if self.take("["):
            return Grid(tuple(self.items("]", self.value)))
        if self.take("("):
            return tuple(self.items(")", self.value))
        if quoted := self.match(QUOTED):
            return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
        if self.text[self.at : self.at + 1] in ('"', "'"):
            raise self.fail(f"a closing {self.text[self.at]}")
        if digits := self.match(NUMBER):
            return self.whole(digits) if re.fullmatch(r"[+-]?\d+", digits) else float(digits)
        start, word = self.at, self.require(BARE, "a value")
        if self.text[self.at : self.at + 1] in ("[", "@", ":"):
            self.at = start
            return self.reference()
        return WORDS.get(word.lower(), word)


def parse(text: str | Mapping[str, Any] | Reference) -> Reference:
    """Parse a text or a mapping (``{"name": "approx_ndcg", "eta": 10}``, as in YAML) into a reference."""
    if isinstance(text, Reference):
        return text
    if isinstance(named := getattr(text, "reference", None), Reference):
        # A loss, sampler or metric stands for its name.
        return named
    if isinstance(text, Mapping):
        return _from_mapping(text)
    if not isinstance(text, str):
        raise GrammarError(f"a plugin is named by a text or a mapping with a name, not by {shown(text)}")
    plugin = _parse_text(text)
    return Reference(plugin.name, plugin.parameters, plugin.distribution)


@functools.lru_cache(maxsize=4096)
def _parse_text(text: str) -> Reference:
    reader = _Reader(text)
    reference = reader.reference()
    if reader.match(re.compile(r"\Z")) is None:
        raise reader.fail("the end")
    return reference


def _from_mapping(mapping: Mapping[str, Any]) -> Reference:
    def inner(value: Any, *, outermost: bool = True) -> Any:
        if isinstance(value, Mapping):
            return _from_mapping(value)
        if isinstance(value, (tuple, list)):
            items = tuple(inner(item, outermost=False) for item in value)
            return Grid(items) if isinstance(value, list) and outermost else items
        return value

    if "name" not in mapping:
        raise GrammarError(f"a mapping that names a plugin needs the key 'name': {shown(mapping)}")
    head = parse(mapping["name"])
    parameters = {name: inner(value) for name, value in mapping.items() if name != "name"}
    for name in parameters:
        if not PARAMETER.fullmatch(str(name)):
            raise GrammarError(f"{shown(name)} is not a parameter's name")
    return Reference(head.name, {**head.parameters, **parameters}, head.distribution)


def expand(reference: str | Mapping[str, Any] | Reference) -> list[Reference]:
    """Expand a reference with grids into all references without, the last grid running fastest."""
    whole = parse(reference)

    def product(rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        if math.prod(map(len, rows)) > MOST_CHOICES:
            raise GrammarError(f"{shown(str(whole))} stands for more than {MOST_CHOICES:,} plugins; name fewer")
        return list(itertools.product(*rows))

    def choices(value: Any) -> list[Any]:
        if isinstance(value, Grid):
            return [choice for item in value.values for choice in choices(item)]
        if isinstance(value, Reference):
            return list(expand(value))
        if isinstance(value, tuple):
            return list(product([choices(item) for item in value]))
        return [value]

    names = list(whole.parameters)
    rows = product([choices(whole.parameters[name]) for name in names])
    return [Reference(whole.name, dict(zip(names, row, strict=True)), whole.distribution) for row in rows]
