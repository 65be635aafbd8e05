"""The folder ``reference``: plugins, Python, commands, hooks and environment variables, made from the code."""

from __future__ import annotations

from pathlib import Path

from rankplug_documentation.reference_pages.commands import commands_page
from rankplug_documentation.reference_pages.environment import environment_page
from rankplug_documentation.reference_pages.hooks import hooks_page
from rankplug_documentation.reference_pages.plugins import plugins_page
from rankplug_documentation.reference_pages.python_names import python_page


def reference_pages(docs: Path) -> dict[Path, str]:
    """Return the text of each page; the Makefile lies beside the folder."""
    folder = docs / "reference"
    return {
        folder / "plugins.md": plugins_page(),
        folder / "python.md": python_page(),
        folder / "commands.md": commands_page(docs.parent / "Makefile"),
        folder / "hooks.md": hooks_page(),
        folder / "environment.md": environment_page(),
    }


def write_reference(docs: Path) -> None:
    """Write the pages."""
    for path, text in reference_pages(docs).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
