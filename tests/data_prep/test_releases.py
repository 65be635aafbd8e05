"""A release becomes arrays: the same whatever it came in, once, complete or not at all."""

import gzip
import multiprocessing
import os
import shutil
import signal
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from rankplug_data import letor, releases
from rankplug_data.archives import members
from rankplug_data.catalogue import LETOR_NAMES
from rankplug_data.letor import Columns
from rankplug_data.prepared import MANIFEST, PreparedData, prepare
from rankplug_data.releases import Layout, Place, Release, files_of

from rankplug import use_threads
from rankplug.errors import DataError

FEATURES = 6


def share_text(share):
    """Write the text of part S1 ... S5: seven queries each, with ids of its own."""
    generator = np.random.default_rng(share)
    lines = []
    for query in range(7):
        for document in range(int(generator.integers(1, 9))):
            values = " ".join(f"{column + 1}:{generator.normal():.6f}" for column in range(FEATURES))
            label = int(generator.integers(0, 3))
            lines.append(f"{label} qid:{100 * share + query} {values} #docid = D{share}-{query}-{document}\n")
    return "".join(lines)


SHARES = {share: share_text(share) for share in range(1, 6)}


@pytest.fixture
def texts():
    """Return train, validation and test text of each fold, in the official rotation."""
    turned = {fold: [SHARES[(fold - 1 + step) % 5 + 1] for step in range(5)] for fold in range(1, 6)}
    return {fold: {"train": "".join(t[:3]), "valid": t[3], "test": t[4]} for fold, t in turned.items()}


@pytest.fixture
def release(tmp_path, texts):
    """Write a folder with the release, under the names of LETOR 4.0."""
    names = {"train": "train.txt", "valid": "vali.txt", "test": "test.txt"}
    folder = tmp_path / "SET"
    for fold, parts in texts.items():
        for part, text in parts.items():
            path = folder / f"Fold{fold}" / names[part]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def prepared(source, folder, on_error="raise", published=None, folds=5, rotates=True, is_current=lambda ready: True):
    """Prepare a release."""
    layout = Layout(folds, LETOR_NAMES)
    release = Release(
        name="set",
        source=source,
        files=lambda: files_of(source, layout),
        columns=Columns(count=FEATURES),
        folds=folds,
        rotates=rotates,
        on_error=on_error,
        published=published,
        expected="train.txt, vali.txt, test.txt",
    )
    return prepare(folder, source, release.write, is_current)


def test_other_versions_and_sets_of_an_archive_are_passed_over():
    layout = Layout(5, LETOR_NAMES, "Feature-min", ("QueryLevelNorm", "Feature-min", "Feature-null"))
    assert layout.place_of("Gov/Feature_min/2003_td_dataset/Fold1/test.txt") == Place(1, "test")
    assert layout.place_of("Gov/Feature_null/2003_td_dataset/Fold1/test.txt") is None
    layout = Layout(5, LETOR_NAMES, others=("2004_td_dataset", "MQ2007"))
    assert layout.place_of("Gov/2003_td_dataset/Fold1/test.txt") == Place(1, "test")
    assert layout.place_of("Gov/2004_td_dataset/Fold1/test.txt") is None
    assert layout.place_of("Fold1/test.txt", archive="MQ2007") is None


def as_archive(release, kind):
    """Pack the release into an archive, or rename it."""
    if kind == "folder":
        return release
    if kind in ("zip", "xztar"):
        return Path(shutil.make_archive(str(release), kind, release.parent, "SET"))
    if kind == "compressed files":
        for path in release.rglob("*.txt"):
            (path.parent / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        return release
    old = {"train.txt": "trainingset.txt", "vali.txt": "validationset.txt", "test.txt": "testset.txt"}
    for path in release.rglob("*.txt"):
        path.rename(path.with_name(old[path.name]))
    return release


KINDS = ["folder", "zip", "xztar", "compressed files", "names of LETOR 3.0"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_fold_holds_its_official_files(tmp_path, release, texts, kind):
    data = prepared(as_archive(release, kind), tmp_path / "cache" / "set")
    assert data.folds == [1, 2, 3, 4, 5]
    for fold, parts in texts.items():
        for name, part in data.parts(fold).items():
            path = tmp_path / "expected.txt"
            path.write_text(parts[name])
            expected = letor.read(path)
            assert part.fingerprint == expected.fingerprint, (fold, name)
            assert np.array_equal(part.query_ids, expected.query_ids)
            assert np.array_equal(part.document_ids, expected.document_ids)


@pytest.mark.parametrize("packed", [False, True])
def test_folds_that_share_no_parts_are_stored_as_they_are(tmp_path, release, texts, packed):
    """Sizes do not contradict a rotation: the lines have the same lengths, or are compressed."""
    changed = texts[2]["train"].replace("1:", "1:9").replace("1:9-", "1:-").replace("1:90", "1:0")
    changed = changed if packed else texts[2]["train"][:-30] + texts[2]["train"][-30:].replace("D", "E")
    (release / "Fold2" / "train.txt").write_text(changed)
    source = as_archive(release, "compressed files") if packed else release
    data = prepared(source, tmp_path / "cache" / "set", rotates=False)
    (tmp_path / "expected.txt").write_text(changed)
    expected = letor.read(tmp_path / "expected.txt")
    assert data.split(2).train.fingerprint == expected.fingerprint
    assert np.array_equal(data.split(2).train.document_ids, expected.document_ids)
    assert data.split(3).train.documents == texts[3]["train"].count("\n")


def test_sizes_that_contradict_a_rotation_stop_it(tmp_path, release, texts):
    changed = "".join(texts[2]["train"].splitlines(keepends=True)[:-9])
    (release / "Fold2" / "train.txt").write_text(changed)
    data = prepared(release, tmp_path / "set")
    assert data.split(2).train.documents == changed.count("\n")


def test_preparing_holds_a_few_blocks_in_memory(tmp_path):
    """The matrix of 66,000 rows has 36 MB."""
    features = " ".join(f"{column + 1}:{column / 7:.2f}" for column in range(136))
    path = tmp_path / "text.txt"
    path.write_text("".join(f"1 qid:{query} {features}\n" * 100 for query in range(660)))
    (tmp_path / "one.txt").write_text("1 qid:1 1:1\n")
    letor.read(tmp_path / "one.txt")
    (member,) = members(path)
    tracemalloc.start()
    with use_threads(1):
        text = releases._read_text(member, tmp_path / "rows", Columns(count=136), "raise", letor.SkippedLines())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 << 20
    assert text.columns["labels"].size == 66_000
    assert (tmp_path / "rows").stat().st_size == 4 * 66_000 * 136


def test_counts_are_those_of_the_whole_set(tmp_path, release, texts):
    lines = [line for parts in texts.values() for line in parts["test"].splitlines()]
    data = prepared(release, tmp_path / "set")
    counted = data.manifest.statistics
    assert counted["queries"] == 35
    assert counted["documents"] == len(lines)
    assert counted["labels"] == {str(label): sum(line[0] == str(label) for line in lines) for label in range(3)}


def test_an_interrupted_preparation_leaves_nothing(tmp_path, release, monkeypatch):
    folder = tmp_path / "cache" / "set"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(releases, "write_prepared", interrupt)
        with pytest.raises(KeyboardInterrupt):
            prepared(release, folder)
    assert PreparedData.open(folder) is None
    assert [path.name for path in folder.parent.iterdir()] == ["set.lock"]
    assert prepared(release, folder).folds == [1, 2, 3, 4, 5]


def prepare_and_count(release, folder, results):
    """Prepare in a process of its own, slowly enough to meet another."""
    reads = []
    read_text = releases._read_text

    def slowly(*arguments):
        reads.append(1)
        time.sleep(0.02)
        return read_text(*arguments)

    releases._read_text = slowly
    results.put((prepared(release, folder).split(1).train.fingerprint, len(reads)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_ask_at_once_prepare_once(tmp_path, release):
    letor.read(release / "Fold1" / "test.txt")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    arguments = (release, tmp_path / "cache" / "set", results)
    workers = [context.Process(target=prepare_and_count, args=arguments) for _ in range(3)]
    for worker in workers:
        worker.start()
    answers = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    assert sorted(reads for _, reads in answers) == [0, 0, 5]
    assert len({fingerprint for fingerprint, _ in answers}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_preparation_is_taken_up_by_the_next(tmp_path, release, monkeypatch):
    folder = tmp_path / "cache" / "set"
    letor.read(release / "Fold1" / "test.txt")
    with monkeypatch.context() as patched:
        patched.setattr(releases, "write_prepared", lambda *arguments: time.sleep(600))
        worker = multiprocessing.get_context("fork").Process(target=prepared, args=(release, folder))
        worker.start()
        deadline = time.monotonic() + 60
        while not list(folder.parent.glob(".rankplug-working-*/*/features.npy")) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    assert list(folder.parent.glob(".rankplug-working-*/*/features.npy"))
    assert PreparedData.open(folder) is None
    assert prepared(release, folder).folds == [1, 2, 3, 4, 5]
    assert {path.name for path in folder.parent.iterdir()} == {"set", "set.lock"}


def test_prepared_data_are_replaced_only_on_request(tmp_path, release):
    folder = tmp_path / "set"
    first = prepared(release, folder).split(1).train.fingerprint
    for path in release.rglob("*.txt"):
        path.write_text(path.read_text().replace(".", ""))
    assert prepared(release, folder).split(1).train.fingerprint == first
    assert prepared(release, folder, is_current=lambda ready: False).split(1).train.fingerprint != first


def test_damage_is_found(tmp_path, release):
    folder = tmp_path / "set"
    data = prepared(release, folder)
    assert data.problems() == []
    features = np.load(folder / "features.npy", mmap_mode="r+")
    features[0, 0] += 1
    features.flush()
    assert data.problems()[0].startswith("fold 1 train: the arrays have changed")
    (folder / "labels.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"labels.npy is damaged"):
        data.split(1)
    (folder / MANIFEST).write_text("{")
    with pytest.raises(DataError, match=r"manifest.json is damaged"):
        PreparedData.open(folder)
