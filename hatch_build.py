"""Metadata of the distribution: its URLs, and README.md without links that a package index cannot follow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

FIGURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n\*[^*]+\*\n\n")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
WHERE = (
    "\nFiles in brackets come with the source distribution; `rankplug lab` opens the notebooks of an installed one.\n"
)


class Readme(MetadataHookInterface):
    """Hatch's hook for the metadata of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description and the URLs."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_relative_links(text)}
        repository = self.config["repository"]
        metadata["urls"] = {
            "Repository": repository,
            "Issues": f"{repository}/issues",
            "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        }


def without_relative_links(text: str) -> str:
    """Return Markdown without figures that lie beside it, and with links to files as their text and, once, path."""
    named: set[str] = set()

    def plain(link: re.Match[str]) -> str:
        words, path = link[1], link[2]
        if not path or path in named:
            return words
        named.add(path)
        return f"{words} (`{path}`)"

    return LINK.sub(plain, FIGURE.sub("", text)) + WHERE
