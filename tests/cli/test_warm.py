"""``rankplug warm`` compiles once what is used, says what it did, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankplug.authoring import Compilation
from rankplug.cli import app
from rankplug.errors import RankplugError


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["warm", *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def test_a_dry_run_lists_what_is_compiled_and_not_what_is_an_expression() -> None:
    every = [(one["kind"], one["name"]) for one in json.loads(run("--dry-run", "--json"))]
    assert {("loss", "lambdarank"), ("sampler", "gumbel"), ("metric", "ndcg")} <= set(every)
    assert ("loss", "neural_sort") not in every and len(every) == len(set(every))
    chosen = json.loads(run("lambdarank", "ndcg@5", "--sampler", "gumbel", "--dry-run", "--json"))
    assert [tuple(one.values()) for one in chosen] == [
        ("loss", "lambdarank", ""),
        ("loss", "lambdarank", "gumbel"),
        ("metric", "ndcg@5", ""),
    ]
    with pytest.raises(RankplugError, match="loss neural_sort is not written for one list at a time"):
        run("neural_sort")


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
