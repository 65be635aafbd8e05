"""Names of documents, from the comments at the ends of the lines: what follows ``docid =``, else the whole comment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, part
from rankplug_data.text.blocks import Letters

LONGEST_NAME = 64
"""Letters of a name that are kept."""

_DOCID = (100, 111, 99, 105, 100)
_EQUALS, _SPACE = 61, 32


@part(nogil=True)
def _skip_spaces(text: np.ndarray, at: int, end: int) -> int:
    while at < end and text[at] <= _SPACE:
        at += 1
    return at


@part(nogil=True)
def _behind_docid(text: np.ndarray, begin: int, end: int) -> int:
    """Find where the name behind ``docid =`` begins; -1 without one."""
    for at in range(begin, end - len(_DOCID)):
        matched = 0
        while matched < len(_DOCID) and text[at + matched] | 32 == _DOCID[matched]:
            matched += 1
        if matched == len(_DOCID):
            equals = _skip_spaces(text, at + matched, end)
            if equals < end and text[equals] == _EQUALS:
                return _skip_spaces(text, equals + 1, end)
    return -1


@ArrayFunction
def copy_names(text: np.ndarray, comments: np.ndarray, names: np.ndarray) -> int:
    """Fill one row of letters a document; return the length of the longest."""
    longest = 1
    for row in range(comments.shape[0]):
        begin, end = comments[row, 0], comments[row, 1]
        first = _behind_docid(text, begin, end)
        if first < 0:
            first = _skip_spaces(text, begin, end)
            last = end
            while last > first and text[last - 1] <= _SPACE:
                last -= 1
        else:
            last = first
            while last < end and text[last] > _SPACE:
                last += 1
        length = min(last - first, names.shape[1])
        # A loop, as numba compiles an assignment of whole slices for seconds.
        for place in range(length):
            names[row, place] = text[first + place]
        longest = max(longest, length)
    return longest


def document_names(text: Letters, comments: NDArray[np.int64]) -> NDArray[np.str_] | None:
    """Return one name a document, None where no line has a comment.

    >>> letters = np.frombuffer(b"#docid = GX1 inc = 1", np.uint8)
    >>> document_names(letters, np.array([[1, 20]])).tolist()
    ['GX1']
    """
    if not (comments[:, 1] > comments[:, 0]).any():
        return None
    letters = np.zeros((comments.shape[0], LONGEST_NAME), np.uint8)
    longest = copy_names(text, comments, letters)
    names = np.ascontiguousarray(letters[:, :longest]).view(f"S{longest}").ravel()
    try:
        return names.astype(np.str_)
    except UnicodeDecodeError:
        return np.array([name.decode("utf-8", "replace") for name in names.tolist()], dtype=np.str_)
