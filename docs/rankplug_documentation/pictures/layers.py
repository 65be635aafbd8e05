"""The picture of the library's layers, drawn from what import-linter holds and what each package says of itself."""

from __future__ import annotations

import ast
import html
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
WIDTH, HEIGHT, GAP = 1000, 34, 6
STYLE = ".box{fill:#e8eef4;stroke:#555;stroke-width:1.2}text{fill:#222}.name{font-weight:bold}.note{fill:#444}"


def layers() -> list[list[str]]:
    """Return the packages of each layer, from the top one to the bottom one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [rules for rules in settings["tool"]["importlinter"]["contracts"] if rules["type"] == "layers"]
    return [layer.split(" | ") for layer in contract["layers"]]


def sentence(package: str) -> str:
    """Return what a package or module says of itself in the first line of its docstring."""
    folder = ROOT / "rankplug" / package
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0]


def layers_picture() -> str:
    """Return the picture as SVG: a row a layer, each importing only from the rows below."""
    rows = layers()
    height = len(rows) * (HEIGHT + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title"'
        ' font-family="Helvetica, Arial, sans-serif" font-size="14">',
        '<title id="title">The layers of rankplug; each imports only what stands below it</title>',
        f'<style>{STYLE}</style><rect width="{WIDTH}" height="{height}" rx="8" fill="#fbfbf8"/>',
    ]
    for row, packages in enumerate(rows):
        top, width = GAP + row * (HEIGHT + GAP), (WIDTH - GAP) / len(packages)
        for column, package in enumerate(packages):
            left = GAP + column * width
            said = sentence(package).replace("``", "")
            if len(packages) > 1:
                said = re.split("[,:] ", said.removeprefix(f"{package.capitalize()}: "))[0]
            parts.append(
                f'<rect class="box" x="{left:g}" y="{top}" width="{width - GAP:g}" height="{HEIGHT}" rx="6"/>'
                f'<text x="{left + 12:g}" y="{top + 22}"><tspan class="name">{package}</tspan>'
                f'<tspan class="note" dx="14">{html.escape(said)}</tspan></text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def write_layers_picture(docs: Path) -> None:
    """Write the picture into a folder of pages."""
    (docs / "images" / "layers.svg").write_text(layers_picture(), encoding="utf-8")
