"""``rankplug warm`` compiles once what is used, says what it did, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankplug.authoring import Compilation


@pytest.mark.slow
def test_what_is_compiled_once_is_there_for_the_next_process(tmp_path: Path) -> None:
    program = "import sys; from rankplug.cli import main; main()"
    words = [sys.executable, "-c", program, "warm", "mrr", "--json"]

    def compiled() -> list[Compilation]:
        given = {**os.environ, "RANKPLUG_CACHE": str(tmp_path)}
        done = subprocess.run(words, capture_output=True, text=True, env=given, check=True)
        return [Compilation(**one) for one in json.loads(done.stdout)]

    (first,) = compiled()
    forms = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    (second,) = compiled()
    assert first.kept and not second.kept and second.seconds < first.seconds
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == forms
