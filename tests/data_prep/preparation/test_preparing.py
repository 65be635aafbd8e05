"""A release becomes arrays: the same whatever it came in, once, whole or not at all."""

import gzip
import multiprocessing
import os
import signal
import tarfile
import time
import zipfile

import numpy as np
import pytest
from rankplug_data.preparation import preparing
from rankplug_data.preparation.preparing import NotAsReleasedError, prepare
from rankplug_data.preparation.storing import MANIFEST, PreparedData
from rankplug_data.preparation.verifying import problems_of
from rankplug_data.text import letor

from rankplug.errors import DataError


def never(ready):
    return False


def as_archive(release, kind):
    """Pack the release into an archive, or rename it."""
    if kind == "folder":
        return release
    target = release.with_name(f"SET.{kind}")
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(release.rglob("*.txt")):
                archive.write(path, path.relative_to(release.parent))
        return target
    if kind in ("tar", "tar.gz", "tar.xz", "tar.bz2"):
        with tarfile.open(target, f"w:{kind[4:]}") as archive:
            archive.add(release, "SET")
        return target
    if kind == "compressed files":
        for path in release.rglob("*.txt"):
            (path.parent / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        return release
    old = {"train.txt": "trainingset.txt", "vali.txt": "validationset.txt", "test.txt": "testset.txt"}
    for path in release.rglob("*.txt"):
        path.rename(path.with_name(old[path.name]))
    return release


KINDS = ["folder", "zip", "tar", "tar.gz", "tar.xz", "tar.bz2", "compressed files", "names of LETOR 3.0"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_fold_holds_its_official_files(tmp_path, release, texts, request_for, kind):
    prepared = prepare(request_for(as_archive(release, kind)), tmp_path / "cache" / "set", never)
    assert prepared.folds == [1, 2, 3, 4, 5]
    for fold, parts in texts.items():
        for name, part in prepared.parts(fold).items():
            path = tmp_path / "expected.txt"
            path.write_text(parts[name])
            expected = letor.read(path)
            assert part.fingerprint == expected.fingerprint, (fold, name)
            assert np.array_equal(part.query_ids, expected.query_ids)
            assert np.array_equal(part.document_ids, expected.document_ids)


def test_folds_are_views_of_one_mapped_file(tmp_path, release, request_for):
    prepared = prepare(request_for(release), tmp_path / "set", never)
    whole = prepared.whole()
    split = prepared.split(4)
    stored = np.load(tmp_path / "set" / "features.npy", mmap_mode="r")
    assert isinstance(stored, np.memmap)
    assert len(whole) == 7 * 7
    for part in split:
        assert not part.features.flags.owndata
        assert not part.features.flags.writeable


def test_the_stored_fingerprint_is_that_of_the_data(tmp_path, release, request_for):
    prepared = prepare(request_for(release), tmp_path / "set", never)
    train = prepared.split(2).train
    told = train.fingerprint
    del train.__dict__["fingerprint"]
    assert train.fingerprint == told


def test_a_release_that_does_not_rotate_is_stored_as_it_is(tmp_path, release, texts, request_for):
    changed = "".join(texts[2]["train"].splitlines(keepends=True)[:-9])
    (release / "Fold2" / "train.txt").write_text(changed)
    prepared = prepare(request_for(release), tmp_path / "cache" / "set", never)
    assert prepared.folds == [1, 2, 3, 4, 5]
    assert prepared.split(2).train.documents == changed.count("\n")
    assert prepared.split(3).train.documents == texts[3]["train"].count("\n")


def test_one_fold_alone_can_be_prepared(tmp_path, release, texts, request_for):
    for path in release.rglob("*.txt"):
        if path.parent.name != "Fold3":
            path.unlink()
    prepared = prepare(request_for(release), tmp_path / "cache" / "set", never)
    assert prepared.folds == [3]
    assert prepared.manifest.statistics["documents"] == sum(text.count("\n") for text in texts[3].values())


def test_a_set_of_one_fold_needs_no_folder_for_it(tmp_path, release, request_for):
    prepared = prepare(request_for(release / "Fold1", folds=1), tmp_path / "set", never)
    assert prepared.folds == [1]
    assert len(prepared.split(1).train) == 21


def test_what_is_missing_is_said(tmp_path, release, request_for):
    for path in release.rglob("vali.txt"):
        path.unlink()
    (release / "Fold5" / "test.txt").unlink()
    with pytest.raises(NotAsReleasedError, match=r"SET does not hold set: expected train.txt.*found fold 1 test"):
        prepare(request_for(release), tmp_path / "set", never)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("hello")
    with pytest.raises(NotAsReleasedError, match=r"found notes.txt"):
        prepare(request_for(tmp_path / "other"), tmp_path / "set", never)


def test_counts_are_those_of_the_whole_set(tmp_path, release, texts, request_for):
    lines = [line for parts in texts.values() for line in parts["test"].splitlines()]
    prepared = prepare(request_for(release), tmp_path / "set", never)
    counted = prepared.manifest.statistics
    assert counted["queries"] == 35
    assert counted["documents"] == len(lines)
    assert counted["labels"] == {str(label): sum(line[0] == str(label) for line in lines) for label in range(3)}


def test_what_differs_from_the_published_numbers_is_a_warning(tmp_path, release, request_for):
    judge = lambda counted, parts: [f"queries: published 36, found {counted.queries}"]  # noqa: E731
    prepared = prepare(request_for(release, judge=judge), tmp_path / "set", never)
    assert "warning: queries: published 36, found 35" in prepared.report()


def test_broken_lines_stop_or_are_reported(tmp_path, release, request_for):
    path = release / "Fold1" / "test.txt"
    path.write_text("broken\n" + path.read_text())
    with pytest.raises(DataError, match=r"Fold1/test.txt, line 1: expected a label"):
        prepare(request_for(release), tmp_path / "set", never)
    assert not (tmp_path / "set").exists()
    prepared = prepare(request_for(release, on_error="skip"), tmp_path / "set", never)
    assert prepared.manifest.skipped["lines"] == 1
    assert "1 broken lines left out" in prepared.report()


def test_a_truncated_archive_prepares_nothing(tmp_path, release, request_for):
    archive = as_archive(release, "tar.xz")
    archive.write_bytes(archive.read_bytes()[:-400])
    with pytest.raises(DataError, match="is cut off or damaged"):
        prepare(request_for(archive), tmp_path / "cache" / "set", never)
    assert PreparedData.open(tmp_path / "cache" / "set") is None


def test_an_interrupted_preparation_leaves_nothing_that_looks_done(tmp_path, release, request_for, monkeypatch):
    folder = tmp_path / "cache" / "set"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(preparing, "write_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            prepare(request_for(release), folder, never)
    assert PreparedData.open(folder) is None
    assert [path.name for path in folder.parent.iterdir()] == ["set.lock"]
    assert prepare(request_for(release), folder, never).folds == [1, 2, 3, 4, 5]


def prepare_and_count(make_request, folder, results):
    """Prepare in a process of its own, slowly enough to be met by another."""
    reads = []
    read_text = preparing.read_text

    def slowly(*arguments):
        reads.append(1)
        time.sleep(0.02)
        return read_text(*arguments)

    preparing.read_text = slowly
    results.put((prepare(make_request, folder, never).split(1).train.fingerprint, len(reads)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_ask_at_once_prepare_once(tmp_path, release, request_for):
    request = request_for(release)
    letor.read(release / "Fold1" / "test.txt")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [
        context.Process(target=prepare_and_count, args=(request, tmp_path / "cache" / "set", results)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    answers = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    assert sorted(reads for _, reads in answers) == [0, 0, 5]
    assert len({fingerprint for fingerprint, _ in answers}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_preparation_is_taken_up_by_the_next(tmp_path, release, request_for, monkeypatch):
    folder = tmp_path / "cache" / "set"
    letor.read(release / "Fold1" / "test.txt")
    request = request_for(release)

    def hang(*arguments):
        time.sleep(600)

    with monkeypatch.context() as patched:
        patched.setattr(preparing, "write_manifest", hang)
        worker = multiprocessing.get_context("fork").Process(target=prepare, args=(request, folder, never))
        worker.start()
        deadline = time.monotonic() + 60
        while not list(folder.parent.glob(".rankplug-working-*/*/query_ids.npy")) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    assert list(folder.parent.glob(".rankplug-working-*/*/query_ids.npy"))
    assert PreparedData.open(folder) is None
    assert prepare(request, folder, never).folds == [1, 2, 3, 4, 5]
    assert {path.name for path in folder.parent.iterdir()} == {"set", "set.lock"}


def test_prepared_data_are_made_anew_only_when_asked(tmp_path, release, request_for):
    folder = tmp_path / "set"
    first = prepare(request_for(release), folder, never).split(1).train.fingerprint
    for path in release.rglob("*.txt"):
        path.write_text(path.read_text().replace(".", ""))
    assert prepare(request_for(release), folder, never).split(1).train.fingerprint == first
    assert prepare(request_for(release), folder, lambda ready: True).split(1).train.fingerprint != first


def test_damage_is_found(tmp_path, release, request_for):
    folder = tmp_path / "set"
    prepared = prepare(request_for(release), folder, never)
    assert problems_of(prepared) == []
    features = np.load(folder / "features.npy", mmap_mode="r+")
    features[0, 0] += 1
    features.flush()
    assert problems_of(prepared)[0].startswith("fold 1 train: the arrays have changed")
    (folder / "labels.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"labels.npy is damaged"):
        prepared.split(1)
    (folder / MANIFEST).write_text("{")
    with pytest.raises(DataError, match=r"manifest.json is damaged"):
        PreparedData.open(folder)


def test_a_query_that_two_parts_share_is_found(tmp_path, release, texts, request_for):
    (release / "Fold2" / "test.txt").write_text(texts[2]["test"].replace("qid:101 ", "qid:202 "))
    prepared = prepare(request_for(release), tmp_path / "set", never)
    assert any("query 202 is in" in sentence for sentence in problems_of(prepared))


def test_data_of_an_older_layout_are_prepared_anew(tmp_path, release, request_for):
    folder = tmp_path / "set"
    prepare(request_for(release), folder, never)
    manifest = folder / MANIFEST
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 0'))
    assert PreparedData.open(folder) is None
    prepare(request_for(release), folder, never)
    assert PreparedData.open(folder) is not None
