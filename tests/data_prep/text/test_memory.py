"""Memory of reading: the matrix once and a few blocks, or on the way to the disk the blocks alone."""

import tracemalloc

import numpy as np
import pytest
from rankplug_data.preparation.texts import read_text
from rankplug_data.text import letor
from rankplug_data.text.archives import members

from rankplug import use_threads

COLUMNS = 136
UNIT = 1 << 22
"""The unit of these limits: the longest line, and what was read at once when they were set."""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Write about 80 MB of lines of 136 short values."""
    path = tmp_path_factory.mktemp("memory") / "text.txt"
    features = " ".join(f"{column + 1}:{column / 7:.2f}" for column in range(COLUMNS))
    with path.open("w") as file:
        for query in range(660):
            file.write(f"1 qid:{query} {features}\n" * 100)
    (path.parent / "one.txt").write_text("1 qid:1 1:1\n")
    letor.read(path.parent / "one.txt")
    return path


def peak_while(read):
    tracemalloc.start()
    try:
        result = read()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("workers", [1, 2])
def test_reading_holds_the_matrix_and_a_few_blocks(text, workers):
    with use_threads(workers):
        lists, peak = peak_while(lambda: letor.read(text))
    assert lists.features.shape == (66_000, COLUMNS)
    assert peak < lists.features.nbytes + (2 + workers) * UNIT


def test_reading_on_the_way_to_the_disk_holds_a_few_blocks(text, tmp_path):
    (member,) = members(text)
    columns = letor.Columns(count=COLUMNS)
    with use_threads(1):
        read, peak = peak_while(lambda: read_text(member, tmp_path / "rows", columns, "raise", letor.SkippedLines()))
    assert read.shape == (66_000, COLUMNS)
    assert (tmp_path / "rows").stat().st_size == 4 * 66_000 * COLUMNS
    assert peak < 3 * UNIT
    stored = np.fromfile(tmp_path / "rows", np.float32).reshape(read.shape)
    assert np.array_equal(stored[-1], letor.read(text).features[-1])
