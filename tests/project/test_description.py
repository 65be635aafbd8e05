"""The description of the distribution, which package indexes show, is README.md without links that lead nowhere."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def description(monkeypatch: pytest.MonkeyPatch) -> str:
    interface: Any = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    specification = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    hook, metadata = module.Readme(), {}
    hook.root = str(ROOT)
    hook.update(metadata)
    assert metadata["readme"]["content-type"] == "text/markdown"
    return str(metadata["readme"]["text"])


def test_no_link_leads_nowhere(description: str) -> None:
    targets = re.findall(r"\]\(([^)]*)\)", description)
    assert all(target.startswith("https://") for target in targets)
    assert "<img" not in description and "<a " not in description


def test_every_file_it_names_is_there(description: str) -> None:
    named = set(re.findall(r"\(`([\w./-]+(?:/[\w-]+|\.md))`\)", description))
    assert len(named) > 10 and {"docs/quickstart.md", "docs/verdicts.md"} <= named
    assert all((ROOT / name).exists() for name in named)


def test_it_is_otherwise_what_the_readme_says(description: str) -> None:
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```.*?```", readme, re.DOTALL)
    assert len(blocks) > 5 and re.findall(r"```.*?```", description, re.DOTALL) == blocks
    assert re.findall(r"^#.*", description, re.MULTILINE) == re.findall(r"^#.*", readme, re.MULTILINE)
    assert "rankplug lab" in description
