"""The index of a store is a cache: with it, without it, and whatever becomes of it, answers are the same."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import ResultsError, Store, Trial, query
from rankplug.store.index import result_index
from rankplug.store.index.index_parts import DESCRIPTIONS, ROWS
from rankplug.store.index.result_index import INDEX
from rankplug.system import machine

TABLES = ("trials", "queries", "curves")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, fill: Callable[..., Any]) -> Store:
    """Return a store of 24 results, of which tests take copies."""
    store = Store(tmp_path_factory.mktemp("filled") / "results")
    fill(store, {"mse": 0.0, "ranknet": 0.1, "listnet": 0.2, "lambdarank[sigma=2]": 0.3})
    return store


@pytest.fixture(scope="module")
def of_the_files(filled: Store, tmp_path_factory: pytest.TempPathFactory) -> list[pd.DataFrame]:
    """Return the answers of those results without an index."""
    return from_the_files_alone(filled, tmp_path_factory.mktemp("alone") / "files")


@pytest.fixture
def indexed(store: Store, filled: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a store of those results with an index of several parts."""
    monkeypatch.setattr(result_index, "WORTH_INDEXING", 4)
    monkeypatch.setattr(result_index, "RESULTS_AT_ONCE", 5)
    shutil.copytree(filled.folder, store.folder)
    query("select 1 from trials", store)
    assert len(parts(store)) == 5
    return store


def parts(store: Store) -> list[Path]:
    return sorted((store.folder / INDEX).glob(f"*{DESCRIPTIONS}"))


def answers(store: Store) -> list[pd.DataFrame]:
    found = [
        query(f"select * from {table} order by all", store).drop(columns="file", errors="ignore") for table in TABLES
    ]
    return [*found, rp.results(store), rp.results(store, where="fold = 1", group_by="loss"), store.frame()]


def from_the_files_alone(store: Store, folder: Path) -> list[pd.DataFrame]:
    """Ask a copy of the results that has no index, and gets none."""
    shutil.copytree(store.folder, folder, ignore=shutil.ignore_patterns(INDEX))
    (folder / INDEX).write_text("where the folder of an index would be")
    return answers(Store(folder))


def same(store: Store, folder: Path) -> bool:
    return gives(store, from_the_files_alone(store, folder))


def gives(store: Store, expected: list[pd.DataFrame]) -> bool:
    for answer, other in zip(answers(store), expected, strict=True):
        # Means add up in the order in which the rows happen to come.
        pd.testing.assert_frame_equal(answer, other, check_exact=False, rtol=1e-13, atol=0)
    return True


def test_an_index_answers_as_the_files_do(indexed: Store, tmp_path: Path, combination: Callable[..., Any]) -> None:
    assert same(indexed, tmp_path / "files")
    whole = indexed.frame()
    trials = [Trial(combination("ranknet"), fold, number) for fold in (2, 1) for number in range(3)]
    some = pd.concat([whole[(whole.loss == "ranknet") & (whole.fold == fold)] for fold in (2, 1)], ignore_index=True)
    pd.testing.assert_frame_equal(indexed.frame(trials), some, check_exact=True)
    pd.testing.assert_frame_equal(indexed.frame(trials[:3]), some[some.fold == 2], check_exact=True)


def test_a_table_that_cannot_fit_into_memory_is_refused_and_one_with_categories_that_fits_is_made(
    indexed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = indexed.frame()
    texts = [name for name in whole if not pd.api.types.is_numeric_dtype(whole[name])]
    taken = int(whole[texts].memory_usage(index=False).sum())
    monkeypatch.setattr(machine, "available_memory", lambda: taken)
    pd.testing.assert_frame_equal(indexed.frame(), whole)
    monkeypatch.setattr(machine, "available_memory", lambda: taken // 20)
    with pytest.raises(ResultsError, match=rf"{len(whole):,} rows of 24 results needs .*categories=.*loss"):
        indexed.frame()
    assert indexed.frame(categories=texts)["loss"].tolist() == whole["loss"].tolist()


def test_results_that_are_new_others_or_gone_are_noticed(
    indexed: Store, tmp_path: Path, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    paths = [indexed.path(Trial(combination(loss), 1, 1)) for loss in ("mse", "listnet", "ranknet")]
    paths[0].unlink()
    shutil.rmtree(paths[1].parent)
    indexed.write(made_result(Trial(combination("ranknet"), 2, 1), 0.7))
    indexed.write(made_result(Trial(combination("xe_ndcg"), 1, 0), 0.4))
    size = paths[2].stat().st_size
    state = os.stat(paths[2])
    indexed.write(made_result(indexed.read(Trial(combination("ranknet"), 1, 1)).trial, 0.9))
    os.utime(paths[2], ns=(state.st_atime_ns, state.st_mtime_ns + (paths[2].stat().st_size != size)))
    assert same(indexed, tmp_path / "files")
    indexed.compact()
    assert len(parts(indexed)) == 1
    assert same(indexed, tmp_path / "compacted")


@pytest.mark.parametrize(
    "damage",
    [
        "descriptions cut",
        "rows cut",
        "rows gone",
        "a flipped bit",
        "flipped and compacted",
        "nonsense",
        "another kind",
        "all gone",
    ],
)
def test_a_damaged_index_is_none(indexed: Store, of_the_files: list[pd.DataFrame], damage: str) -> None:
    description = parts(indexed)[1]
    rows = description.with_suffix(ROWS)
    if damage == "descriptions cut":
        description.write_bytes(description.read_bytes()[:-100])
    elif damage == "rows cut":
        rows.write_bytes(rows.read_bytes()[:1000])
    elif damage == "rows gone":
        rows.unlink()
    elif "flipped" in damage:
        whole = bytearray(rows.read_bytes())
        whole[200] ^= 1
        rows.write_bytes(whole)
        if "compacted" in damage:
            indexed.compact()
    elif damage == "nonsense":
        description.write_text("nonsense")
    elif damage == "another kind":
        shutil.copy(indexed.paths()[0], rows)
    else:
        shutil.rmtree(indexed.folder / INDEX)
    assert gives(indexed, of_the_files)
    indexed.compact()
    assert len(list((indexed.folder / INDEX).glob("*.*"))) == 2, "what replaces the damage leaves nothing of it"


@pytest.mark.parametrize("step", range(5))
def test_compaction_that_ends_at_any_step_loses_nothing(
    indexed: Store, of_the_files: list[pd.DataFrame], step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in indexed.paths()}
    calls = 0

    def until(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > step:
                raise KeyboardInterrupt
            return function(*given, **options)

        return run

    with monkeypatch.context() as patched:
        patched.setattr(result_index, "write_whole", until(result_index.write_whole))
        patched.setattr(Path, "unlink", until(Path.unlink))
        with pytest.raises(KeyboardInterrupt):
            indexed.compact()
    assert {path: path.read_bytes() for path in indexed.paths()} == before
    assert gives(indexed, of_the_files)
    indexed.compact()
    assert len(parts(indexed)) == 1


@pytest.mark.slow
def test_a_killed_compaction_loses_nothing(indexed: Store, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in indexed.paths()}
    program = f"""
import shutil
from rankplug.store import Store
from rankplug.store.index import result_index
result_index.RESULTS_AT_ONCE = 2
store = Store({str(indexed.folder)!r})
store.paths()
print("begun", flush=True)
while True:
    store.compact()
    for part in (store.folder / {INDEX!r}).glob("*.rows"):
        part.unlink()
"""
    for delay in (0.0, 0.02, 0.05, 0.1, 0.3, 0.5):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert {path: path.read_bytes() for path in indexed.paths()} == before
        assert same(indexed, tmp_path / f"after-{delay}")


def _ask_and_compact(folder: Path) -> None:
    result_index.WORTH_INDEXING = 3
    for _ in range(6):
        assert len(query("select * from trials", folder)) >= 24
        Store(folder).compact()


@pytest.mark.slow
def test_many_processes_may_index_while_results_are_written(
    indexed: Store, tmp_path: Path, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_ask_and_compact, args=(indexed.folder,)) for _ in range(3)]
    for process in processes:
        process.start()
    for number in range(30):
        indexed.write(made_result(Trial(combination("xe_ndcg"), 1, number), number / 100))
        assert len(query("select * from trials", indexed)) == 25 + number
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert same(indexed, tmp_path / "files")


def test_questions_to_some_results_leave_the_index_of_the_others(
    indexed: Store, combination: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [Trial(combination("ranknet"), fold, number) for fold in (1, 2) for number in range(3)]
    before = parts(indexed)
    indexed.frame(some)
    assert parts(indexed) == before
    monkeypatch.setattr(result_index, "MOST_PARTS", 2)
    indexed.frame(some)
    (joined,) = parts(indexed)
    monkeypatch.setattr(result_index, "read_about", lambda path: pytest.fail(f"{path} is not in the index"))
    assert len(query("select * from trials", indexed)) == 24
    assert parts(indexed) == [joined]


def test_a_store_may_be_the_working_folder(indexed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(indexed.folder / INDEX)
    expected = rp.results(Store(indexed.folder))
    before = [path.name for path in parts(indexed)]
    monkeypatch.chdir(indexed.folder)
    pd.testing.assert_frame_equal(rp.results(Store(".")), expected)
    assert [path.name for path in parts(indexed)] == before and len(before) == 5


def test_few_results_get_no_index(store: Store, fill: Callable[..., Any]) -> None:
    fill(store, {"mse": 0.0})
    rp.results(store)
    assert not (store.folder / INDEX).exists()


def test_the_command_tells_what_it_did(indexed: Store) -> None:
    ran = CliRunner().invoke(app, ["results", "compact", "--store", str(indexed.folder)])
    assert ran.output.startswith("24 results are in one index of 0.")
    assert "in place of 5 parts" in ran.output
    assert len(parts(indexed)) == 1
