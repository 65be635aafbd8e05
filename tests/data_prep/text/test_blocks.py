"""Blocks of lines: nothing lost, nothing larger than allowed."""

import gzip
import io
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_data.text import compression
from rankplug_data.text.blocks import blocks_of_file, blocks_of_stream

from rankplug.errors import DataError

TEXTS = st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), min_size=1).map(b"\n".join)


@given(TEXTS.filter(lambda text: compression.kind_of(text) == "plain" and not text.startswith(b"\xef\xbb\xbf")))
def test_blocks_joined_are_the_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("blocks") / "text"
    path.write_bytes(text)
    whole = text if text.endswith(b"\n") or not text else text + b"\n"
    for blocks in (blocks_of_file(path, 16), blocks_of_stream(io.BytesIO(text), "stream", size=16)):
        pieces = [block.tobytes() for block in blocks]
        assert b"".join(pieces) == whole
        assert all(piece.endswith(b"\n") for piece in pieces)


class EndlessLine(io.RawIOBase):
    """Two gigabytes without a line end, made as they are read."""

    left = 2 << 30

    def readable(self):
        return True

    def read(self, size=-1):
        size = min(size, self.left)
        self.left -= size
        return b"1" * size


def test_a_line_of_two_gigabytes_is_refused_in_little_memory():
    stream = EndlessLine()
    tracemalloc.start()
    with pytest.raises(DataError, match=r"wide.txt, line 1: a line of more than 4,194,304 bytes.*begins with '1111"):
        list(blocks_of_stream(stream, "wide.txt"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20
    assert stream.left > 1 << 30


def test_a_long_line_is_refused_in_a_file_too(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_bytes(b"0 qid:1 1:1\n" * 3 + b"x" * 100)
    assert sum(block.size for block in blocks_of_file(path, 50)) == 137
    path.write_bytes(b"0 qid:1 1:1\n" * 3 + b"x" * 200)
    with pytest.raises(DataError, match=r"wide.txt, line 4: a line of more than 100 bytes"):
        list(blocks_of_file(path, 50))


def test_a_sparse_file_of_two_gigabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "holes.txt"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(DataError, match="line 1: a line of more than"):
        list(blocks_of_file(path))


def test_a_cut_off_compressed_text_is_an_error(tmp_path):
    whole = gzip.compress(b"".join(b"0 qid:%d 1:1\n" % row for row in range(10_000)))
    path = tmp_path / "cut.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut.gz is cut off or damaged"):
        list(blocks_of_file(path))
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    with pytest.raises(DataError, match=r"cut.gz is cut off or damaged"):
        list(blocks_of_file(path))


def test_a_text_that_grows_out_of_proportion_is_refused(monkeypatch):
    monkeypatch.setattr(compression, "ALWAYS_ALLOWED", 1 << 16)
    bomb = gzip.compress(b"0 qid:1 1:1\n" * 1_000_000)
    monkeypatch.setattr(compression, "LARGEST_GROWTH", 10)
    with pytest.raises(DataError, match=r"bomb.gz grows to more than 10 times its size"):
        list(blocks_of_stream(io.BytesIO(bomb), "bomb.gz", len(bomb)))


def test_what_cannot_be_opened_says_what_to_do(tmp_path):
    path = tmp_path / "Gov.rar"
    path.write_bytes(b"Rar!\x1a\x07\x01\x00" + bytes(100))
    with pytest.raises(DataError, match=r"Gov.rar is a rar archive, which is not read here; unpack it"):
        list(blocks_of_file(path))


def test_blocks_of_a_plain_file_are_views_of_it(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"0 qid:1 1:1\n" * 10)
    (block,) = blocks_of_file(path)
    assert not block.flags.owndata
    assert block.dtype == np.uint8


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
