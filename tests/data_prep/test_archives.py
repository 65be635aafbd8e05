"""Folders and archives of every kind give the same files, and nothing is ever unpacked."""

import gzip
import io
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_data import archives
from rankplug_data.archives import blocks_of_file, members

import rankplug as rp
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


def test_archives_of_every_kind_and_folders_give_their_files(tmp_path):
    for mode in ("w", "w:gz", "w:xz", "w:bz2"):
        assert contents(as_tar(tmp_path / "anything", mode)) == FILES
    assert contents(as_zip(tmp_path / "set.zip")) == FILES
    assert contents(as_folder(tmp_path / "folder")) == FILES


def test_an_archive_inside_an_archive_is_opened(tmp_path):
    inner = as_tar(tmp_path / "inner.tar.bz2", "w:bz2").read_bytes()
    assert contents(as_tar(tmp_path / "a.tgz", "w:gz", {"dataset/inner.tar.bz2": inner})) == FILES
    assert contents(as_zip(tmp_path / "a.zip", {"dataset/inner.tar.bz2": inner})) == FILES
    zipped = as_zip(tmp_path / "inner.zip").read_bytes()
    assert contents(as_zip(tmp_path / "b.zip", {"inner.zip": zipped})) == FILES


def test_a_cut_or_damaged_zip_is_an_error_that_names_it(tmp_path):
    whole = bytearray(as_zip(tmp_path / "bad.zip").read_bytes())
    (tmp_path / "bad.zip").write_bytes(whole[:-30])
    with pytest.raises(DataError, match=r"bad.zip is cut off or damaged"):
        contents(tmp_path / "bad.zip")
    at = whole.index(b"train.txt") + len(b"train.txt") + 3
    whole[at] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(whole)
    with pytest.raises(DataError, match=r"bad.zip:SET/Fold1/train.txt is cut off or damaged"):
        contents(tmp_path / "bad.zip")


def test_a_zip_that_grows_out_of_proportion_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(archives, "LARGEST_GROWTH", 10)
    files = {"train.txt": b"0 qid:1 1:1\n" * 1_000_000}
    for bomb in (as_zip(tmp_path / "bomb.zip", files), as_tar(tmp_path / "bomb.tgz", "w:gz", files)):
        with pytest.raises(DataError, match="grows to more than"):
            contents(bomb)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(files["train.txt"]))
    for read in (contents, lambda path: list(blocks_of_file(path))):
        with pytest.raises(DataError, match="grows to more than"):
            read(tmp_path / "bomb.gz")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("files", [FILES, {"a/b/train.txt": b"", "c": b"1 qid:1 1:1\n"}])
def test_a_tar_that_is_cut_anywhere_is_refused(tmp_path, mode, files):
    """Between two files, within a header, within a file: only the padding behind the end may be missing."""
    whole = as_tar(tmp_path / "whole.tar", "w", files).read_bytes()
    end = sum(512 + -(-len(content) // 512) * 512 for content in files.values())
    assert whole[end : end + 1024] == b"\0" * 1024
    cut = tmp_path / "cut.tar"
    for length in [*range(0, end, 256), end, end + 511]:
        cut.write_bytes(gzip.compress(whole[:length], 1) if mode == "w:gz" else whole[:length])
        if length < 512:
            continue
        with pytest.raises(DataError, match=r"cut.tar\S* is cut off or damaged \(.*\); fetch it again"):
            contents(cut)
    cut.write_bytes(whole[: end + 512])
    assert contents(cut) == files


def test_a_tar_whose_headers_are_damaged_is_refused(tmp_path):
    whole = bytearray(as_tar(tmp_path / "whole.tar", "w").read_bytes())
    second = whole.index(b"SET/Fold1/test.txt")
    whole[second + 3] ^= 1
    (tmp_path / "bad.tar").write_bytes(whole)
    with pytest.raises(DataError, match=r"bad.tar is cut off or damaged \(bad checksum\)"):
        contents(tmp_path / "bad.tar")


CLAIMS = {
    "a file": lambda info: info,
    "an extended header": lambda info: setattr(info, "type", tarfile.XHDTYPE),
    "a long name": lambda info: setattr(info, "type", tarfile.GNUTYPE_LONGNAME),
    "a sparse file": lambda info: setattr(info, "type", tarfile.GNUTYPE_SPARSE),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("size", [1 << 60, 1 << 40, 4096])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_small_tar_that_claims_to_be_large_is_refused(tmp_path, claim, size, pack):
    info = tarfile.TarInfo("Fold1/train.txt")
    CLAIMS[claim](info)
    info.size = size
    (tmp_path / "set.tar").write_bytes(pack(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1536))
    with pytest.raises(DataError, match=r"set.tar\S* is cut off or damaged|grows to more than 1000 times"):
        contents(tmp_path / "set.tar")


def test_zips_with_a_password_or_of_an_unknown_kind_are_refused(tmp_path):
    for place, value, sentence in (
        (6, 1, "is not read here .*password.*; unpack it and name the folder"),
        (8, 97, "is not read here .*compression"),
    ):
        content = bytearray(as_zip(tmp_path / "set.zip", {"train.txt": b"1 qid:1 1:1\n"}).read_bytes())
        for start, shift in ((content.index(b"PK\x03\x04"), 0), (content.index(b"PK\x01\x02"), 2)):
            content[start + shift + place] = value
        (tmp_path / "set.zip").write_bytes(content)
        with pytest.raises(DataError, match=f"set.zip:train.txt {sentence}"):
            contents(tmp_path / "set.zip")


@pytest.mark.timeout(20)
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "train.txt")
    with pytest.raises(DataError, match=r"train.txt cannot be read: it is no regular file; save what comes"):
        contents(tmp_path / "train.txt")
    assert contents(tmp_path) == {}
    assert b"MemTotal" in contents(Path("/proc/meminfo"))["meminfo"]


TEXTS = st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), min_size=1).map(b"\n".join)


@given(TEXTS.filter(lambda text: archives.kind_of(text) == "plain" and not text.startswith(b"\xef\xbb\xbf")))
def test_blocks_joined_are_the_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("blocks") / "text"
    path.write_bytes(text)
    whole = text if text.endswith(b"\n") or not text else text + b"\n"
    for blocks in (blocks_of_file(path, 16), archives._blocks(buffered(text), "stream", 0, 16)):
        pieces = [block.tobytes() for block in blocks]
        assert b"".join(pieces) == whole
        assert all(piece.endswith(b"\n") for piece in pieces)


def buffered(content):
    return io.BufferedReader(io.BytesIO(content))


class EndlessLine(io.RawIOBase):
    """Two gigabytes without a line end, made as they are read."""

    left = 2 << 30

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), self.left)
        self.left -= size
        buffer[:size] = b"1" * size
        return size


def test_a_line_of_two_gigabytes_is_refused_in_little_memory():
    stream = EndlessLine()
    tracemalloc.start()
    with pytest.raises(DataError, match=r"wide.txt, line 1: a line of more than 4,194,304 bytes.*begins with '1111"):
        list(archives._blocks(io.BufferedReader(stream), "wide.txt", 0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20
    assert stream.left > 1 << 30


def test_a_cut_off_compressed_text_is_an_error(tmp_path):
    whole = gzip.compress(b"".join(b"0 qid:%d 1:1\n" % row for row in range(10_000)))
    path = tmp_path / "cut.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut.gz is cut off or damaged"):
        list(blocks_of_file(path))
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    with pytest.raises(DataError, match=r"cut.gz is cut off or damaged"):
        list(blocks_of_file(path))


def cut_short(path):
    with path.open("r+b") as file:
        file.truncate(40)


def written_again(path):
    path.write_bytes(b"1 qid:2 1:2\n" * 100)


def appended_to(path):
    with path.open("ab") as file:
        file.write(b"0 qid:9 1:1\n")


@pytest.mark.parametrize("change", [cut_short, written_again, appended_to])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, change, pack):
    """A mapped file that is cut short would end the process by a bus error."""
    path = tmp_path / "train.txt"
    path.write_bytes(pack(b"0 qid:1 1:1\n" * 100))
    os.utime(path, ns=(1, 1))
    blocks = blocks_of_file(path, 120)
    next(blocks)
    change(path)
    with pytest.raises(DataError, match=r"train.txt (changed while it was read; load it again once|is cut off)"):
        for _ in blocks:
            pass


def with_links(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for kind, name in ((tarfile.SYMTYPE, "vali.txt"), (tarfile.LNKTYPE, "test.txt"), (tarfile.CHRTYPE, "dev")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    return path


@pytest.mark.parametrize("pack", [as_zip, with_links])
def test_hostile_names_write_only_into_the_cache(pack, tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    lines = "".join(f"{n % 2} qid:{n // 5} 1:{n}\n" for n in range(50)).encode()
    path = pack(tmp_path / "hostile", dict.fromkeys(["../../train.txt", "/tmp/vali.txt", "..\\..\\test.txt"], lines))
    before = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    split = rp.load({"name": "letor-file", "path": str(path)})
    assert [part.documents for part in split] == [50, 50, 50]
    after = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    assert after - before == {tmp_path / "cache"}


def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1 << 20)
    monkeypatch.setattr(archives, "LARGEST_GROWTH", 10)
    files = dict.fromkeys(["train.txt", "vali.txt", "test.txt"], b"0 qid:1 1:1\n" * 2_000_000)
    with pytest.raises(DataError, match="grows to more than 10 times"):
        rp.load({"name": "letor-file", "path": str(as_tar(tmp_path / "bomb.tgz", "w:gz", files))})
    written = sum(found.stat().st_size for found in (tmp_path / "cache").rglob("*") if found.is_file())
    assert written < 1 << 20
