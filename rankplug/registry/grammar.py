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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankplug.errors import GrammarError, shown

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DISTRIBUTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf")
BARE = re.compile(r"[^\s,=\[\]()\"'@:]+")
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
        following = f"{rest!r}" if rest else "the end"
        return GrammarError(
            f"cannot read {shown(self.text)}: expected {expected} at character {self.at + 1}, found {following};"
            " write name[parameter=value,...]"
        )

    def space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, token: str) -> bool:
        self.space()
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def match(self, pattern: re.Pattern[str], expected: str) -> str:
        self.space()
        match = pattern.match(self.text, self.at)
        if not match:
            raise self.fail(expected)
        self.at = match.end()
        return match.group()

    def reference(self) -> Reference:
        self.space()
        start, distribution = self.at, None
        match = DISTRIBUTION.match(self.text, self.at)
        if match and self.text.startswith(":", match.end()):
            distribution, self.at = match.group(), match.end() + 1
        else:
            self.at = start
        path = BARE.match(self.text, self.at)
        is_path = path is not None and ("." in path[0] or "/" in path[0]) and path[0][0] not in "-+"
        name = self.match(BARE if is_path else NAME, "a plugin's name")
        parameters: dict[str, Any] = {}
        if self.take("@"):
            parameters["k"] = self.whole(self.match(re.compile(r"\d+"), "a whole number after @"))
        if self.take("["):
            self.parameters(parameters)
        return Reference(name, parameters, distribution)

    def parameters(self, into: dict[str, Any]) -> None:
        if self.take("]"):
            return
        while True:
            name = self.match(PARAMETER, "a parameter's name")
            if name in into:
                raise GrammarError(f"parameter {name} appears twice in {shown(self.text)}")
            if not self.take("="):
                raise self.fail(f"= after {name}")
            into[name] = self.value()
            if self.take("]"):
                return
            if not self.take(","):
                raise self.fail(", or ]")
            if self.take("]"):
                return

    def whole(self, digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise GrammarError(f"the number {digits[:20]}... in {shown(self.text)} has more than {MOST_DIGITS} digits")
        return int(digits)

    def value(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise GrammarError(f"{shown(self.text)} is nested more than {DEEPEST} deep")
        try:
            return self._value()
        finally:
            self.depth -= 1

    def _value(self) -> Any:
        self.space()
        if self.take("["):
            return Grid(tuple(self.items("]")))
        if self.take("("):
            return tuple(self.items(")"))
        if self.at < len(self.text) and self.text[self.at] in "\"'":
            return self.quoted()
        match = NUMBER.match(self.text, self.at)
        if match and not BARE.match(self.text, match.end()) and not self.text.startswith(":", match.end()):
            self.at = match.end()
            digits = match.group()
            return self.whole(digits) if re.fullmatch(r"[+-]?\d+", digits) else float(digits)
        word = self.match(BARE, "a value")
        if self.at < len(self.text) and self.text[self.at] in "[@:":
            self.at -= len(word)
            return self.reference()
        return WORDS.get(word.lower(), word)

    def items(self, close: str) -> Iterator[Any]:
        while not self.take(close):
            yield self.value()
            if not self.take(",") and not self.text.startswith(close, self.at):
                raise self.fail(f", or {close}")

    def quoted(self) -> str:
        quote, begin = self.text[self.at], self.at
        self.at += 1
        letters: list[str] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == quote:
                return "".join(letters)
            if letter == "\\" and self.at < len(self.text):
                letter = self.text[self.at]
                self.at += 1
            letters.append(letter)
        self.at = begin
        raise self.fail(f"a closing {quote}")


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
    reader.space()
    if reader.at != len(text):
        raise reader.fail("the end")
    return reference


def _from_mapping(mapping: Mapping[str, Any], depth: int = 0) -> Reference:
    if depth > DEEPEST:
        raise GrammarError(f"{shown(mapping)} is nested more than {DEEPEST} deep")
    entries = dict(mapping)
    try:
        head = parse(entries.pop("name"))
    except KeyError:
        raise GrammarError(f"a mapping that names a plugin needs the key 'name': {shown(mapping)}") from None

    left = MOST_CHOICES

    def inner(value: Any, *, level: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or level > DEEPEST:
            raise GrammarError(f"{shown(mapping)} is too large or nested too deep to name a plugin")
        if isinstance(value, Mapping):
            return _from_mapping(value, depth + level)
        if isinstance(value, (tuple, list)):
            items = tuple(inner(item, level=level + 1) for item in value)
            return Grid(items) if isinstance(value, list) and level == 1 else items
        return value

    for name in entries:
        if not PARAMETER.fullmatch(str(name)):
            raise GrammarError(f"{shown(name)} is not a parameter's name")
    values = {name: inner(value, level=1) for name, value in entries.items()}
    return Reference(head.name, {**head.parameters, **values}, head.distribution)


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
