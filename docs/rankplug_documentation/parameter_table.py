"""Tables in Markdown; among them a plugin's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankplug.registry import Parameters, describe_parameters
from rankplug.store import markdown_table


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table and an empty one, or nothing for a table without rows."""
    cells = list(rows)
    return [*markdown_table(head, cells).splitlines(), ""] if cells else []


def parameter_table(model: type[Parameters]) -> list[str]:
    """Return the lines of a table of name, type, default and meaning of each parameter."""
    return table(
        ["parameter", "type", "default", ""],
        (
            (
                f"`{parameter['name']}`",
                parameter["type"],
                "required" if parameter["required"] else _default(parameter["default"]),
                parameter["description"],
            )
            for parameter in describe_parameters(model)
        ),
    )


def _default(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) or value is None else value}`"
