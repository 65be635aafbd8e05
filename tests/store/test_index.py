"""The index of a store is a cache: with it, without it, and after any damage to it, answers are the same."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import ResultsError, Store, Trial, _index, query
from rankplug.store._index import FILE, INDEX
from rankplug.system import machine as memory


@pytest.fixture
def indexed(store, fill, monkeypatch):
    """Return a store of 24 results with an index of all of them."""
    monkeypatch.setattr(_index, "WORTH_INDEXING", 4)
    fill(store, {"mse": 0.0, "ranknet": 0.1, "listnet": 0.2, "lambdarank[sigma=2]": 0.3})
    query("select 1 from trials", store)
    assert index_of(store).exists()
    return store


def index_of(store: Store) -> Path:
    return store.folder / INDEX / FILE


def answers(store: Store) -> list[pd.DataFrame]:
    tables = [
        query(f"select * from {table} order by all", store).drop(columns="file", errors="ignore")
        for table in ("trials", "queries", "curves")
    ]
    return [*tables, rp.results(store), rp.results(store, where="fold = 1", group_by="loss"), store.frame()]


def same(store: Store, folder: Path) -> bool:
    """Compare the answers with those of a copy in which no index can be written."""
    shutil.copytree(store.folder, folder, ignore=shutil.ignore_patterns(INDEX))
    (folder / INDEX).write_text("a file in the place of the index's folder")
    for answer, other in zip(answers(store), answers(Store(folder)), strict=True):
        # Sums add up in the order of the rows.
        pd.testing.assert_frame_equal(answer, other, check_exact=False, rtol=1e-13, atol=0)
    return True


def test_an_index_answers_as_the_files_do(indexed, tmp_path, combination, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_index, "read_about", lambda path: pytest.fail(f"{path} is not in the index"))
        assert len(query("select * from trials", indexed)) == 24
    assert same(indexed, tmp_path / "files")
    whole = indexed.frame()
    trials = [Trial(combination("ranknet"), fold, number) for fold in (2, 1) for number in range(3)]
    some = pd.concat([whole[(whole.loss == "ranknet") & (whole.fold == fold)] for fold in (2, 1)], ignore_index=True)
    pd.testing.assert_frame_equal(indexed.frame(trials), some, check_exact=True)


def test_new_changed_and_removed_results_are_noticed(indexed, tmp_path, combination, made_result):
    paths = [indexed.path(Trial(combination(loss), 1, 1)) for loss in ("mse", "listnet", "ranknet")]
    paths[0].unlink()
    shutil.rmtree(paths[1].parent)
    indexed.write(made_result(Trial(combination("ranknet"), 2, 1), 0.7))
    indexed.write(made_result(Trial(combination("xe_ndcg"), 1, 0), 0.4))
    assert same(indexed, tmp_path / "files")
    indexed.compact()
    assert same(indexed, tmp_path / "compacted")
    for number in range(1, 7):
        indexed.write(made_result(Trial(combination("xe_ndcg"), 1, number), number / 10))
    assert same(indexed, tmp_path / "extended")


@pytest.mark.parametrize("damage", ["cut", "flipped", "nonsense", "a result", "removed"])
def test_a_damaged_index_changes_no_answer(indexed, tmp_path, damage):
    path = index_of(indexed)
    whole = path.read_bytes()
    flipped = whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]
    contents = {"cut": whole[:-100], "flipped": flipped, "nonsense": b"nonsense"}
    if damage == "removed":
        shutil.rmtree(path.parent)
    else:
        path.write_bytes(contents.get(damage, indexed.paths()[0].read_bytes()))
    assert same(indexed, tmp_path / "files")


def test_an_error_of_a_question_leaves_the_index_alone(indexed):
    before = index_of(indexed).read_bytes()
    with pytest.raises(ResultsError, match="cannot answer this query"):
        query("select cast('x' || loss as int) from trials", indexed)
    assert index_of(indexed).read_bytes() == before


def test_a_table_too_large_for_memory_is_refused(indexed, monkeypatch):
    whole = indexed.frame()
    texts = [name for name in whole if not pd.api.types.is_numeric_dtype(whole[name])]
    taken = int(whole[texts].memory_usage(index=False).sum())
    monkeypatch.setattr(memory, "available_memory", lambda: taken)
    pd.testing.assert_frame_equal(indexed.frame(), whole)
    monkeypatch.setattr(memory, "available_memory", lambda: taken // 20)
    with pytest.raises(ResultsError, match=rf"{len(whole):,} rows of 24 results needs .*categories=.*loss"):
        indexed.frame()
    assert indexed.frame(categories=texts)["loss"].tolist() == whole["loss"].tolist()


@pytest.mark.slow
def test_a_killed_compaction_loses_nothing(indexed, tmp_path):
    before = {path: path.read_bytes() for path in indexed.paths()}
    program = (
        f"from rankplug.store import Store\nstore = Store({str(indexed.folder)!r})\nstore.paths()\n"
        "print('begun', flush=True)\nwhile True:\n    store.compact()\n"
    )
    for delay in (0.0, 0.05, 0.3, 0.5):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert {path: path.read_bytes() for path in indexed.paths()} == before
        assert same(indexed, tmp_path / f"after-{delay}")


def _ask_and_compact(folder: Path) -> None:
    _index.WORTH_INDEXING = 3
    for _ in range(6):
        assert len(query("select * from trials", folder)) >= 24
        Store(folder).compact()


@pytest.mark.slow
def test_many_processes_index_while_results_are_written(indexed, tmp_path, combination, made_result):
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


def test_the_command_reports_the_index(indexed):
    ran = CliRunner().invoke(app, ["results", "compact", "--store", str(indexed.folder)])
    assert "24 results" in ran.output
