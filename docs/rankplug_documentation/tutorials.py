"""The tutorials of ``notebooks/tutorials`` as pages, each executed and shown with what it printed and drew."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from rankplug.system import notebooks_folder, thread_environment

SLIDER = "*A slider that moves when the notebook is opened in JupyterLab.*"
WIDGET = "application/vnd.jupyter.widget-view+json"
TABLE = re.compile(r'<table border="\d" class="dataframe">')
LINK = re.compile(r"\]\((\w+)\.ipynb\)")
"""A link from one tutorial to another, as a notebook has it."""
PAGE = "](../../docs/"
"""Beginning of a link from a tutorial to a page of the documentation."""
STYLES = re.compile(r"<style\b.*?</style>", re.DOTALL)


def tutorial_notebooks() -> list[Path]:
    """Return the notebooks, by name."""
    return sorted((notebooks_folder() / "tutorials").glob("*.ipynb"))


def tutorial_pages() -> dict[str, str | bytes]:
    """Return pages in Markdown and their pictures, by path inside ``docs``."""
    pages: dict[str, str | bytes] = {}
    for notebook in tutorial_notebooks():
        pages |= notebook_page(executed(read_notebook(notebook)), f"tutorials/{notebook.stem}")
    return pages


def read_notebook(path: Path) -> Any:
    """Read a notebook."""
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]


def executed(notebook: Any) -> Any:
    """Execute a notebook in a folder of its own, and return it; an error in a cell stops the build.

    One thread is faster than several on data as small as theirs.
    """
    from nbclient import NotebookClient
    from rankplug_jupyter.provisioner import ForkedKernelManager

    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=600,
            coalesce_streams=True,
            kernel_manager_class=ForkedKernelManager,
            resources={"metadata": {"path": folder}},
        )
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
    text, found = MarkdownExporter(exclude_input=not code).from_notebook_node(notebook, resources)  # type: ignore[no-untyped-call]
    pictures = {f"{Path(name).parent}/{path}": content for path, content in found["outputs"].items()}
    text = LINK.sub(r"](\1.md)", TABLE.sub("<table>", STYLES.sub("", text))).replace(PAGE, "](../")
    return {f"{name}.md": text, **pictures}


if __name__ == "__main__":
    for notebook in tutorial_notebooks():
        print(notebook)
        executed(read_notebook(notebook))
