"""The reader of LETOR text agrees with a reader of a few lines of Python and with scikit-learn."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankplug_data import letor
from rankplug_data.archives import BLOCK
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankplug import use_threads
from rankplug.errors import DataError


def write(folder, text, name="text.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, **options):
    return letor.read(write(folder, text), **options)


def same_bits(left, right):
    return np.array_equal(left.view(np.uint32), np.ascontiguousarray(right, np.float32).view(np.uint32))


def read_slowly(text):
    """Read labels, queries and rows as dictionaries, by splitting and ``float``."""
    documents = []
    for line in text.split("\n"):
        words = [word for word in re.split("[ \t\r]", line.split("#")[0]) if word]
        if words:
            features = dict(word.split(":") for word in words[2:])
            values = {int(name): math.nan if value == "NULL" else float(value) for name, value in features.items()}
            documents.append((float(words[0]), int(words[1].removeprefix("qid:")), values))
    return documents


def assert_reads_as(lists, documents, first_feature=1):
    assert lists.documents == len(documents)
    query_of_document = lists.query_ids[lists.query_of_document]
    for row, (label, query, values) in enumerate(documents):
        expected = np.zeros(lists.features.shape[1], np.float32)
        for feature, value in values.items():
            expected[feature - first_feature] = np.float32(value)
        assert lists.labels[row] == np.float32(label)
        assert query_of_document[row] == query
        assert np.array_equal(lists.features[row], expected, equal_nan=True)


def test_sparse_lines_leave_zeros(tmp_path):
    lists = read(tmp_path, b"\xef\xbb\xbf2 qid:7 3:1.5\n0 qid:7 3:3 1:2\n1 qid:9\n")
    assert lists.features.tolist() == [[0, 0, 1.5], [2, 0, 3], [0, 0, 0]]
    assert lists.labels.tolist() == [2, 0, 1]
    assert lists.query_ids.tolist() == [7, 9]
    assert lists.starts.tolist() == [0, 2, 3]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_the_last_one_do_not_matter(tmp_path, ends, last):
    text = ends.join(["1 qid:1 1:0.5 # docid = A", "", "# a comment", "0 qid:1\t1:2 "]) + (ends if last else "")
    lists = read(tmp_path, text)
    assert lists.features.tolist() == [[0.5], [2]]
    assert lists.document_ids.tolist() == ["A", ""]


def test_document_names_are_kept(tmp_path):
    lists = read(
        tmp_path,
        "0 qid:1 1:1 #docid = GX004-93-7097963 inc = 0.0428 prob = 0.08\n"
        "0 qid:1 1:1 # 17A\n"
        "0 qid:1 1:1 # docid 17\n"
        "0 qid:1 1:1\n"
        "0 qid:1 1:1 #docid=caf\u00e9\n"
        f"0 qid:1 1:1 #{'x' * 100}\n",
    )
    assert lists.document_ids.tolist() == ["GX004-93-7097963", "17A", "docid 17", "", "caf\u00e9", "x" * 64]
    assert read(tmp_path, "0 qid:1 1:1\n").document_ids is None


def test_the_columns_widen_when_a_feature_is_new(tmp_path):
    narrow = "1 qid:1 1:1 2:2\n" * (BLOCK // 16 + 1)
    lists = read(tmp_path, f"{narrow}0 qid:2 5:5\n")
    assert lists.features.shape == (BLOCK // 16 + 2, 5)
    assert lists.features[0].tolist() == [1, 2, 0, 0, 0]
    assert lists.features[-1].tolist() == [0, 0, 0, 0, 5]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_threads_changes_nothing(tmp_path, workers):
    generator = np.random.default_rng(0)
    values = generator.lognormal(0, 3, (40_000, 8))
    text = "".join(
        f"{row % 5} qid:{row // 100} {' '.join(f'{column + 1}:{value!r}' for column, value in enumerate(line))}\n"
        for row, line in enumerate(values.tolist())
    )
    with use_threads(workers):
        lists = read(tmp_path, text)
    assert same_bits(lists.features, values)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.dictionaries(st.integers(1, 30), st.floats(width=64, allow_nan=False, allow_infinity=False), max_size=9),
        ),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([repr, "{:.17g}".format, "{:.3e}".format, "{:.30f}".format, "{:+.6f}".format, "{:.0f}".format]),
)
@settings(max_examples=80)
def test_values_are_those_of_float(tmp_path_factory, documents, written):
    text = "".join(
        f"{label} qid:{row // 4} {' '.join(f'{name}:{written(value)}' for name, value in features.items())}\n"
        for row, (label, features) in enumerate(documents)
    )
    with np.errstate(over="ignore"):
        assert_reads_as(read(tmp_path_factory.mktemp("values"), text), read_slowly(text))


MIDPOINTS = [
    (np.float64(np.uint32(bits).view(np.float32)) + np.float64(np.uint32(bits + 1).view(np.float32))) / 2
    for bits in np.random.default_rng(3).integers(1, 0x7F7FFFFE, 300)
]
"""Numbers halfway between two float32, where one digit decides."""
DIFFICULT = [
    *(f"{value:.60g}" for middle in MIDPOINTS for value in np.nextafter(middle, [0, middle, 9e99])),
    *(f"{middle:.17g}" for middle in MIDPOINTS),
    "-0", "0e999", "1e400", "-1e400", "1e-400", "9" * 400, f"0.{'0' * 400}1", "1e23", "9007199254740993",
    "3.4028235677973365e38", "3.4028235677973366e38", "7.0064923216240853e-46", "7.0064923216240854e-46",
]  # fmt: skip


def test_numbers_at_the_edge_of_rounding_are_those_of_float(tmp_path):
    features = read(tmp_path, "".join(f"1 qid:1 1:{text}\n" for text in DIFFICULT)).features
    with np.errstate(over="ignore"):
        assert same_bits(features[:, 0], np.array([float(text) for text in DIFFICULT]))
    labels = read(tmp_path, f"{DIFFICULT[1]} qid:1 1:NULL 2:7\n".replace("e-", "e")).labels
    assert labels.tolist() == [np.float32(float(DIFFICULT[1].replace("e-", "e")))]


def test_nearly_empty_wide_lines_are_refused(tmp_path):
    """A text of 2 MB would take 46 GB."""
    with pytest.raises(DataError, match="lines are nearly empty, so that 100,000 columns would take"):
        read(tmp_path, "0 qid:1 100000:1\n" * (BLOCK // 17))


def test_values_are_bit_for_bit_those_of_scikit_learn(tmp_path):
    generator = np.random.default_rng(1)
    features = generator.standard_normal((500, 12)) * 10.0 ** generator.integers(-12, 12, (500, 12))
    features[generator.random((500, 12)) < 0.3] = 0
    queries = np.repeat(np.arange(50), 10)
    path = tmp_path / "dumped.txt"
    dump_svmlight_file(features, queries % 5, str(path), zero_based=False, query_id=queries)
    expected, labels, ids = load_svmlight_file(str(path), dtype=np.float32, query_id=True, zero_based=False)
    lists = letor.read(path)
    assert same_bits(lists.features, expected.toarray())
    assert np.array_equal(lists.labels, labels)
    assert np.array_equal(lists.query_ids[lists.query_of_document], ids)


@pytest.mark.parametrize("last", ["1 qid:1 1:0.12345678", "1 qid:1 1:1e5", "1", "1 qid:7", "#", "1 qid:1 1:NULL"])
@pytest.mark.parametrize("end", ["\n", ""])
def test_nothing_is_read_beyond_the_last_page_of_a_file(tmp_path, last, end):
    """A mapped file that fills its pages has nothing behind it that could be read by mistake."""
    first = "1 qid:1 1:1 #"
    padding = "x" * (8192 - len(first) - 1 - len(last) - len(end))
    path = write(tmp_path, f"{first}{padding}\n{last}{end}")
    assert path.stat().st_size == 8192
    assert letor.read(path, on_error="skip").features[0, 0] == 1


BROKEN = {
    "x qid:1 1:1": "expected a label, which is a number of zero or more, found 'x'",
    "-1 qid:1 1:1": "expected a label, which is a number of zero or more, found '-1'",
    "1 qid:1.5 1:1": "expected qid: and a whole number",
    "1 qid:1 two:2": "expected feature:value, where the feature is a whole number, found 'two:2'",
    "1 qid:1 1:1.2.3": "expected a number or NULL, found '1.2.3'",
    "1 qid:1 1:0x10": "expected a number or NULL",
    "1 qid:1 0:1": "expected a feature's number of at least 1, found '0:1'",
    "1 qid:1 999999:1": "expected a feature's number of at most 100000, found '999999:1'",
    "1 qid:1 2:1 2:2": "expected each feature once, found '2:2'",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_named(tmp_path, line):
    path = write(tmp_path, f"0 qid:1 1:1\n\n{line}\n0 qid:1 1:1\n")
    with pytest.raises(DataError, match=re.escape(f"{path}, line 3: {BROKEN[line]}")):
        letor.read(path)
    assert letor.read(path, on_error="skip").labels.tolist() == [0, 0]


def test_a_query_in_two_places_is_named_with_both(tmp_path):
    text = "0 qid:1 1:1\n0 qid:2 1:1\n0 qid:2 1:1\n0 qid:1 1:3\n"
    with pytest.raises(DataError, match="line 4: query 1 stands in two places, it ended at line 1"):
        read(tmp_path, text)
    assert read(tmp_path, text, on_error="skip").starts.tolist() == [0, 1, 3]


LETTERS = st.sampled_from(list(b"0123456789:.-+eEqidnulNULAF# \t\r\n"))


@given(st.lists(LETTERS, max_size=200).map(bytes) | st.binary(max_size=200))
@settings(max_examples=100)
def test_any_bytes_are_read_or_refused(tmp_path_factory, noise):
    path = write(tmp_path_factory.mktemp("noise"), b"0 qid:0 1:1\n" + noise)
    try:
        lists = letor.read(path)
    except DataError:
        with pytest.raises(DataError, match=re.escape(str(path))):
            letor.read(path)
        return
    assert_reads_as(lists, read_slowly(path.read_bytes().decode("latin-1").replace("nan", "NULL")))


@given(st.data())
@settings(max_examples=100)
def test_one_changed_letter_spoils_no_other_line(tmp_path_factory, data):
    """Whatever happens to a line, the lines before and after it are read as before when it is skipped."""
    lines = [f"{row % 3} qid:{row} 1:{row / 7:.6f} 3:{row}".encode() for row in range(6)]
    hit = data.draw(st.integers(1, 4))
    at = data.draw(st.integers(0, len(lines[hit]) - 1))
    changed = bytearray(lines[hit])
    changed[at] = data.draw(st.integers(0, 255).filter(lambda letter: letter not in b"\n"))
    folder = tmp_path_factory.mktemp("changed")
    expected = read(folder, b"\n".join(lines), features=9)
    lists = read(folder, b"\n".join([*lines[:hit], bytes(changed), *lines[hit + 1 :]]), features=9, on_error="skip")
    kept = [row for row in range(6) if row != hit]
    if lists.documents == 6:
        assert np.array_equal(lists.features[kept], expected.features[kept])
        assert np.array_equal(lists.labels[kept], expected.labels[kept])
