"""``rankplug lab``: the notebooks in a folder of one's own, opened in JupyterLab."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from rankplug.errors import RankplugError
from rankplug.system import (
    child_command,
    echo,
    notebooks_folder,
    remove_abandoned,
    results_folder,
    write_whole,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lab")(lab)


def lab(
    folder: Annotated[Path, typer.Argument(help="Where the notebooks go.")] = Path("notebooks"),
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- OPTION...]", help="Options of JupyterLab, such as -- --port 9999 --allow-root."),
    ] = None,
    copy_only: Annotated[bool, typer.Option("--copy-only", help="Without opening JupyterLab.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the notebooks that would be copied.")] = False,
) -> None:
    """Copy the notebooks into a folder, unless they are there already, and open them in JupyterLab."""
    from rankplug.system import require_modules

    passed_on = list(options or ())
    if str(folder).startswith("-"):  # rankplug lab -- --port 9999
        folder, passed_on = Path("notebooks"), [str(folder), *passed_on]
    if not copy_only and not dry_run:
        require_modules("jupyterlab")
    new, there = copy_notebooks(folder, dry_run=dry_run)
    if dry_run:
        for path in new:
            echo(f"would copy {path}")
        return
    unchanged = f" ({len(there)} already present)" if there else ""
    echo(f"copied {len(new)} notebooks into {folder}{unchanged}")
    if not copy_only:
        command = child_command("-m", "jupyterlab", str(folder), *passed_on)
        # The command alone has a safe path: in the environment, notebooks could not import modules beside them. The
        # folder may lie outside of this project; its notebooks use the same store.
        environment = os.environ | {"RANKPLUG_RESULTS": str(results_folder().resolve())}
        raise typer.Exit(subprocess.call(command, env=environment))


PAPERS = Path("papers")
"""The folder of notebooks that come from other packages."""


def copy_notebooks(folder: Path, dry_run: bool = False) -> tuple[list[Path], list[Path]]:
    """Copy every notebook that a folder lacks; return those that are new, and those that were there.

    Notebooks of papers in other packages come too, into the folder ``papers``. What is there is never written over, as
    it may have been changed. A dry run writes nothing.
    """
    from rankplug.studies import studies

    own = notebooks_folder()
    sources = {path.relative_to(own): path for path in sorted(own.rglob("*.ipynb")) if _is_shipped(path, own)}
    for path in (study.notebook_path for study in studies()):
        if not path.is_relative_to(own):
            sources[PAPERS / path.name] = path
    if not dry_run:
        # Also where every notebook is there, so that nothing is written.
        for parent in {(folder / name).parent for name in sources}:
            remove_abandoned(parent)
    new: list[Path] = []
    there: list[Path] = []
    for name, source in sources.items():
        target = folder / name
        if target.exists():
            there.append(target)
            continue
        new.append(target)
        if dry_run:
            continue
        try:
            write_whole(target, source.read_bytes())
        except OSError as error:
            raise RankplugError(
                f"cannot write {target}: {error.strerror or error}; name another folder, as in rankplug lab FOLDER"
            ) from error
    return new, there


def _is_shipped(path: Path, own: Path) -> bool:
    """Tell whether a notebook is one of ours, not a checkpoint that Jupyter left in a checkout."""
    return not any(part.startswith(".") for part in path.relative_to(own).parts)
