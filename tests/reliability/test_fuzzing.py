"""Any text or file gives an answer, or one of rankplug's own errors, soon and in little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankplug_data.text import letor

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.registry import expand, parse, registry
from rankplug.sweeps.sweep_files import read_file, read_folds, read_words

FACTOR = int(os.environ.get("RANKPLUG_FUZZ", "1"))
"""All examples are multiplied by it."""
FEW, SOME = 60 * FACTOR, 200 * FACTOR
MILLISECONDS = 5_000
quick = settings(max_examples=SOME, deadline=MILLISECONDS, suppress_health_check=list(HealthCheck))
slower = settings(max_examples=FEW, deadline=MILLISECONDS, suppress_health_check=list(HealthCheck))

WORDS = ["lambdarank", "ndcg", "trees", "mlp", "[", "]", "(", ")", "=", ",", "@", ":", '"', "'", "\\", " ", "\n", "\0",
         "sigma", "k", "1", "-1", "1e999", "9" * 400, "inf", "nan", "true", "none", "é", "\u2028", "x[", "[[", "((",
         "[" * 60, "(" * 2000, "a[b=" * 60, ",".join("abc") * 50]  # fmt: skip
PIECES = st.sampled_from(WORDS)
NEARLY_GRAMMAR = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


def outcome(function: Callable[[], Any]) -> Any:
    """Return what a function returns, or the error of ours that it raises; any other error passes through."""
    try:
        return function()
    except RankplugError as error:
        return error


def short(result: Any) -> bool:
    """Tell whether a result is no error, or one that fits on a page."""
    return not isinstance(result, RankplugError) or len(str(result)) < 4_000


@quick
@given(NEARLY_GRAMMAR)
def test_any_text_is_a_reference_or_a_grammar_error(text: str) -> None:
    reference, several = outcome(lambda: parse(text)), outcome(lambda: expand(text))
    assert short(reference) and short(several)
    if not isinstance(several, RankplugError):
        assert parse(str(reference)) == reference
        assert len(several) <= 100_000


@slower
@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 200), min_size=1))
def test_a_grid_that_stands_for_too_much_is_refused_at_once(sizes: dict[str, int]) -> None:
    text = ",".join(f"{name}=[{','.join(map(str, range(size)))}]" for name, size in sizes.items())
    whole = int(np.prod(list(sizes.values())))
    expanded = outcome(lambda: expand(f"x[{text}]"))
    if isinstance(expanded, RankplugError):
        assert whole > 100_000 and "name fewer" in str(expanded)
    else:
        assert len(expanded) == whole


@quick
@given(st.lists(NEARLY_GRAMMAR | st.sampled_from(["loss=mse", "backend=lightgbm", "dataset=synthetic"]), max_size=5))
def test_any_words_are_a_grid_or_an_error(words: list[str]) -> None:
    assert short(outcome(lambda: read_words(words)))
    assert short(outcome(lambda: read_folds(",".join(words))))


@quick
@given(kind=st.sampled_from(["loss", "metric", "scorer", "sampler", "backend", "transform"]), text=NEARLY_GRAMMAR)
def test_any_name_of_a_plugin_is_found_or_refused(kind: str, text: str) -> None:
    assert short(outcome(lambda: registry().resolve(kind, text)))


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates() | st.binary(max_size=9)
)
TREES = st.recursive(
    PLAIN | st.sampled_from(["mse", "lightgbm", "synthetic[queries=20]", "trees", "ndcg@5"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.just("name"), inner, max_size=3)
    ),
    max_leaves=8,
)
PARTS = st.sampled_from([*rp.Combination.model_fields, "grids", "folds", "trials", "profiles", "name", "los"])
SWEEPS = st.dictionaries(PARTS, TREES, max_size=6).map(
    lambda part: {"dataset": "synthetic", "backend": "lbfgs", **part}
)


def read_and_plan(path: Path) -> Any:
    return outcome(lambda: read_file(path).plan(rp.Store(path.parent / "store")))


@slower
@given(SWEEPS)
def test_any_sweep_file_is_a_plan_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert short(read_and_plan(path))


YAML_PIECES = ["loss:", " mse", "\n", "- ", "&a ", "*a", "<<: *a", "{", "}", "[", "]", "!!python/name:os", "!!int x",
               "!!float .", "!!timestamp 1", "!!binary =", "? ", ": ", "|", ">", "%YAML 3", "---", "\t", "'", '"',
               "\x00", "\ufeff", "\u2028", "2001-99-99", "1:99:99", "{" * 900, "[" * 1500]  # fmt: skip


@slower
@given(st.lists(st.sampled_from(YAML_PIECES) | st.text(max_size=8), max_size=20).map("".join) | st.binary(max_size=200))
def test_any_bytes_as_a_sweep_file_are_a_plan_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    assert short(read_and_plan(path))


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path) -> None:
    """A few lines of YAML that stand for a thousand million words."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    for last in ("loss: *a8", "grids: *a8", "trials: *a8", "folds: *a8", "loss: {name: mse, x: *a8}", "metrics: *a8"):
        text = "\n".join(["profiles:", " p: {x: [", *(f"  {{{line}}}," for line in lines), " ]}", last])
        (tmp_path / "bomb.yaml").write_text(text)
        refused = read_and_plan(tmp_path / "bomb.yaml")
        assert isinstance(refused, RankplugError) and short(refused)


LETTERS = b"0 1 -1 2.5 nan NULL inf 1e400 qid: qid:1 qid:99999999999999999999 : 1:0.5 2: 0:1 99999:1 100001:1 1:1e-400"
LETTERS += b" -1:1 1:1:1 # #docid=G1 +1 . e"
TOKENS = st.sampled_from(
    [*LETTERS.split(), b" ", b"\t", b"\n", b"\r\n", b"\0", b"\xff\xfe", b"1" * 400, b"1:" + b"9" * 400]
)
TEXTS = (
    st.lists(TOKENS, max_size=60).map(b" ".join) | st.lists(TOKENS, max_size=60).map(b"".join) | st.binary(max_size=300)
)


@slower
@given(TEXTS, st.sampled_from(["raise", "skip"]))
def test_any_bytes_as_a_letor_text_are_lists_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, on_error: letor.OnError
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.txt"
    path.write_bytes(content)
    lists = outcome(lambda: letor.read(path, on_error=on_error))
    assert short(lists)
    if isinstance(lists, RankplugError):
        assert str(path) in str(lists)
        return
    assert lists.documents == lists.labels.size and np.isfinite(lists.labels).all() and (lists.labels >= 0).all()


BATCH = Path(__file__).parent / "fuzzed_batch.py"
BATCHES = [
    "lightgbm",
    "xgboost",
    "torch",
    "lbfgs",
    "rankboost",
    "results",
    "cache",
    "index",
    "archive",
    "tables",
    "runs",
]


def run_batch(kinds: list[str], folder: Path, examples: int, seed: int, seconds: float) -> dict[str, dict[str, int]]:
    """Read damaged files in a process with little memory; return how many of each kind were read or refused."""
    words = [sys.executable, str(BATCH), ",".join(kinds), str(folder), str(examples), str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    counts: dict[str, dict[str, int]] = json.loads(done.stdout.splitlines()[-1])
    return counts


@pytest.mark.slow
def test_damaged_files_are_errors_and_neither_crash_nor_hang_nor_fill_memory(tmp_path: Path) -> None:
    counts = run_batch(BATCHES, tmp_path, 30, 0, 250)
    assert list(counts) == BATCHES
    assert all(sum(found.values()) == 30 for found in counts.values())
    # A damaged index is made anew.
    assert all(found["refused"] > 0 or kind == "index" for kind, found in counts.items())


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_damaged_files_are_errors(kind: str, seed: int, tmp_path: Path) -> None:
    counts = run_batch([kind], tmp_path, 1000 * FACTOR, seed, 3500)
    assert sum(counts[kind].values()) == 1000 * FACTOR
