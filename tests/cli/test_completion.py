"""A shell completes commands, options and the names of plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankplug.registry import registry


@pytest.mark.parametrize(
    ("line", "kind"),
    [("train synthetic --loss ", "loss"), ("train ", "dataset"), ("reproduce ", "study"), ("data info ", "dataset")],
)
def test_names_of_a_kind_are_completed(line: str, kind: str) -> None:
    words = f"rankplug {line}"
    number = len(words.split(" ")) - 1
    asked = {"_RANKPLUG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    program = Path(sys.executable).parent / "rankplug"
    done = subprocess.run([program], capture_output=True, text=True, env=os.environ | asked, check=False)
    assert set(done.stdout.split()) == {plugin.specification.name for plugin in registry().plugins(kind)}
