"""Docstrings begin with a phrase that stands alone; ruff sees to the mood and the period of functions that it knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("rankplug", "plugins", "data_prep", "benchmarks", "docs", "tests")
HANGING = re.compile(
    r"(Of|What|Whether|How|By|That|Where|Who|Whose|Which|When|From|In|On|At|For|As|With|If|Is|Are|Does|Has)\b"
)
NOT_A_VERB = re.compile(r"(A|An|The|One|Two|All|Both|Each|Every|No|None|Some|Those|This|It|Its|Scores|Names)\b|``")
"""First words of a function's docstring that says what the function returns, but not that it returns it."""


def docstrings(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield line and text of each docstring, attributes' included, and whether it is that of a function to call."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        called = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if called:
            decorators = [ast.unparse(one) for one in node.decorator_list]
            called = not node.name.startswith("test_") and not any("property" in decorator for decorator in decorators)
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip(), called


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_phrase_that_stands_alone(folder):
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0] if text else ''}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text, called in docstrings(path)
        if HANGING.match(text) or (called and NOT_A_VERB.match(text))
    ]
    assert not wrong, "\n".join(wrong)
