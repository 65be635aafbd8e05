"""The small study of ``plugins/examples/toy`` as an installed distribution, in this process and in those it starts."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path

TOY = Path(__file__).parents[3] / "plugins" / "examples" / "toy"


def install(folder: Path) -> None:
    """Put the package into a folder where imports look first, with what an installer writes beside it."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TOY / "rankplug_toy", folder / "rankplug_toy", ignore=shutil.ignore_patterns("__pycache__"))
    about = folder / f"rankplug_toy-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = "\n".join(f"{name} = {place}" for name, place in project["entry-points"]["rankplug"].items())
    (about / "entry_points.txt").write_text(f"[rankplug]\n{points}\n")
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
