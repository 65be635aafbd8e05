"""``rankplug data``, from a release in ``RANKPLUG_DATA`` to verified arrays."""

import json

import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app


def write_release(folder, name="MQ2008", queries=3):
    for fold in range(1, 6):
        for part, names in (("train.txt", (0, 1, 2)), ("vali.txt", (3,)), ("test.txt", (4,))):
            shares = [(fold - 1 + step) % 5 for step in names]
            lines = [
                f"{document % 3} qid:{10 * share + query} 1:{query} 46:{document}.5 #docid = G{document}\n"
                for share in shares
                for query in range(queries)
                for document in range(4)
            ]
            path = folder / name / f"Fold{fold}" / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines))
    return folder / name


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()


def run(*arguments):
    result = CliRunner().invoke(app, ["data", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def state_of(name):
    (line,) = [line for line in run("list").output.splitlines() if line.startswith(f"{name} ")]
    return line


def test_a_set_is_found_prepared_and_verified(tmp_path):
    assert "can be fetched" in state_of("mq2008")
    write_release(tmp_path / "data")
    assert " found " in state_of("mq2008")
    output = run("prepare", "mq2008").output
    assert "fold 1: train 9 queries, 36 documents; valid 3 queries, 12 documents; test 3 queries" in output
    assert " prepared " in state_of("mq2008")
    assert run("verify", "mq2008").output.endswith("verified\n")
    again, known, checked = (json.loads(run(word, "mq2008", "--json").stdout) for word in ("prepare", "info", "verify"))
    assert again["warnings"] == checked["warnings"] and "queries: published 784, found 15" in again["warnings"][0]
    assert "here: prepared" in known["lines"] and known["dataset"] == "mq2008"
    assert checked["problems"] == []


@pytest.mark.filterwarnings("ignore:mq2008")
def test_loading_prepares_what_lies_there(tmp_path):
    write_release(tmp_path / "data")
    with pytest.warns(UserWarning, match="mq2008: documents: published 15,211, found 60"):
        train, valid, test = rp.load("mq2008", fold=2)
    assert (len(train), len(valid), len(test)) == (9, 3, 3)
    (tmp_path / "data" / "MQ2008").rename(tmp_path / "elsewhere")
    assert rp.load("mq2008", fold=5).train.documents == 36
