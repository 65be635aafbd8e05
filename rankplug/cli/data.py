"""``rankplug data``: which data sets there are, and how to get, prepare and verify them."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import DryRunOption, JSONOption, plugin_argument
from rankplug.errors import DataError
from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    from rankplug.data import StoredDataset

app = typer.Typer(
    name="data", help="List, fetch, prepare and verify data sets.", no_args_is_help=True, rich_markup_mode=None
)

STATES = {"prepared": "green", "found": "green", "made when loaded": "green", "manual download": "yellow"}
"""State of a data set -> its style in terminals."""
Name = Annotated[str, plugin_argument("dataset", "Data set, with its parameters if any.")]


class OnError(StrEnum):
    """What to do with lines that cannot be read."""

    RAISE = "raise"
    SKIP = "skip"


@app.command("list")
def list_(as_json: JSONOption = False) -> None:
    """List all data sets, and which are on this machine."""
    from rankplug.registry import registry

    datasets = [(plugin.specification, _state(plugin.specification)) for plugin in registry().plugins("dataset")]
    if as_json:
        emit([{**dataset.describe(), "state": state} for dataset, state in datasets])
        return
    rows = [(dataset.name, (state, STATES.get(state, "")), dataset.summary) for dataset, state in datasets]
    echo_table(("data set", "state", "summary"), rows)


def _state(specification: Any) -> str:
    from rankplug.data import StoredDataset

    if _needs_parameters(specification):
        return "needs parameters"
    dataset = specification.load()
    return dataset.state(specification.parameters()) if isinstance(dataset, StoredDataset) else "made when loaded"


def _needs_parameters(specification: Any) -> bool:
    return any(field.is_required() for field in specification.parameters.model_fields.values())


@app.command()
def get(
    name: Name,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="Confirm that you have read and accept the licence.")
    ] = False,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Fetch the files of a data set."""
    dataset, parameters = _stored(name)
    text = dataset.info(parameters) if dry_run else dataset.get(parameters, accept_licence=accept_licence)
    _show(name, text, as_json)


@app.command()
def prepare(
    name: Name,
    source: Annotated[Path | None, typer.Option(help="Archive, folder or file to read instead.")] = None,
    on_error: Annotated[OnError, typer.Option(help="Stop at lines that cannot be read, or skip them.")] = OnError.RAISE,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Read a data set from RANKPLUG_DATA or fetched files, and store it as arrays."""
    dataset, parameters = _stored(name)
    if dry_run:
        text = dataset.info(parameters)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            text = dataset.prepare(parameters, source=source, on_error=on_error.value)
    _show(name, text, as_json)


@app.command("check-links")
def check_links(
    names: Annotated[list[str] | None, plugin_argument("dataset", "Data sets; by default all downloadable.")] = None,
    as_json: JSONOption = False,
) -> None:
    """Check every download address of a data set, without fetching the files."""
    from rankplug.registry import registry

    answers = []
    for name in names or [plugin.specification.name for plugin in registry().plugins("dataset")]:
        specification = registry().specification("dataset", name)
        check = None
        if names or not _needs_parameters(specification):
            check = getattr(specification.load(), "check_links", None)
        links = check(registry().resolve("dataset", name)[1]) if check is not None else []
        if names and not links:
            raise DataError(f"dataset {name} has no download address")
        for url, problem in links:
            answers.append({"dataset": name, "address": url, "problem": problem})
            if not as_json:
                echo(f"{name:14} {problem or 'answers'}: {url}", colour="yellow" if problem else None)
    if as_json:
        emit(answers)
    if dead := sum(bool(answer["problem"]) for answer in answers):
        raise DataError(f"{dead} addresses do not answer with a file; set RANKPLUG_MIRRORS to try others")


@app.command()
def info(name: Name, as_json: JSONOption = False) -> None:
    """Show where a data set comes from, its terms of use, and what is on this machine."""
    dataset, parameters = _stored(name)
    _show(name, dataset.info(parameters), as_json)


@app.command()
def verify(name: Name, as_json: JSONOption = False) -> None:
    """Compare prepared data with their digests."""
    dataset, parameters = _stored(name)
    text, problems = dataset.verify(parameters)
    _show(name, text, as_json, problems=problems)
    if problems:
        raise DataError("; ".join(problems))
    if not as_json:
        echo("verified")


def _show(name: str, text: str, as_json: bool, **more: Any) -> None:
    """Print the description of a data set, warnings in another colour, or all of it as JSON."""
    lines = text.splitlines()
    warned = [line for line in lines if line.startswith("warning:")]
    if as_json:
        plain = [line for line in lines if line not in warned]
        messages = [line.removeprefix("warning:").strip() for line in warned]
        emit({"dataset": name, "lines": plain, "warnings": messages, **more})
        return
    for line in lines:
        echo(line, colour="yellow" if line in warned else None, error=line in warned)


def _stored(name: str) -> tuple[StoredDataset, Any]:
    from rankplug.data import StoredDataset
    from rankplug.registry import registry

    specification, parameters = registry().resolve("dataset", name)
    dataset = specification.load()
    if not isinstance(dataset, StoredDataset):
        raise DataError(f"dataset {specification.name} is generated when it is loaded; there is nothing to prepare")
    return dataset, parameters
