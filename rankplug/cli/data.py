"""``rankplug data``: what data sets there are, and how to get, prepare and verify them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from rankplug.errors import DataError
from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    from rankplug.data import StoredDataset

app = typer.Typer(help="List, fetch, prepare and verify data sets.", no_args_is_help=True, rich_markup_mode=None)

STATES = {"prepared": "green", "found": "green", "made when loaded": "green", "manual download": "yellow"}
"""State of a data set -> its style in terminals."""
Name = Annotated[str, typer.Argument(help="A data set, with its parameters if any.")]
DryOption = Annotated[
    bool, typer.Option("--dry-run", help="Only show, as info does, where the data are or would come from.")
]
JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_(as_json: JSONOption = False) -> None:
    """List all data sets, and which are on this machine."""
    from rankplug.registry import registry

    known = [plugin.specification for plugin in registry().plugins("dataset")]
    if as_json:
        listing = [{**dataset.describe(), "state": _state(dataset)} for dataset in known]
        emit(json.dumps(listing, indent=2, default=str))
        return
    rows = [(dataset.name, (state := _state(dataset), STATES.get(state, "")), dataset.summary) for dataset in known]
    echo_table(("data set", "state", "what it is"), rows)


@app.command()
def get(
    name: Name,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="You have read the licence and accept it.")
    ] = False,
    dry_run: DryOption = False,
    as_json: JSONOption = False,
) -> None:
    """Fetch the files of a data set."""
    dataset, parameters = _stored(name)
    if dry_run:
        _show(name, dataset.info(parameters), as_json)
        return
    _show(name, dataset.get(parameters, accept_licence=accept_licence), as_json)


@app.command()
def prepare(
    name: Name,
    source: Annotated[Path | None, typer.Option(help="An archive, folder or file to take instead.")] = None,
    on_error: Annotated[str, typer.Option(help="raise, or skip to leave broken lines out.")] = "raise",
    dry_run: DryOption = False,
    as_json: JSONOption = False,
) -> None:
    """Read a data set once and keep it as arrays, from what lies in RANKPLUG_DATA or has been fetched."""
    if on_error not in ("raise", "skip"):
        raise typer.BadParameter(f"--on-error is raise or skip, not {on_error}")
    dataset, parameters = _stored(name)
    if dry_run:
        _show(name, dataset.info(parameters), as_json)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        text = dataset.prepare(parameters, source=source, on_error=cast(Literal["raise", "skip"], on_error))
    _show(name, text, as_json)


@app.command("check-links")
def check_links(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets; all that can be fetched by default.")] = None,
    as_json: JSONOption = False,
) -> None:
    """Ask every address of a data set whether it has the file, which is not fetched."""
    from rankplug.registry import registry

    wanted = names or [plugin.specification.name for plugin in registry().plugins("dataset")]
    answers = []
    for name in wanted:
        specification, parameters = registry().resolve("dataset", name) if names else _without_parameters(name)
        ask = None if parameters is None else getattr(specification.load(), "check_links", None)
        links = ask(parameters) if ask is not None else []
        if names and not links:
            raise DataError(f"dataset {name} has no address to fetch it from")
        for url, problem in links:
            answers.append({"dataset": name, "address": url, "problem": problem})
            if not as_json:
                echo(f"{name:14} {problem or 'answers'}: {url}", colour="yellow" if problem else None)
    if as_json:
        emit(json.dumps(answers, indent=2))
    if dead := sum(bool(answer["problem"]) for answer in answers):
        raise DataError(f"{dead} addresses do not answer with a file; RANKPLUG_MIRRORS names others, tried in turn")


def _without_parameters(name: str) -> tuple[Any, Any]:
    """Return a data set's specification with its defaults; None for these where it needs some."""
    from rankplug.registry import registry

    specification = registry().find("dataset", name).specification
    needs = any(field.is_required() for field in specification.parameters.model_fields.values())
    return specification, None if needs else specification.parameters()


@app.command()
def info(name: Name, as_json: JSONOption = False) -> None:
    """Show where a data set comes from, what may be done with it, and what is here."""
    dataset, parameters = _stored(name)
    _show(name, dataset.info(parameters), as_json)


@app.command()
def verify(name: Name, as_json: JSONOption = False) -> None:
    """Read prepared data again and compare them with what they should be."""
    dataset, parameters = _stored(name)
    text, problems = dataset.verify(parameters)
    _show(name, text, as_json, problems=problems)
    if problems:
        raise DataError("; ".join(problems))
    if not as_json:
        echo("verified")


def _show(name: str, text: str, as_json: bool, **more: Any) -> None:
    """Print what a data set tells, warnings in another colour, or all of it as JSON."""
    lines = text.splitlines()
    if as_json:
        plain = [line for line in lines if not line.startswith("warning:")]
        warned = [line.removeprefix("warning:").strip() for line in lines if line.startswith("warning:")]
        told = {"dataset": name, "lines": plain, "warnings": warned, **more}
        emit(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for line in lines:
        warning = line.startswith("warning:")
        echo(line, colour="yellow" if warning else None, error=warning)


def _stored(name: str) -> tuple[StoredDataset, Any]:
    from rankplug.data import StoredDataset
    from rankplug.registry import registry

    specification, parameters = registry().resolve("dataset", name)
    dataset = specification.load()
    if not isinstance(dataset, StoredDataset):
        raise DataError(f"dataset {specification.name} is made when it is loaded; there is nothing to fetch or prepare")
    return dataset, parameters


def _state(specification: Any) -> str:
    from rankplug.data import StoredDataset

    if any(field.is_required() for field in specification.parameters.model_fields.values()):
        return "needs parameters"
    dataset = specification.load()
    return dataset.state(specification.parameters()) if isinstance(dataset, StoredDataset) else "made when loaded"
