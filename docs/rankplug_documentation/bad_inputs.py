"""The table of bad inputs: what a user may get wrong, entry point by entry point, and the sentence that answers.

The table itself is ``bad_inputs.yaml``. Tests give every input in it and compare the answer; the page in the
documentation is written from it. An entry maps each of its parameters to cases, or to the reason why nothing that is
given there can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from rankplug_documentation import parameter_table

SECTIONS = {
    "shell": "On the command line",
    "environment": "Variables of the environment",
    "python": "In Python",
    "notebook": "Parameters of notebooks",
    "plugin": "Plugins of one's own",
    "file": "Files",
}
HEAD = """# Bad inputs

Made by `make docs` from `docs/rankplug_documentation/bad_inputs.yaml`, whose every line the tests try. An error is one
sentence that says what was wrong, where, and what to do; the command line prints it without a traceback, which
`--debug` shows. `...` stands for words that differ from machine to machine.

In these examples `train`, `valid` and `test` are made lists with 136 features, `narrow` lists with 2 features, `holes`
lists with missing values, `X`, `y` and `qid` arrays of a few documents, and `model` what was fitted to `train`. The
files are named after what is wrong with them: `good.txt` is LETOR text, `cut-model.txt` a model whose second half is
missing, `cut-store` a folder of results with such a file.
"""


@dataclass(frozen=True)
class BadInput:
    """An input and its answer.

    Args:
        section: the kind of entry point, a key of ``SECTIONS``.
        entry: the command, function, notebook, hook or file.
        parameter: which of its inputs is wrong.
        given: the command or code.
        says: the whole answer; three dots stand for any text.
    """

    section: str
    entry: str
    parameter: str
    given: str
    says: str


def table() -> dict[str, dict[str, dict[str, Any]]]:
    """Return section, entry point and parameter to cases, or to the reason why there are none."""
    text = resources.files("rankplug_documentation").joinpath("bad_inputs.yaml").read_text(encoding="utf-8")
    content: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return content


def bad_inputs() -> Iterator[BadInput]:
    """Yield every case of the table."""
    for section, entries in table().items():
        for entry, parameters in entries.items():
            for parameter, cases in parameters.items():
                if not isinstance(cases, str):
                    yield from (BadInput(section, entry, parameter, **case) for case in cases)


def write_bad_inputs_page(folder: Path) -> Path:
    """Write ``bad-inputs.md``, and return its path."""
    page = folder / "bad-inputs.md"
    page.write_text(bad_inputs_page(), encoding="utf-8")
    return page


def bad_inputs_page() -> str:
    """Return the text of the page."""
    inputs = list(bad_inputs())
    lines = [HEAD]
    for section, title in SECTIONS.items():
        lines += [f"## {title}", ""]
        for entry in dict.fromkeys(bad_input.entry for bad_input in inputs if bad_input.section == section):
            cases = [bad_input for bad_input in inputs if (bad_input.section, bad_input.entry) == (section, entry)]
            rows = [(_code(case.parameter), _code(case.given), _text(case.says)) for case in cases]
            lines += [f"### `{entry}`", "", *parameter_table.table(("what is wrong", "given", "answer"), rows)]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Format code for a table's cell; lines are shown one below another."""
    lines = [line.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;") for line in text.splitlines()]
    shown = "<br>".join(line.replace(" ", "&nbsp;") if line.startswith(" ") else line for line in lines)
    return f"<code>{shown}</code>"


def _text(text: str) -> str:
    replaced = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    for sign in "\\`*_[]$":
        replaced = replaced.replace(sign, "\\" + sign)
    return replaced
