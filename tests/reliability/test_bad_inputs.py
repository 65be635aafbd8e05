"""Whatever a user gets wrong is answered by the sentence that the table of bad inputs promises."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rankplug_documentation.bad_inputs import BadInput, bad_inputs, bad_inputs_page, table
from rankplug_documentation.reference_pages.environment import VARIABLES

import rankplug as rp
from rankplug import hookspecs
from rankplug.cli import app
from rankplug.errors import ParameterError, RankplugError
from rankplug.registry import read_parameters, registry
from rankplug.system import notebooks_folder

DOCS = Path(__file__).parents[2] / "docs"
CASES = list(bad_inputs())
OF_OTHERS = re.compile(r"\w+ of (\w+): ")
VALUES_WITHOUT_CHECKS = {"Evaluation", "Split", "Reference", "RankplugError", "Parameters", "hookimpl"}
"""Public names that hold what they are given, or are not rankplug's own."""
OF_AUTHORS = {"MetricParameters", "RankingMetricParameters", "PaddedParameters"}
"""Models of parameters, which are checked where a plugin is named."""


SUGGESTION = re.compile(r"no (\w+) (?:is )?called \S+: did you mean ([\w-]+(?: or [\w-]+)*)")

LISTED = re.compile(r"cannot fit on a cluster; (.+) can$")


def suggested(case: BadInput) -> list[str]:
    """Return kind and name of the plugins that an answer suggests, without which it would suggest others."""
    if listed := LISTED.search(case.says):
        return [f"backend {name}" for name in listed[1].split(" and ")]
    match = SUGGESTION.search(case.says)
    return [f"{match[1].replace('plugin', 'loss')} {name}" for name in match[2].split(" or ")] if match else []


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            marks=pytest.mark.needs(*suggested(case)),
            id=f"{case.entry}-{case.parameter}-{case.given}"[:120],
        )
        for case in CASES
    ],
)
def test_a_bad_input_is_answered_as_promised(case: BadInput, answer: Callable[[str, str], str]) -> None:
    pattern = ".*".join(re.escape(part) for part in case.says.split("..."))
    said = answer(case.section, case.given)
    assert re.fullmatch(pattern, said), f"{case.given}\nsays  {said}\nnot   {case.says}"


def test_every_answer_is_a_sentence_of_rankplug_or_of_scikit_learn_where_its_conventions_rule() -> None:
    for case in CASES:
        assert case.says.strip("."), case.given
        assert not re.search(r"Traceback|no error|unexpected \w+(Error|Exception)", case.says), case.given
        if match := OF_OTHERS.match(case.says):
            assert (match[1], case.entry.partition(".")[0]) == ("sklearn", "Ranker"), case.given


def test_the_page_in_the_tree_is_up_to_date() -> None:
    assert (DOCS / "bad-inputs.md").read_text() == bad_inputs_page(), "run make docs"


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {word}")


def test_every_command_and_option_is_in_the_table() -> None:
    told = table()["shell"]
    for name, command in commands(typer.main.get_command(app), "rankplug"):
        wanted = {
            parameter.opts[0]
            for parameter in command.params
            if not getattr(parameter, "is_flag", False) and "completion" not in parameter.opts[0]
        }
        if wanted or not hasattr(command, "commands"):
            assert wanted <= set(told.get(name, {})), f"{name}: tell of {wanted - set(told.get(name, {}))}"


def test_every_variable_of_the_environment_is_in_the_table() -> None:
    assert set(table()["environment"]) == set(VARIABLES)


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    exports = {name for plugin in registry().plugins("backend") for name in plugin.specification.exports}  # type: ignore[attr-defined]
    for name in sorted({*rp.__all__, *exports} - VALUES_WITHOUT_CHECKS - OF_AUTHORS):
        found = getattr(rp, name)
        yield name, found
        if inspect.isclass(found) and not name.endswith("Specification"):
            for method, function in inspect.getmembers(found):
                own = getattr(function, "__module__", "") or ""
                if not method.startswith("_") and callable(function) and own.startswith("rankplug"):
                    yield f"{name}.{method}", function


METHODS_OF = ("Clicks", "Lists", "Loss", "Metric", "Sampler", "Model", "Ranker", "TorchLoss")
"""Classes whose methods users call; those of others are called by rankplug itself."""


def test_every_public_function_and_argument_is_in_the_table() -> None:
    told = {**table()["python"], **table()["plugin"]}
    every_specification = set(told["every specification"])
    for name, function in public_callables():
        owner, _, method = name.partition(".")
        if method and owner not in METHODS_OF:
            continue
        arguments = set(inspect.signature(function).parameters) - {"self", "cls", "state"}
        missing = arguments - set(told.get(name, {}))
        if name.endswith("Specification"):
            missing -= every_specification
        assert not missing, f"{name}: tell of {missing}"


def test_every_notebook_and_its_parameters_are_in_the_table() -> None:
    told = {name: parameters for names, parameters in table()["notebook"].items() for name in names.split(", ")}
    for path in notebooks_folder().glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        tagged = next(cell for cell in cells if "parameters" in cell["metadata"].get("tags", []))
        wanted = set(re.findall(r"^(\w+) = ", "".join(tagged["source"]), re.MULTILINE))
        assert wanted <= set(told.get(path.name, {})), path.name


def test_every_kind_of_plugin_is_in_the_table() -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("rankplug_") and name.endswith("s")}
    assert len(hooks) == sum(name.endswith("Specification") for name in table()["plugin"])


WRONG = ["nonsense?", -1e9, 1e300, math.nan, -math.inf, (), ("a", "b"), {"a": 1}, None, b"\xff", object(), 1 + 2j]
PARAMETERS = [
    pytest.param(plugin, name, id=f"{plugin.specification} {name}")
    for plugin in registry().plugins()
    for name in plugin.specification.parameters.model_fields
]


@pytest.mark.parametrize(("plugin", "name"), PARAMETERS)
def test_a_wrong_value_of_any_parameter_of_any_plugin_is_refused_by_name(plugin: Any, name: str) -> None:
    specification = plugin.specification
    others = {other: 1 for other, field in specification.parameters.model_fields.items() if field.is_required()}
    answers = []
    for value in WRONG:
        try:
            read_parameters(specification.parameters, {**others, name: value}, str(specification))
        except ParameterError as error:
            answers.append(str(error))
    assert len(answers) >= 3
    assert all(answer.startswith(str(specification)) and name in answer for answer in answers)


@pytest.mark.parametrize("plugin", list(registry().plugins()), ids=lambda plugin: str(plugin.specification))
def test_an_unknown_parameter_of_any_plugin_is_refused_with_a_hint(plugin: Any) -> None:
    specification = plugin.specification
    with pytest.raises(RankplugError, match=f"{specification} has no parameter nonsense"):
        read_parameters(specification.parameters, {"nonsense": 1}, str(specification))
