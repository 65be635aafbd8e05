"""The tutorials of ``notebooks/tutorials`` as pages, each executed and shown with what it printed and drew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rankplug.places import notebooks_folder

STYLES = re.compile(r"<style\b.*?</style>", re.DOTALL)


def tutorial_notebooks() -> list[Path]:
    """The notebooks, by name."""
    return sorted((notebooks_folder() / "tutorials").glob("*.ipynb"))


def tutorial_pages() -> dict[str, str | bytes]:
    """Pages in Markdown and their pictures, by path inside ``docs``."""
    pages: dict[str, str | bytes] = {}
    for notebook in tutorial_notebooks():
        pages |= notebook_page(executed(notebook), f"tutorials/{notebook.stem}")
    return pages


def executed(path: Path) -> Any:
    """A notebook after its cells ran, in a folder of its own; an error in a cell stops the build."""
    import tempfile

    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return notebook


def notebook_page(notebook: Any, name: str) -> dict[str, str | bytes]:
    """One executed notebook as a page and its pictures."""
    from nbconvert import MarkdownExporter

    resources = {"output_files_dir": Path(name).name, "unique_key": "figure"}
    text, found = MarkdownExporter().from_notebook_node(notebook, resources)  # type: ignore[no-untyped-call]
    pictures = {f"tutorials/{path}": content for path, content in found["outputs"].items()}
    return {f"{name}.md": STYLES.sub("", text), **pictures}
