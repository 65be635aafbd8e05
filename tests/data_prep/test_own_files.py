"""Texts of one's own: ``letor-file[path=...]``."""

import pytest

import rankplug as rp
from rankplug.errors import DataError, ParameterError


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
