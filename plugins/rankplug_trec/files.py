"""Runs and judgements as TREC's tools read and write them, lines of words, one a document; and metrics of runs.

A line of a run is ``query Q0 document rank score tag``, one of judgements (qrels) ``query 0 document relevance``. Lines
that begin with ``#`` are comments, in which a run may carry its metadata (ir_metadata, Breuer et al., SIGIR 2022).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, shown
from rankplug.metrics import Metric
from rankplug.registry import Named
from rankplug.system import numbers, whole_file

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Form:
    """Form of a file's lines.

    Args:
        what: the file, in words.
        value: the number of a line.
        place: place of the number among the words; query and document are the first and the third.
        words: number of words of a line.
    """

    what: str
    value: str
    place: int
    words: int


RUN, QRELS = Form("run", "score", 4, 6), Form("qrels", "relevance", 3, 4)
LARGEST = np.float32(3e38)
SYNONYMS = {
    "query": ("qid", "query_id", "query"),
    "document": ("document", "doc_id", "docno", "docid"),
    "score": ("score",),
    "relevance": ("relevance", "label"),
}
"""Names of columns in data frames of ours, of ir-measures and of PyTerrier."""


def document_names(lists: Lists) -> NDArray[np.str_]:
    """Return a name without blanks for each document: its own, or query and position where its query's are not unique.

    >>> lists = Lists(np.ones((3, 1), np.float32), labels=[0, 1, 0], starts=[0, 2, 3], query_ids=[7, 9])
    >>> document_names(lists).tolist()
    ['7-1', '7-2', '9-1']
    """
    queries = query_names(lists)[lists.query_of_document]
    if lists.document_ids is not None:
        names = np.array([_word(name) for name in lists.document_ids.tolist()], dtype=np.str_)
        pairs = np.char.add(np.char.add(queries, " "), names)
        if np.unique(pairs).size == pairs.size and (names != "").all():
            return names
    places = np.arange(lists.documents) - lists.starts[:-1][lists.query_of_document] + 1
    return np.char.add(np.char.add(queries, "-"), places.astype(np.str_))


def query_names(lists: Lists) -> NDArray[np.str_]:
    """Return the queries' names, without blanks."""
    return np.array([_word(name) for name in lists.query_ids.tolist()], dtype=np.str_)


def _beginnings(lists: Lists) -> NDArray[np.str_]:
    """Return the queries' names, with which lines begin; raise where readers would take them for something else."""
    names = query_names(lists)
    if (comments := np.char.startswith(names, "#")).any():
        raise DataError(f"query {str(names[comments][0])!r} begins with #, as comments of TREC's files do; rename it")
    if (names == "").any():
        raise DataError(f"query {int(np.flatnonzero(names == '')[0])} has an empty name; name it")
    unique, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise DataError(f"{int(counts.max())} queries are called {str(unique[counts.argmax()])!r}; rename all but one")
    return names


def _word(name: Any) -> str:
    return "_".join(str(name).split())


def write_run(
    path: str | os.PathLike[str],
    lists: Lists,
    scores: ArrayLike,
    *,
    tag: str = "rankplug",
    metadata: Mapping[str, Any] | None = None,
    depth: int | None = None,
) -> int:
    """Write a run, and return its number of lines.

    Tools that read it sort by single-precision scores and break ties each in its way. So scores are rounded, and those
    of documents that would tie fall by the least step from one to the next, in the order of the data.

    Args:
        path: the file.
        lists: the documents.
        scores: float array of shape (documents,).
        tag: name of the run.
        metadata: written as YAML in comments before the first line.
        depth: documents of a query at most.
    """
    values = numbers(scores, "scores").reshape(-1)
    if values.shape != lists.labels.shape:
        raise DataError(f"{lists.documents} documents, but {values.size} scores")
    if np.isnan(values).any():
        raise DataError(f"the score of document {np.flatnonzero(np.isnan(values))[0]} is nan, so it has no rank")
    order = np.lexsort((-values, lists.query_of_document))
    queries, names, word = _beginnings(lists), document_names(lists)[order], _word(tag) or "rankplug"
    falling = _falling(values[order], lists.starts)

    def lines() -> Iterator[str]:
        if metadata is not None:
            text = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=10_000)
            yield from (f"# {line}\n" for line in ("ir_metadata.start", *text.splitlines(), "ir_metadata.end"))
        for query, begin, end in zip(queries, lists.starts[:-1], lists.starts[1:], strict=True):
            for rank, place in enumerate(range(begin, end if depth is None else min(end, begin + depth)), start=1):
                yield f"{query} Q0 {names[place]} {rank} {falling[place]:.9g} {word}\n"

    _write(path, lines())
    return int(lists.lengths.sum() if depth is None else np.minimum(lists.lengths, depth).sum())


def _falling(scores: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return sorted scores in single precision, each of a query below the one before."""
    rounded = np.clip(scores, -LARGEST, LARGEST).astype(np.float32)
    first = np.zeros(scores.size, np.bool_)
    first[starts[:-1]] = True
    for place in np.flatnonzero(np.diff(rounded) >= 0) + 1:
        # A step down may reach the next score, and so on.
        while place < rounded.size and not first[place] and rounded[place] >= rounded[place - 1]:
            rounded[place] = np.nextafter(rounded[place - 1], np.float32(-np.inf))
            place += 1
    return rounded


def write_qrels(path: str | os.PathLike[str], lists: Lists) -> int:
    """Write the labels as judgements, and return the number of lines; labels must be whole numbers."""
    if (lists.labels % 1 != 0).any():
        place = int(np.flatnonzero(lists.labels % 1 != 0)[0])
        raise DataError(
            f"label {lists.labels[place]:g} of document {place} is no whole number, and judgements of TREC are; map"
            " labels to grades first"
        )
    queries, names = _beginnings(lists)[lists.query_of_document], document_names(lists)

    labels = lists.labels.astype(np.int64)
    _write(path, (f"{query} 0 {name} {label}\n" for query, name, label in zip(queries, names, labels, strict=True)))
    return lists.documents


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    try:
        with whole_file(Path(path)) as file:
            for line in lines:
                file.write(line.encode(errors="surrogateescape"))
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; free space or allow writing there, or name another file"
        ) from error


def read_run(run: Any) -> pd.DataFrame:
    """Read a run, from a file, a data frame or ``{query: {document: score}}``: columns query, document and score."""
    return _frame(run, RUN)


def read_qrels(qrels: Any) -> pd.DataFrame:
    """Read judgements, from a file, a data frame or ``{query: {document: relevance}}``."""
    return _frame(qrels, QRELS)


def _frame(source: Any, form: Form) -> pd.DataFrame:
    import pandas as pd

    what, value, where = form.what, form.value, form.what
    names = ["query", "document", value]
    if isinstance(source, (str, os.PathLike)):
        where = f"{what} {source}"
        frame = pd.DataFrame(_rows(Path(source), form), columns=names)
    elif isinstance(source, Mapping):
        if wrong := [documents for documents in source.values() if not isinstance(documents, Mapping)]:
            raise DataError(f"{what} maps queries to dictionaries of documents, not to {shown(wrong[0])}")
        rows = [(query, name, number) for query, documents in source.items() for name, number in documents.items()]
        frame = pd.DataFrame(rows, columns=names)
    elif isinstance(source, pd.DataFrame):
        columns = {name: next((word for word in SYNONYMS[name] if word in source.columns), "") for name in names}
        if absent := [name for name, column in columns.items() if not column]:
            raise DataError(f"{what} has no column {absent[0]}: name it one of {', '.join(SYNONYMS[absent[0]])}")
        frame = pd.DataFrame({name: source[column].to_numpy() for name, column in columns.items()})
    else:
        raise DataError(f"{what} is a path, a data frame or a dictionary of dictionaries, not {type(source).__name__}")
    frame["query"], frame["document"] = frame["query"].astype(str), frame["document"].astype(str)
    frame[value] = numbers(frame[value].to_numpy(), f"the column {value} of {what}")
    for wrong_rows, problem in (
        (frame[value].isna(), f"has the {value} nan, so it has no rank"),
        (frame.duplicated(["query", "document"]), "stands twice"),
    ):
        if wrong_rows.any():
            first = frame[wrong_rows].iloc[0]
            raise DataError(f"{where}: document {first['document']} of query {first['query']} {problem}")
    return frame


def _rows(path: Path, form: Form) -> Iterator[tuple[str, str, float]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise DataError(f"{path} is no {form.what}: it is no UTF-8 text") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        try:
            if len(words) != form.words:
                raise ValueError
            yield words[0], words[2], float(words[form.place])
        except ValueError:
            expected = f"expected {form.words} words of a {form.what}, the {form.place + 1}th a number"
            raise DataError(f"{path}, line {number}: {expected}; the line is {line[:80]!r}") from None


def evaluate_run(run: Any, qrels: Any, metric: Named | Metric) -> pd.Series[float]:
    """Compute one value for each judged query, by its name; a query that the run lacks has retrieved nothing.

    A document of a run without a judgement counts as irrelevant; a judged one that the run lacks was not retrieved,
    and counts only in what could have been found. Documents with equal scores are ordered by name, last first, as
    trec_eval has it. Negative judgements are 0.

    Args:
        run: a file of TREC's format, a data frame, or ``{query: {document: score}}``.
        qrels: judgements, a file, a data frame, or ``{query: {document: relevance}}``.
        metric: its name, such as ``"ndcg@10[gain=linear]"``, which trec_eval calls ``ndcg_cut_10``.

    >>> evaluate_run({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"b": 1, "c": 1}}, "recall@5").to_dict()
    {'q1': 0.5}
    """
    import pandas as pd

    quality = Metric.named(metric)
    ranked, judged = read_run(run), read_qrels(qrels)
    if judged.empty:
        raise DataError("qrels judge no document")
    queries = pd.Index(judged["query"].unique(), name="query_id")
    common = ranked[ranked["query"].isin(queries)]
    if common.empty:
        ranks = f"ranks query {ranked['query'].iloc[0]}" if len(ranked) else "ranks nothing"
        raise DataError(f"the run has none of the judged queries, such as {queries[0]}: it {ranks}; name queries alike")
    both = common.merge(judged, on=["query", "document"], how="outer")
    both["retrieved"] = both["score"].notna()
    # By name, last first, which a stable order of equal scores keeps; what was not retrieved comes last.
    both["place"] = queries.get_indexer(both["query"])
    both = both.sort_values("document", ascending=False, kind="stable")
    both = both.sort_values(["place", "retrieved"], ascending=[True, False], kind="stable")
    lengths = np.bincount(both["place"], minlength=queries.size)
    retrieved = np.bincount(both["place"], weights=both["retrieved"], minlength=queries.size).astype(np.int64)
    value = quality(
        both["score"].fillna(0.0).to_numpy(),
        both["relevance"].fillna(0.0).clip(lower=0.0).to_numpy(),
        np.concatenate(([0], np.cumsum(lengths))),
        retrieved=retrieved,
    )
    series = pd.Series(value, index=queries, name=str(quality))
    series.attrs["metric"] = quality.canonical
    return series
