"""Texts of one's own: ``letor-file[path=...]``."""

import errno
import os
from pathlib import Path

import pytest
from rankplug_data.file_specifications import OwnFileParameters
from rankplug_data.own_files import OWN_FILES
from rankplug_data.preparation import preparing

import rankplug as rp
from rankplug.errors import DataError, ParameterError
from rankplug.system import OwnedFolder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")


def text(queries, first=0):
    return "".join(
        f"{row % 3} qid:{first + query} 1:{query} 2:{row}.5\n" for query in range(queries) for row in range(4)
    )


def ids(part):
    return set(part.query_ids.tolist())


def test_one_text_is_split_at_random_by_query(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(text(20))
    train, valid, test = rp.load(f"letor-file[path={path}]", seed=1)
    assert (len(train), len(valid), len(test)) == (12, 4, 4)
    assert ids(train) | ids(valid) | ids(test) == set(range(20))
    assert ids(rp.load(f"letor-file[path={path}]", seed=1).train) == ids(train)
    assert ids(rp.load(f"letor-file[path={path}]", seed=2).train) != ids(train)


def test_parts_that_are_named_are_taken_as_they_are(tmp_path):
    for name, queries, first in (("a", 8, 0), ("b", 3, 100), ("c", 5, 200)):
        (tmp_path / name).write_text(text(queries, first))
    given = f"letor-file[path={tmp_path}/a,test={tmp_path}/c"
    split = rp.load(f"{given},valid={tmp_path}/b]")
    assert [len(part) for part in split] == [8, 3, 5]
    train, valid, test = rp.load(f"{given}]")
    assert (len(train), len(valid), len(test)) == (6, 2, 5)
    assert ids(test) == set(range(200, 205))
    assert ids(train) | ids(valid) == set(range(8))


def test_it_is_told_which_parts_are_drawn_and_from_what(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(text(8, ord(name)))
    whole = {"path": f"{tmp_path}/a"}
    assert "train, valid, test are drawn from train by query, 60/20/20" in told(**whole)
    assert "train, valid are drawn from train by query, 75/25" in told(**whole, test=f"{tmp_path}/b")
    assert "drawn" not in told(**whole, valid=f"{tmp_path}/b", test=f"{tmp_path}/c")


def told(**parameters):
    return OWN_FILES.prepare(OwnFileParameters(**parameters), source=None, on_error="raise")


def test_a_folder_is_read_as_a_release(tmp_path):
    for fold in (1, 2):
        for name, queries in (("train.txt", 6), ("vali.txt", 2), ("test.txt", fold)):
            path = tmp_path / "own" / f"Fold{fold}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text(queries))
    assert len(rp.load(f"letor-file[path={tmp_path}/own]", fold=2).test) == 2
    assert [len(part) for part in rp.load(f"letor-file[path={tmp_path}/own/Fold1]")] == [6, 2, 1]
    with pytest.raises(DataError, match="has fold 1, 2, not 3"):
        rp.load(f"letor-file[path={tmp_path}/own]", fold=3)


def test_a_changed_file_is_read_anew(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(text(10))
    assert sum(len(part) for part in rp.load(f"letor-file[path={path}]")) == 10
    path.write_text(text(15))
    assert sum(len(part) for part in rp.load(f"letor-file[path={path}]")) == 15


def test_broken_lines_and_the_first_feature_are_parameters(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(text(10).replace("1:", "0:") + "oops\n")
    with pytest.raises(DataError, match=r"mine.txt, line 41: expected a label"):
        rp.load(f"letor-file[path={path},first_feature=0]")
    split = rp.load(f"letor-file[path={path},first_feature=0,on_error=skip]")
    assert split.train.features.shape[1] == 3


def test_a_path_is_needed_and_must_exist(tmp_path):
    with pytest.raises(ParameterError, match="needs the parameter path"):
        rp.load("letor-file")
    with pytest.raises(DataError, match="there is no file or folder"):
        rp.load(f"letor-file[path={tmp_path}/nothing.txt]")


def test_what_killed_preparations_left_is_removed_by_the_next(tmp_path):
    """A file that changes has another folder each time, so that nothing else would find what lies there."""
    place = tmp_path / "cache" / "data"
    left = place / ".rankplug-working-killed"
    for folder in (left / "made.tmp", place / "letor-file-89ab"):
        folder.mkdir(parents=True)
        (folder / "features.npy").write_bytes(bytes(1000))
    left.with_suffix(".lock").touch()
    path = tmp_path / "mine.txt"
    path.write_text(text(10))
    with OwnedFolder(place) as busy:
        rp.load(f"letor-file[path={path}]")
        assert busy.exists()
    assert (place / "letor-file-89ab" / "features.npy").exists()
    assert not [entry.name for entry in place.iterdir() if entry.name.startswith(".")]


def test_a_file_that_changes_between_two_looks_at_it_is_not_kept_under_its_old_name(tmp_path, monkeypatch):
    path = tmp_path / "mine.txt"
    path.write_text(text(10))

    def write(request, folder, before=preparing._write):
        path.write_text(text(12))
        before(request, folder)

    monkeypatch.setattr(preparing, "_write", write)
    with pytest.raises(DataError, match=r"mine.txt changed while it was read; load it again once nothing writes to"):
        rp.load(f"letor-file[path={path}]")
    assert not [folder for folder in (tmp_path / "cache" / "data").iterdir() if folder.is_dir()]
    monkeypatch.undo()
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")
    assert sum(len(part) for part in rp.load(f"letor-file[path={path}]")) == 12


def test_a_link_that_leads_nowhere_is_left_out_of_a_folder(tmp_path):
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / name).write_text(text(3))
    (tmp_path / "own" / "notes.txt").symlink_to(tmp_path / "away")
    assert len(rp.load(f"letor-file[path={tmp_path}/own]").train) == 3
    (tmp_path / "own" / "vali.txt").unlink()
    (tmp_path / "own" / "vali.txt").symlink_to(tmp_path / "away")
    with pytest.raises(DataError, match=r"own does not hold own: expected .*, found fold 1 test, fold 1 train"):
        rp.load(f"letor-file[path={tmp_path}/own]")


@pytest.mark.parametrize("twin", ["TRAIN.TXT", "train.txt.gz", "trainingset.txt", "deeper/train.txt"])
def test_two_files_for_one_part_are_refused(tmp_path, twin):
    for name in ("train.txt", "vali.txt", "test.txt", twin):
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(3))
    with pytest.raises(DataError, match=rf"own holds .*{twin}.*, and both are fold 1 train; remove one of them"):
        rp.load(f"letor-file[path={tmp_path}/own]")


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_a_text_is_refused(tmp_path):
    os.mkfifo(tmp_path / "mine.txt")
    with pytest.raises(DataError, match=r"mine.txt cannot be read: it is no regular file"):
        rp.load(f"letor-file[path={tmp_path}/mine.txt]")


def test_a_full_disk_is_told_with_place_and_advice(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "mine.txt").write_text(text(3))
    monkeypatch.setattr(preparing, "write_array", full)
    sentence = r"cannot prepare .*mine.txt in .*letor-file-\w+: No space left on device; free space .* RANKPLUG_CACHE"
    with pytest.raises(DataError, match=sentence):
        rp.load(f"letor-file[path={tmp_path}/mine.txt]")
    assert not [folder for folder in (tmp_path / "cache" / "data").iterdir() if folder.is_dir()]


def test_names_that_are_no_unicode_are_read_in_a_folder_and_refused_as_a_path(tmp_path):
    (tmp_path / "set").mkdir()
    for part in ("train", "vali", "test"):
        (tmp_path / "set" / f"{part}.txt").write_text("0 qid:1 1:0.5\n1 qid:1 1:0.7\n")
    named = {"name": "letor-file", "path": str(tmp_path / "set")}
    expected = rp.load(named)
    Path(os.fsdecode(bytes(tmp_path / "set") + b"/\xff.md")).write_text("notes")
    assert [part.fingerprint for part in rp.load(named)] == [part.fingerprint for part in expected]
    assert rp.Combination(dataset=f"letor-file[path='{tmp_path}/set']", backend="lightgbm", loss="mse").data_fingerprint
    for path in (os.fsdecode(b"\xff.md"), "a\0b", ""):
        with pytest.raises(ParameterError, match="a path has at least one letter, all of them of Unicode"):
            rp.load({"name": "letor-file", "path": path})
    with pytest.raises(DataError, match="cannot be read: File name too long"):
        rp.load({"name": "letor-file", "path": "x" * 5000})
