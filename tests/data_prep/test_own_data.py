"""Files of one's own: ``letor-file[path=...]`` and ``parquet[path=...,query=...,label=...]``."""

import errno
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from rankplug_data import releases
from rankplug_data.file_specifications import OwnFileParameters, TableParameters
from rankplug_data.own_data import OWN_FILES, OWN_TABLES, content_digest

import rankplug as rp
from rankplug.errors import DataError, ParameterError
from rankplug.system import OwnedFolder

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
NAMES = "query=q,label=y"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")


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


def test_leftovers_of_a_killed_preparation_are_removed(tmp_path):
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


def test_a_file_that_changes_while_it_is_prepared_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "mine.txt"
    path.write_text(text(10))

    def write(release, folder, before=releases.Release.write):
        path.write_text(text(12))
        before(release, folder)

    monkeypatch.setattr(releases.Release, "write", write)
    with pytest.raises(DataError, match=r"mine.txt changed while it was read; load it again once nothing writes to"):
        rp.load(f"letor-file[path={path}]")
    assert not [folder for folder in (tmp_path / "cache" / "data").iterdir() if folder.is_dir()]
    monkeypatch.undo()
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    assert sum(len(part) for part in rp.load(f"letor-file[path={path}]")) == 12


@pytest.mark.parametrize("twin", ["train.txt.gz", "deeper/train.txt"])
def test_two_files_for_one_part_are_refused(tmp_path, twin):
    for name in ("train.txt", "vali.txt", "test.txt", twin):
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(3))
    with pytest.raises(DataError, match=rf"own holds .*{twin}.*, and both are fold 1 train; remove one of them"):
        rp.load(f"letor-file[path={tmp_path}/own]")


def test_a_full_disk_is_told_with_place_and_advice(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "mine.txt").write_text(text(3))
    monkeypatch.setattr(releases, "write_prepared", full)
    sentence = r"cannot prepare .*mine.txt in .*letor-file-\w+: No space left on device; free space .* RANKPLUG_CACHE"
    with pytest.raises(DataError, match=sentence):
        rp.load(f"letor-file[path={tmp_path}/mine.txt]")
    assert not [folder for folder in (tmp_path / "cache" / "data").iterdir() if folder.is_dir()]


def test_names_that_are_no_unicode_are_refused_as_a_path(tmp_path):
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


def write_folds(folder, numbers, packed=False):
    """Write folds whose training, validation and test queries are all different, as no rotation has them."""
    for fold in numbers:
        for place, (name, queries) in enumerate((("train.txt", 6), ("vali.txt", 2), ("test.txt", 2))):
            path = folder / f"Fold{fold}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text(queries, 100 * (10 * fold + place)))
            if packed:
                path.with_name(f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
                path.unlink()
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_every_file_of_ones_own_folds_is_read(tmp_path, packed):
    folder = write_folds(tmp_path / "own", range(1, 6), packed)
    for fold in range(1, 6):
        split = rp.load(f"letor-file[path={folder}]", fold=fold)
        for place, (part, queries) in enumerate(zip(split, (6, 2, 2), strict=True)):
            first = 100 * (10 * fold + place)
            assert ids(part) == set(range(first, first + queries))


@pytest.mark.parametrize("numbers", [range(1, 11), range(5)])
def test_folds_that_would_be_ignored_are_refused(tmp_path, numbers):
    folder = write_folds(tmp_path / "own", numbers)
    sentence = f"own has folds {numbers[0]} to {numbers[-1]}, and folds 1 to 5 are read; rename them"
    with pytest.raises(DataError, match=sentence):
        rp.load(f"letor-file[path={folder}]")


def test_a_test_part_beside_a_folder_is_refused(tmp_path):
    folder = write_folds(tmp_path / "own", [1])
    (tmp_path / "c").write_text(text(5, 200))
    with pytest.raises(DataError, match="Fold1 has parts of its own, so that valid= and test= would be ignored"):
        rp.load(f"letor-file[path={folder}/Fold1,test={tmp_path}/c]")


def test_preparing_with_skip_has_an_identity_of_its_own(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(text(10) + "oops\n")
    assert "1 broken lines left out" in OWN_FILES.prepare(
        OwnFileParameters(path=str(path)), source=None, on_error="skip"
    )
    with pytest.raises(DataError, match=r"mine.txt, line 41: expected a label"):
        rp.load(f"letor-file[path={path}]")
    assert sum(part.documents for part in rp.load(f"letor-file[path={path},on_error=skip]")) == 40


def write_table(path, queries: int, first: int = 0):
    """Write four rows a query, in an order that is not that of the queries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.random.default_rng(first).permutation(4 * queries)
    table = {"q": [f"q{first + row // 4}" for row in rows], "y": rows % 3, "x": rows * 0.5, "url": ["u"] * rows.size}
    parquet.write_table(pa.table(table), path)
    return path


def test_one_file_is_split_at_random_by_query_and_keeps_names(tmp_path):
    path = write_table(tmp_path / "mine.parquet", 20)
    split = rp.load(f"parquet[path={path},{NAMES}]", seed=1)
    assert [len(part) for part in split] == [12, 4, 4]
    assert {query for part in split for query in part.query_ids} == {f"q{query}" for query in range(20)}
    assert split.train.feature_names == ("x",) and split.train.lengths.tolist() == [4] * 12


def test_parts_are_named_by_files_or_names_in_a_folder(tmp_path):
    for part, queries, first in (("train", 6, 0), ("validation", 2, 100), ("test", 3, 200)):
        write_table(tmp_path / "hub" / "data" / f"{part}-00000-of-00001.parquet", queries, first)
    split = rp.load(f"parquet[path={tmp_path}/hub,{NAMES}]")
    assert [len(part) for part in split] == [6, 2, 3] and isinstance(split.train.features.base, np.memmap)
    folder = tmp_path / "hub" / "data"
    named = f"parquet[path={folder}/train-00000-of-00001.parquet,valid={folder}/validation-00000-of-00001.parquet"
    split = rp.load(f"{named},test={folder}/test-00000-of-00001.parquet,{NAMES}]")
    assert [len(part) for part in split] == [6, 2, 3]


def test_a_changed_file_is_read_again_with_another_digest(tmp_path):
    path = write_table(tmp_path / "mine.parquet", 10)
    parameters = TableParameters(path=str(path), query="q", label="y")
    before = content_digest(parameters)
    assert sum(len(part) for part in rp.load(f"parquet[path={path},{NAMES}]")) == 10
    write_table(path, 15)
    assert sum(len(part) for part in rp.load(f"parquet[path={path},{NAMES}]")) == 15
    assert before != content_digest(parameters)


def test_no_tables_and_parts_of_other_widths_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no table"):
        rp.load(f"parquet[path={tmp_path}/empty,{NAMES}]")
    write_table(tmp_path / "train.parquet", 5)
    parquet.write_table(pa.table({"q": [1], "y": [1], "z": [1]}), tmp_path / "test.parquet")
    with pytest.raises(DataError, match=r"test\.parquet has no feature x"):
        rp.load(f"parquet[path={tmp_path}/train.parquet,test={tmp_path}/test.parquet,{NAMES}]")


@pytest.mark.parametrize("index", [None, "row"])
def test_the_index_that_pandas_writes_is_no_feature(tmp_path, index):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": np.repeat(np.arange(30), 4), "y": np.tile([1, 0, 2, 0], 30), "x": np.arange(120.0)})
    frame = frame[frame["x"] % 7 != 0].rename_axis(index)
    frame.to_parquet(tmp_path / "filtered.parquet")
    split = rp.load(f"parquet[path={tmp_path}/filtered.parquet,{NAMES}]")
    assert split.train.feature_names == ("x",)
    assert rp.Lists.from_table(frame, query="q", label="y").feature_names == ("x",)


def test_preparing_with_skip_does_not_change_what_zero_means(tmp_path):
    path = tmp_path / "holes.parquet"
    parquet.write_table(pa.table({"q": [1, 1, 2, 2] * 5, "y": [1.0, None, 0.0, 1.0] * 5, "x": [1.0] * 20}), path)
    given = {"path": str(path), "query": "q", "label": "y"}
    for missing in ("zero", "raise"):
        OWN_TABLES.prepare(TableParameters(**given, missing_labels=missing), source=None, on_error="skip")
    zero = OWN_TABLES._prepare(TableParameters(**given, missing_labels="zero"))
    assert zero.parts(1)["train"].documents == 20
    with pytest.raises(DataError, match="the label of row 1 in y is missing"):
        OWN_TABLES._prepare(TableParameters(**given))


def test_a_small_table_of_many_equal_rows_is_refused(tmp_path, monkeypatch):
    """A file of 25 kB with 200 million rows would take gigabytes."""
    monkeypatch.setattr("rankplug.data.tables.ALWAYS_ALLOWED", 1000)
    same = np.ones(1 << 20)
    parquet.write_table(pa.table({"q": same, "y": same, "x": same}), tmp_path / "bomb.parquet")
    with pytest.raises(DataError, match=r"bomb.parquet claims 1,048,576 rows in [\d,]+ bytes"):
        rp.load(f"parquet[path={tmp_path}/bomb.parquet,{NAMES}]")


def test_parts_by_their_long_names_are_kept_apart(tmp_path):
    for name, queries, first in (("training", 6, 0), ("validation", 2, 100), ("testing", 3, 200)):
        write_table(tmp_path / "own" / f"{name}.parquet", queries, first)
    assert [len(part) for part in rp.load(f"parquet[path={tmp_path}/own,{NAMES}]")] == [6, 2, 3]


REFUSED_FOLDERS = {
    ("train.parquet", "test.parquet", "extra.parquet"): "extra.parquet, whose name is that of no part",
    ("test.parquet", "validation.parquet"): "none is named train",
    ("Fold1/train.parquet", "Fold2/train.parquet"): "own has folds, such as Fold1, which are not read from tables",
    ("train/a.parquet", "train/test.parquet"): "train/test.parquet names several parts: test, train",
}


@pytest.mark.parametrize("files", REFUSED_FOLDERS)
def test_folders_that_would_mix_parts_are_refused(tmp_path, files):
    for number, file in enumerate(files):
        write_table(tmp_path / "own" / file, 5, 100 * number)
    with pytest.raises(DataError, match=REFUSED_FOLDERS[files]):
        rp.load(f"parquet[path={tmp_path}/own,{NAMES}]")


def test_a_test_part_that_the_folder_has_too_is_refused(tmp_path):
    for name in ("train", "test"):
        write_table(tmp_path / "own" / f"{name}.parquet", 5, len(name))
    write_table(tmp_path / "other.parquet", 3, 300)
    with pytest.raises(DataError, match="own has a test part of its own, so that test= would be ignored"):
        rp.load(f"parquet[path={tmp_path}/own,test={tmp_path}/other.parquet,{NAMES}]")
    split = rp.load(f"parquet[path={tmp_path}/own,valid={tmp_path}/other.parquet,{NAMES}]")
    assert [len(part) for part in split] == [5, 3, 5]


LINE = "{label} qid:{query} 1:0.5 2:{feature}\n"


def write_lines(path: Path, feature: float = 0.25) -> None:
    lines = [LINE.format(label=document % 2, query=document // 3, feature=feature) for document in range(30)]
    path.write_text("".join(lines))


def identity(path: Path, **more: str) -> str:
    words = ",".join(f'{name}="{value}"' for name, value in more.items())
    return rp.Combination(
        dataset=f'letor-file[path="{path}"{"," + words if words else ""}]', backend="lightgbm", loss="mse"
    ).identity


def test_an_edited_file_gives_new_results(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    write_lines(path)
    before = identity(path)
    os.utime(path, (1, 1))
    assert identity(path) == before
    write_lines(path, feature=0.75)
    assert identity(path) != before


def test_an_edit_that_keeps_size_and_time_is_seen_too(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    write_lines(path)
    before, state = identity(path), path.stat()
    assert rp.load({"name": "letor-file", "path": str(path)}).train.features[0, 1] == 0.25
    write_lines(path, feature=0.75)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert identity(path) != before
    assert rp.load({"name": "letor-file", "path": str(path)}).train.features[0, 1] == 0.75


def test_every_file_of_a_folder_and_every_named_part_counts(tmp_path: Path) -> None:
    folder, other = tmp_path / "own", tmp_path / "valid.txt"
    folder.mkdir()
    write_lines(folder / "train.txt")
    write_lines(other)
    before = identity(folder), identity(folder / "train.txt", valid=str(other))
    write_lines(folder / "test.txt")
    write_lines(other, feature=0.75)
    after = identity(folder), identity(folder / "train.txt", valid=str(other))
    assert all(one != two for one, two in zip(before, after, strict=True))
