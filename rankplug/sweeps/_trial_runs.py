"""Running a trial: load, fit, measure. A trial that fails or cannot run gives a result with the reason."""

from __future__ import annotations

import hashlib
import itertools
import json
import platform
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import NotRunError, RankplugError, did_you_mean
from rankplug.registry import registry
from rankplug.store import (
    Combination,
    DocumentScores,
    OtherTestPartError,
    Result,
    Store,
    StoredScores,
    StoreError,
    Trial,
    read_about,
)
from rankplug.system import is_environment_error, threads

if TYPE_CHECKING:
    from rankplug.data import Lists, Source, Split

Doubles = NDArray[np.float64]


def failed_result(trial: Trial, failure: str) -> Result:
    """Return the result of a trial that did not run to its end."""
    return Result(trial, failure=failure, record=_circumstances(time.time()))


def run_trial(
    trial: Trial, progress: bool | None = None, *, keep_scores: bool = False, stored: StoredScores | None = None
) -> Result:
    """Run a trial; one that fails, or cannot run, gives a result with the reason and raises nothing.

    Only a keyboard interrupt is raised: an interrupted trial is neither done nor failed.

    Args:
        trial: the trial.
        progress: whether a bar shows the training; by default in a terminal or a notebook.
        keep_scores: whether the result has the scores of the test documents.
        stored: stored scores of the trial; if they are of its test documents, they are measured and nothing is trained.
    """
    tell_observers("rankplug_trial_started", trial=trial)
    try:
        result = (stored and _measure_again(trial, stored)) or _run(trial, progress, keep_scores)
    except NotRunError as error:
        result = replace(failed_result(trial, str(error)), not_run=True)
    except RankplugError as error:
        failure = f"{type(error).__name__}: {error}"
        result = replace(failed_result(trial, failure), not_run=is_environment_error(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A plugin that exits, or raises what is no Exception, ends its own trial and not the sweep.
        result = replace(failed_result(trial, traceback.format_exc()), not_run=is_environment_error(error))
    tell_observers("rankplug_trial_finished", trial=trial, result=result)
    return result


def tell_observers(hook: str, **facts: Any) -> None:
    """Call a hook of the observers; one that fails is a warning, as an observer must not stop the trial."""
    for observer in getattr(registry().manager.hook, hook).get_hookimpls():
        try:
            observer.function(**{name: facts[name] for name in observer.argnames})
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            message = f"an observer failed in {hook}: {type(error).__name__}: {error}"
            warnings.warn(message, stacklevel=2)


NOT_RECORDED = ("curve", "combination", "categories", "encoding")
"""Parts of a model's record that a result does not repeat."""
LAST_DATA_BYTES = 2**27
"""Size of synthetic data up to which they stay in memory for the next trial, often another method on the same data."""


_last_data: list[tuple[tuple[Any, ...], str, list[Split]]] = []
"""The data of the last trial of this process, if they are small: what determines them, their pool and their blocks."""


def _blocks(source: Source, trial: Trial) -> Iterator[Split]:
    """Yield the blocks of a trial's data, which may be those of the last trial."""
    parts = source.determined_by
    key = () if parts is None else (*parts, trial.fold, trial.seed)
    for last_key, pool, last_blocks in tuple(_last_data):
        if last_key == key:
            source.pool = pool
            yield from last_blocks
            return
    _last_data.clear()
    blocks: list[Split] = []
    size = 0
    for split in source.blocks(trial.fold, trial.seed):
        size += sum(part.features.nbytes for part in split)
        if key and size <= LAST_DATA_BYTES:
            blocks.append(split)
        else:
            blocks.clear()
        yield split
    if blocks:
        _last_data[:] = [(key, source.pool, blocks)]


def _test_part(trial: Trial) -> tuple[Source, Split, Iterator[Lists]]:
    """Load a trial's data, and return their source, the first block of them and the test parts of all blocks."""
    from rankplug.data import Source

    combination = trial.combination
    try:
        source = Source(combination.dataset, combination.transforms)
        blocks = _blocks(source, trial)
        split = next(blocks)
    except Exception:
        # A file that is being written is no fault of the combination.
        combination.check_as_planned()
        raise
    combination.check_as_planned()
    return source, split, itertools.chain([split.test], (further.test for further in blocks))


def _measure_again(trial: Trial, stored: StoredScores) -> Result | None:
    """Measure a trial's metrics on stored scores; None where they are of other test documents."""
    begin = time.perf_counter()
    *_, tests = _test_part(trial)
    try:
        measured = _measure_blocks(stored.of_blocks(tests), trial.combination.metrics)
    except OtherTestPartError:
        return None
    if measured.fingerprint != stored.record.get("test_fingerprint"):
        return None
    seconds = time.perf_counter() - begin
    record = {**stored.record, "measured_from": stored.identity, "measured": time.time(), "measure_seconds": seconds}
    return Result(trial, measured.queries, measured.query_ids, stored.curve, record)


def _run(trial: Trial, progress: bool | None, keep_scores: bool) -> Result:
    from rankplug.training import fit

    combination = trial.combination
    started, begin = time.time(), time.perf_counter()
    source, split, tests = _test_part(trial)
    loaded = time.perf_counter()
    with warnings.catch_warnings():
        # An interrupted training is no trial, so its warning does not matter.
        warnings.filterwarnings("ignore", "training was interrupted")
        model = fit(
            **combination.fit_arguments,
            train=split.train,
            valid=split.valid,
            seed=trial.seed,
            progress=progress,
            callbacks=[
                lambda iteration, metrics: tell_observers(
                    "rankplug_trial_progressed", trial=trial, iteration=iteration, metrics=metrics
                )
            ],
        )
    if model.record.stopped == "interrupted":
        # Training returns what it has when it is interrupted; half a trial is no result.
        raise KeyboardInterrupt
    fitted = time.perf_counter()
    measured = _measure_blocks(((block, model.predict(block)) for block in tests), combination.metrics, keep_scores)
    record = {
        **_circumstances(started),
        **{name: value for name, value in model.record.describe().items() if name not in NOT_RECORDED},
        "load_seconds": loaded - begin,
        "fit_seconds": fitted - loaded,
        "measure_seconds": time.perf_counter() - fitted,
        "test_fingerprint": measured.fingerprint,
        "pool": source.pool,
        "queries": [len(split.train), len(split.valid), len(measured.query_ids)],
        "documents": [split.train.documents, split.valid.documents, measured.documents],
    }
    plain = json.loads(json.dumps(record, default=str))
    return Result(
        trial, measured.queries, measured.query_ids, model.record.curve, plain, model=model, scores=measured.scores
    )


class _Measurements(NamedTuple):
    """Metrics of the whole test part, with its scores where they are to be stored."""

    queries: dict[str, Doubles]
    query_ids: tuple[str, ...]
    documents: int
    fingerprint: str
    scores: DocumentScores | None


def _measure_blocks(
    blocks: Iterable[tuple[Lists, Doubles]], metrics: Iterable[str], keep_scores: bool = False
) -> _Measurements:
    """Measure the scores of a test part that comes in blocks, of which few are in memory at a time."""
    from rankplug.metrics import evaluate

    values: dict[str, list[Doubles]] = {metric: [] for metric in metrics}
    names: list[str] = []
    digests: list[str] = []
    documents = 0
    stored: list[tuple[Doubles, Any]] = []
    for block, scores in blocks:
        for metric, of_blocks in values.items():
            of_blocks.append(np.asarray(evaluate(scores, block, metric), np.float64))
        names += map(str, block.query_ids)
        digests.append(block.fingerprint)
        documents += block.documents
        if keep_scores:
            stored.append((scores, block.lengths))
    joined = hashlib.blake2b("".join(digests).encode(), digest_size=16).hexdigest()
    scores_and_lengths = [np.concatenate(arrays) for arrays in zip(*stored, strict=True)]
    return _Measurements(
        {metric: np.concatenate(of_blocks) for metric, of_blocks in values.items()},
        tuple(names),
        documents,
        digests[0] if len(digests) == 1 else joined,
        DocumentScores(*scores_and_lengths) if keep_scores else None,
    )


def _circumstances(started: float) -> dict[str, Any]:
    return {"started": started, "machine": platform.node(), "threads": threads()}


@dataclass(frozen=True, eq=False)
class KeptRun:
    """Test documents of a trial with their scores.

    Args:
        trial: the trial.
        lists: the test part of its data.
        scores: one score per document.
        record: versions, timings and digests of the trial.
    """

    trial: Trial
    lists: Lists
    scores: NDArray[np.float64]
    record: dict[str, Any]


def kept_run(identity: str, store: Store) -> KeptRun:
    """Return the test documents of a trial with their stored scores.

    Args:
        identity: identity of the trial, such as ``0123456789abcdef-f1-t0``.
        store: the store of its result and scores.
    """
    paths = {path.stem: path for path in store.files()}
    if identity not in paths:
        hint = did_you_mean(identity, paths) if paths else "it holds none"
        raise StoreError(f"{store.folder} has no trial {identity}: {hint}")
    about = read_about(paths[identity])
    trial = Trial(Combination(**about["combination"]), about["fold"], about["trial"])
    if not store.with_scores([trial]):
        raise StoreError(f"the scores of {identity} were not stored; run the sweep again with --keep-scores")
    return ranked_by(trial, store)


def ranked_by(trial: Trial, store: Store) -> KeptRun:
    """Return the test documents of a trial with their stored scores."""
    from rankplug.data import Lists

    stored = store.stored_scores(trial)
    try:
        blocks, scores = zip(*stored.of_blocks(_test_part(trial)[2]), strict=True)
    except OtherTestPartError:
        raise StoreError(
            f"the scores of {trial.identity} are of other documents than {trial.combination.dataset} has"
        ) from None
    return KeptRun(trial, Lists.concatenate(list(blocks)), np.concatenate(scores), stored.record)
