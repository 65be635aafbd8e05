"""``rankplug doctor``, ``warm`` and ``lab``: what works on this machine, compilation ahead, and the notebooks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from rankplug.cli._options import DryRunOption, JSONOption, plugin_option
from rankplug.errors import RankplugError
from rankplug.system import (
    Cell,
    child_command,
    echo,
    echo_table,
    emit,
    interruptible,
    notebooks_folder,
    require_modules,
    results_folder,
    write_whole,
)

PAPERS = Path("papers")
"""Folder of the notebooks of other packages."""


def doctor(as_json: JSONOption = False) -> None:
    """Show versions, threads, folders, usable backends and failed plugins; exit with 1 if there are problems."""
    from rankplug.authoring import examine

    diagnosis = examine()
    if as_json:
        emit(diagnosis.describe())
        raise typer.Exit(1 if diagnosis.problems else 0)
    echo_table(("versions", ""), diagnosis.versions.items())
    others = "the machine is idle"
    if diagnosis.busy:
        others = f"other programs keep {diagnosis.busy} threads busy, so fits and sweeps use fewer"
    echo(f"\nthreads\n  {diagnosis.threads} of {diagnosis.cores} cores; {others}")
    echo(f"  waiting threads: {', '.join(f'{name}={value}' for name, value in diagnosis.waiting.items())}\n")
    works: Cell = ("works", "green")
    backends = [(backend.name, works if backend.works else (backend.reason, "red")) for backend in diagnosis.backends]
    echo_table(("backends", ""), backends)
    if diagnosis.others:
        plugins = [(name, (problem, "red") if problem else works) for name, problem in diagnosis.others.items()]
        echo("")
        echo_table(("third-party plugins", ""), plugins)
    for remark in diagnosis.remarks:
        echo(f"remark: {remark}", colour="yellow", error=True)
    folders = []
    for folder in diagnosis.folders:
        existence = "exists" if folder.exists else "not created yet"
        state = [folder.why, existence, "writable" if folder.writable else "read-only"]
        folders.append((folder.purpose, str(folder.path), ", ".join(filter(None, state)), folder.variable))
    echo("")
    echo_table(("folders", "path", "state", "variable"), folders)
    for problem in diagnosis.problems:
        echo(f"problem: {problem}", colour="red", error=True)
    if diagnosis.problems:
        raise typer.Exit(1)
    echo("no problems")


def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Losses, samplers and metrics; all compiled ones by default."),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        plugin_option("sampler", "Also compile the losses' expectation under this sampler, such as gumbel."),
    ] = None,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Compile losses, samplers and metrics now instead of at first use."""
    from rankplug.authoring import Compilation, compile_ahead, to_compile

    waiting = to_compile(names or (), sampler or ())
    if dry_run:
        columns = ("kind", "name", "sampler")
        rows = [tuple(str(getattr(entry, column)) for column in columns) for entry in waiting]
        if as_json:
            emit([dict(zip(columns, row, strict=True)) for row in rows])
        else:
            echo_table(columns, rows)
        return
    done: list[Compilation] = []
    with interruptible(lambda: f"{len(done)} of {len(waiting)} are compiled"):
        for compiled in compile_ahead(waiting):
            done.append(compiled)
            if compiled.problem:
                echo(f"{compiled}: {compiled.problem}", colour="red", error=True)
            elif not as_json:
                echo(f"{compiled}: {f'compiled in {compiled.seconds:.1f} s' if compiled.kept else 'already compiled'}")
    if as_json:
        emit([compiled.describe() for compiled in done])
    if any(compiled.problem for compiled in done):
        raise typer.Exit(1)


def lab(
    folder: Annotated[Path, typer.Argument(help="Folder of the notebooks.")] = Path("notebooks"),
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- OPTION...]", help="Options of JupyterLab, such as -- --port 9999 --allow-root."),
    ] = None,
    copy_only: Annotated[bool, typer.Option("--copy-only", help="Do not open JupyterLab.")] = False,
    dry_run: DryRunOption = False,
) -> None:
    """Copy the notebooks into a folder, and open them in JupyterLab; existing ones stay unchanged."""
    arguments = list(options or ())
    if str(folder).startswith("-"):  # rankplug lab -- --port 9999
        folder, arguments = Path("notebooks"), [str(folder), *arguments]
    if not copy_only and not dry_run:
        require_modules("jupyterlab")
    sources = _notebooks()
    new = {name: source for name, source in sources.items() if not (folder / name).exists()}
    if dry_run:
        for name in new:
            echo(f"would copy {folder / name}")
        return
    for name, source in new.items():
        try:
            write_whole(folder / name, source.read_bytes())
        except OSError as error:
            raise RankplugError(
                f"cannot write {folder / name}: {error.strerror or error}; name another folder, as in"
                " rankplug lab FOLDER"
            ) from error
    unchanged = f" ({len(sources) - len(new)} already present)" if len(new) < len(sources) else ""
    echo(f"copied {len(new)} notebooks into {folder}{unchanged}")
    if not copy_only:
        command = child_command("-m", "jupyterlab", str(folder), *arguments)
        # The command alone has a safe path: in the environment, notebooks could not import modules beside them. The
        # folder may lie outside of this project; its notebooks use the same store.
        environment = os.environ | {"RANKPLUG_RESULTS": str(results_folder().resolve())}
        raise typer.Exit(subprocess.call(command, env=environment))


def _notebooks() -> dict[Path, Path]:
    """Return the path in the user's folder -> the file of each notebook, also of papers in other packages."""
    from rankplug.studies import studies

    own = notebooks_folder()
    relative = {path.relative_to(own): path for path in sorted(own.rglob("*.ipynb"))}
    # Jupyter leaves checkpoints in a checkout.
    sources = {name: path for name, path in relative.items() if not any(part.startswith(".") for part in name.parts)}
    papers = (study.notebook_path for study in studies())
    return sources | {PAPERS / path.name: path for path in papers if not path.is_relative_to(own)}
