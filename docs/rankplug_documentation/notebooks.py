"""Tutorials and the ideas of papers as pages: notebooks, executed and shown with their outputs."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from rankplug.studies import study
from rankplug.system import notebooks_folder, thread_environment

SLIDER = "*A slider that moves when the notebook is opened in JupyterLab.*"
WIDGET = "application/vnd.jupyter.widget-view+json"
TABLE = re.compile(r'<table border="\d" class="dataframe">')
STYLES = re.compile(r"<style\b.*?</style>", re.DOTALL)
TUTORIAL_LINK = re.compile(r"\]\((\w+)\.ipynb\)")
DOCUMENT_LINK = "](../../docs/"
RUNS = re.compile(r"^## The runs$", re.MULTILINE)


def tutorial_notebooks() -> list[Path]:
    """Return the tutorials, by name."""
    return sorted((notebooks_folder() / "tutorials").glob("*.ipynb"))


def tutorial_pages() -> dict[str, str | bytes]:
    """Return pages and their pictures by path inside ``docs``."""
    pages: dict[str, str | bytes] = {}
    for path in tutorial_notebooks():
        page = notebook_page(execute(read_notebook(path)), f"tutorials/{path.stem}")
        name = f"tutorials/{path.stem}.md"
        pages |= page | {name: with_links(str(page[name]), f"notebooks/tutorials/{path.name}")}
    return pages


def with_links(text: str, path: str) -> str:
    """Return a notebook's page with links to Colab and Binder, once pyproject.toml names the repository."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    repository = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"].removeprefix(
        "https://github.com/"
    )
    if repository.startswith("OWNER/"):
        return text
    title, _, rest = text.partition("\n")
    colab = f"https://colab.research.google.com/github/{repository}/blob/main/{path}"
    binder = f"https://mybinder.org/v2/gh/{repository}/main?labpath={path}"
    return f"{title}\n\n[Open in Colab]({colab}) · [Open in Binder]({binder})\n{rest}"


def idea_page(name: str) -> dict[str, str | bytes]:
    """Return the part of a study's notebook before its runs, which needs no training, without code."""
    notebook = read_notebook(study(name).notebook_path)
    cells = []
    for cell in notebook.cells[1:]:  # the first cell is the title
        match = RUNS.search(cell.source) if cell.cell_type == "markdown" else None
        if match:
            cells.append({**cell, "source": cell.source[: match.start()].rstrip()})
            break
        if not cell.source.startswith("controls("):
            cells.append(cell)
    idea = type(notebook)({**notebook, "cells": [type(notebook)(cell) for cell in cells]})
    return notebook_page(execute(idea), f"papers/{name}", code=False)


def read_notebook(path: Path) -> Any:
    """Read a notebook."""
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]


def execute(notebook: Any) -> Any:
    """Execute a notebook in a folder of its own with one thread, and return it; an error in a cell stops the build."""
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=600, coalesce_streams=True, resources=resources)
        client.execute(env=os.environ | thread_environment(1))
    return notebook


def notebook_page(notebook: Any, name: str, code: bool = True) -> dict[str, str | bytes]:
    """Return an executed notebook as a page, with its code or without, and its pictures."""
    from nbconvert import MarkdownExporter

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if WIDGET in output.get("data", {}):
                output.data = {"text/markdown": SLIDER if code else ""}
    resources = {"output_files_dir": Path(name).name, "unique_key": "figure"}
    text, files = MarkdownExporter(exclude_input=not code).from_notebook_node(notebook, resources)  # type: ignore[no-untyped-call]
    pictures = {f"{Path(name).parent}/{path}": content for path, content in files["outputs"].items()}
    text = TUTORIAL_LINK.sub(r"](\1.md)", TABLE.sub("<table>", STYLES.sub("", text))).replace(DOCUMENT_LINK, "](../")
    return {f"{name}.md": text, **pictures}


if __name__ == "__main__":
    for path in tutorial_notebooks():
        print(path)
        execute(read_notebook(path))
