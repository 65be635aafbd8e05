"""Folders and archives of every kind give the same files, and nothing is ever unpacked."""

import io
import tarfile
import zipfile

import pytest
from rankplug_data.text import archives, compression
from rankplug_data.text.archives import members

from rankplug.errors import DataError

FILES = {"SET/Fold1/train.txt": b"1 qid:1 1:1\n" * 50, "SET/Fold1/test.txt": b"0 qid:2 1:2\n", "SET/readme": b"hello\n"}


def as_tar(path, mode, files=FILES):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def as_zip(path, files=FILES):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def as_folder(path, files=FILES):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def contents(source):
    return {member.name: b"".join(block.tobytes() for block in member.blocks()) for member in members(source)}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_tar_archives_give_their_files_whatever_their_name(tmp_path, mode):
    assert contents(as_tar(tmp_path / "anything", mode)) == FILES


def test_zip_archives_and_folders_give_the_same(tmp_path):
    assert contents(as_zip(tmp_path / "set.zip")) == FILES
    assert contents(as_folder(tmp_path / "folder")) == FILES


def test_a_file_alone_is_its_own_member(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"1 qid:1 1:1\n")
    assert contents(path) == {"train.txt": b"1 qid:1 1:1\n"}


def test_an_archive_inside_an_archive_is_opened(tmp_path):
    inner = as_tar(tmp_path / "inner.tar.bz2", "w:bz2").read_bytes()
    assert contents(as_tar(tmp_path / "a.tgz", "w:gz", {"dataset/inner.tar.bz2": inner})) == FILES
    assert contents(as_zip(tmp_path / "a.zip", {"dataset/inner.tar.bz2": inner})) == FILES
    zipped = as_zip(tmp_path / "inner.zip").read_bytes()
    assert contents(as_zip(tmp_path / "b.zip", {"inner.zip": zipped})) == FILES


def test_names_that_lead_outside_write_nothing(tmp_path):
    evil = {"../../outside.txt": b"1 qid:1 1:1\n", "/tmp/absolute.txt": b"1 qid:1 1:1\n"}
    folder = tmp_path / "deep" / "down"
    folder.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    for archive in (as_tar(folder / "evil.tar", "w", evil), as_zip(folder / "evil.zip", evil)):
        assert sorted(contents(archive).values()) == sorted(evil.values())
        archive.unlink()
    assert sorted(tmp_path.rglob("*")) == before


def test_links_in_archives_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        link = tarfile.TarInfo("Fold1/train.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert contents(tmp_path / "links.tar") == {}


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2"])
def test_a_cut_off_archive_is_an_error_that_names_it(tmp_path, mode):
    whole = as_tar(tmp_path / "cut.tar", mode).read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(DataError, match=r"cut.tar\S* is cut off or damaged"):
        contents(tmp_path / "cut.tar")


def test_a_cut_off_zip_is_an_error_that_names_it(tmp_path):
    whole = as_zip(tmp_path / "cut.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-30])
    with pytest.raises(DataError, match=r"cut.zip is cut off or damaged"):
        contents(tmp_path / "cut.zip")


def test_a_damaged_zip_member_is_an_error_that_names_it(tmp_path):
    whole = bytearray(as_zip(tmp_path / "bad.zip").read_bytes())
    at = whole.index(b"train.txt") + len(b"train.txt") + 3
    whole[at] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(whole)
    with pytest.raises(DataError, match=r"bad.zip:SET/Fold1/train.txt is cut off or damaged"):
        contents(tmp_path / "bad.zip")


def test_a_zip_that_claims_to_grow_out_of_proportion_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(archives, "LARGEST_GROWTH", 10)
    bomb = as_zip(tmp_path / "bomb.zip", {"train.txt": b"0 qid:1 1:1\n" * 100_000})
    with pytest.raises(DataError, match="grows to more than"):
        contents(bomb)


def test_a_tar_that_grows_out_of_proportion_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(compression, "LARGEST_GROWTH", 10)
    bomb = as_tar(tmp_path / "bomb.tgz", "w:gz", {"train.txt": b"0 qid:1 1:1\n" * 100_000})
    with pytest.raises(DataError, match="grows to more than 10 times"):
        contents(bomb)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=f"there is no file or folder {tmp_path}/nothing"):
        contents(tmp_path / "nothing")
