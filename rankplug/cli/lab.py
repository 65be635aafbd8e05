"""``rankplug lab``: the notebooks in a folder of one's own, opened in JupyterLab."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import child_command, child_environment, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lab")(lab)


def lab(
    folder: Annotated[Path, typer.Argument(help="Where the notebooks go.")] = Path("notebooks"),
    copy_only: Annotated[bool, typer.Option("--copy-only", help="Without opening JupyterLab.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the notebooks that would be copied.")] = False,
) -> None:
    """Copy the notebooks into a folder, unless they are there already, and open them in JupyterLab."""
    from rankplug.authoring import copy_notebooks
    from rankplug.system import require_modules

    if not copy_only and not dry_run:
        require_modules("jupyterlab")
    new, there = copy_notebooks(folder, dry_run=dry_run)
    if dry_run:
        for path in new:
            say(f"would copy {path}")
        return
    kept = f"; {len(there)} were there and are as they were" if there else ""
    say(f"{len(new)} notebooks copied into {folder}{kept}")
    if not copy_only:
        raise typer.Exit(subprocess.call(child_command("-m", "jupyterlab", str(folder)), env=child_environment()))
