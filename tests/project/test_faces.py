"""Packages are used through what they export: everything deeper may change without a word."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted({path.parent.name for path in (ROOT / "rankplug").glob("*/__init__.py")} - {"cli"})
IMPORT = re.compile(r"^\s*(?:from rankplug\.([\w.]+) import|import rankplug\.([\w.]+))", re.MULTILINE)


def python_of(path: Path) -> str:
    """Return the Python text in a module, a template or the cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def users() -> list[Path]:
    """Return files outside the library that use it, and the templates of those to come."""
    folders = ("plugins", "data_prep", "benchmarks", "docs/rankplug_documentation")
    python = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    templates = list((ROOT / "rankplug/authoring/templates").rglob("*.template"))
    notebooks = [path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    return sorted([*python, *templates, *notebooks])


@pytest.mark.parametrize("path", users(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_not_the_library_imports_only_its_faces(path):
    deep = [package or other for package, other in IMPORT.findall(python_of(path)) if "." in (package or other)]
    assert not deep, f"import these from rankplug.{deep[0].split('.')[0]}, which must export them"


def inner_modules() -> list[Path]:
    return sorted(path for path in (ROOT / "rankplug").glob("*/**/*.py") if "templates" not in path.parts)


@pytest.mark.parametrize("path", inner_modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_uses_others_through_their_faces(path):
    own = path.relative_to(ROOT / "rankplug").parts[0]
    deep = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").count(".") > 1:
            package = (node.module or "").split(".")[1]
            if (node.module or "").startswith("rankplug.") and package != own:
                deep.append(node.module)
    assert not deep


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_there(package):
    face = importlib.import_module(f"rankplug.{package}")
    assert face.__all__, "a package says what it exports"
    for name in face.__all__:
        assert getattr(face, name) is not None


def test_no_folder_has_more_than_14_modules_and_the_library_22_entries():
    tops = ("rankplug", "plugins", "data_prep", "benchmarks", "docs", "tests")
    modules = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    counts = Counter(path.parent for path in modules)
    assert not {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > 14}
    assert len({path.name for path in (ROOT / "rankplug").iterdir()} - {"__pycache__"}) <= 22


def test_the_picture_of_the_layers_is_up_to_date():
    from rankplug_documentation.pictures.layers import layers, layers_picture

    assert (ROOT / "docs/images/layers.svg").read_text(encoding="utf-8") == layers_picture()
    assert {package for layer in layers() for package in layer} >= set(PACKAGES)
