"""Runs of trials: load, fit, measure; a trial that fails or cannot run gives a result that says why."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import platform
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankplug.errors import NotRunError, RankplugError
from rankplug.registry import registry
from rankplug.store.kept_scores import DocumentScores, KeptScores, OtherTestPartError
from rankplug.store.trials import Doubles, Result, Trial
from rankplug.system import is_of_the_machine, threads

if TYPE_CHECKING:
    from rankplug.data import Lists, Source, Split


def failed_result(trial: Trial, failure: str) -> Result:
    """Return the result of a trial that something else ended."""
    return Result(trial, failure=failure, record=_circumstances(time.time()))


def run_trial(
    trial: Trial, progress: bool | None = None, *, keep_scores: bool = False, kept: KeptScores | None = None
) -> Result:
    """Run a trial; one that fails, or cannot run, gives a result that says why, and raises nothing.

    Only a keyboard interrupt passes through: what was interrupted is neither done nor failed.

    Args:
        trial: what to run.
        progress: whether a bar shows the training; by default in a terminal or a notebook.
        keep_scores: whether the result has the scores of the test documents, for a store to keep.
        kept: scores of the trial that a store has kept; if they are of its test documents, they are measured and
            nothing is trained.
    """
    tell_observers("rankplug_trial_started", trial=trial)
    try:
        result = (kept and _measure_again(trial, kept)) or _run(trial, progress, keep_scores)
    except NotRunError as error:
        result = replace(failed_result(trial, str(error)), not_run=True)
    except RankplugError as error:
        failure = f"{type(error).__name__}: {error}"
        result = replace(failed_result(trial, failure), not_run=is_of_the_machine(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A plugin that exits, or raises what is no Exception, ends its own trial and not the sweep.
        result = replace(failed_result(trial, traceback.format_exc()), not_run=is_of_the_machine(error))
    tell_observers("rankplug_trial_finished", trial=trial, result=result)
    return result


def tell_observers(hook: str, **facts: Any) -> None:
    """Call a hook of the observers; one that fails is a warning, as who watches must not stop what is watched.

    Each gets copies, so that what it changes is changed for nobody else. The model is the fitted one itself.
    """
    for observer in getattr(registry().manager.hook, hook).get_hookimpls():
        try:
            observer.function(**{name: _copy(facts[name]) for name in observer.argnames})
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            message = f"an observer failed in {hook}: {type(error).__name__}: {error}"
            warnings.warn(message, stacklevel=2)


def _copy(fact: Any) -> Any:
    model = getattr(fact, "model", None)
    return copy.deepcopy(fact, {id(model): model})


KEPT_BYTES = 2**27
"""Size of made data up to which they are kept for the next trial, which is often another method on the same data."""


class _MadeData(NamedTuple):
    """The blocks of data that no file determines, their pool, and what determines them."""

    determined_by: tuple[Any, ...]
    pool: str
    blocks: tuple[Split, ...]


_last_made: list[_MadeData] = []
"""The data of the last trial of this process, if they are small."""


def _blocks(source: Source, trial: Trial) -> Iterator[Split]:
    """Yield the blocks of a trial's data, made anew or kept from the last trial."""
    parts = source.determined_by
    key = None if parts is None else (*parts, trial.fold, trial.seed)
    for made in tuple(_last_made):
        if made.determined_by == key:
            source.pool = made.pool
            yield from made.blocks
            return
    _last_made.clear()
    kept: list[Split] = []
    size = 0
    for split in source.blocks(trial.fold, trial.seed):
        size += sum(part.features.nbytes for part in split)
        if key is not None and size <= KEPT_BYTES:
            kept.append(split)
        else:
            key = None
            kept.clear()
        yield split
    if key is not None:
        _last_made[:] = [_MadeData(key, source.pool, tuple(kept))]


def _test_part(trial: Trial) -> tuple[Source, Split, Iterator[Lists]]:
    """Load a trial's data, and return their source, the first block of them and the test parts of all blocks."""
    from rankplug.data import Source

    combination = trial.combination
    try:
        source = Source(combination.dataset, combination.transforms)
        blocks = _blocks(source, trial)
        split = next(blocks)
    except Exception:
        # A file that someone is just writing is no fault of the combination.
        combination.check_as_planned()
        raise
    combination.check_as_planned()
    return source, split, itertools.chain([split.test], (further.test for further in blocks))


def load_test_part(trial: Trial) -> Iterator[Lists]:
    """Load the test part of a trial's data, in blocks where it has some."""
    return _test_part(trial)[2]


def _measure_again(trial: Trial, kept: KeptScores) -> Result | None:
    """Measure a trial's metrics on kept scores; None where they are of other test documents."""
    begin = time.perf_counter()
    _, _, tests = _test_part(trial)
    try:
        measured = _measure_blocks(kept.of_blocks(tests), trial.combination.metrics)
    except OtherTestPartError:
        return None
    if measured.fingerprint != kept.record.get("test_fingerprint"):
        return None
    seconds = time.perf_counter() - begin
    record = {**kept.record, "measured_from": kept.identity, "measured": time.time(), "measure_seconds": seconds}
    return Result(trial, measured.queries, measured.query_ids, kept.curve, record)


def _run(trial: Trial, progress: bool | None, keep_scores: bool) -> Result:
    from rankplug.training import fit

    combination = trial.combination
    started, begin = time.time(), time.perf_counter()
    source, split, tests = _test_part(trial)
    train, valid = split.train, split.valid
    loaded = time.perf_counter()
    with warnings.catch_warnings():
        # What an interrupted training keeps is no trial, so that nobody need hear of it.
        warnings.filterwarnings("ignore", "training was interrupted")
        model = fit(
            combination.backend,
            scorer=combination.scorer or None,
            loss=combination.loss,
            sampler=combination.sampler or None,
            debias=combination.debias or None,
            train=train,
            valid=valid,
            seed=trial.seed,
            selection=combination.selection,
            patience=combination.patience,
            train_curve=combination.train_curve,
            progress=progress,
            callbacks=[
                lambda iteration, metrics: tell_observers(
                    "rankplug_trial_progressed", trial=trial, iteration=iteration, metrics=metrics
                )
            ],
        )
    if model.record.stopped == "interrupted":
        # Training keeps what it has when someone interrupts it; half a trial is no result.
        raise KeyboardInterrupt
    fitted = time.perf_counter()
    measured = _measure_blocks(((block, model.predict(block)) for block in tests), combination.metrics, keep_scores)
    record = {
        **_circumstances(started),
        **{name: value for name, value in model.record.describe().items() if name not in ("curve", "combination")},
        "load_seconds": loaded - begin,
        "fit_seconds": fitted - loaded,
        "measure_seconds": time.perf_counter() - fitted,
        "test_fingerprint": measured.fingerprint,
        "pool": source.pool,
        "queries": [len(train), len(valid), len(measured.query_ids)],
        "documents": [train.documents, valid.documents, measured.documents],
    }
    plain = json.loads(json.dumps(record, default=str))
    return Result(
        trial, measured.queries, measured.query_ids, model.record.curve, plain, model=model, scores=measured.scores
    )


class _Measurements(NamedTuple):
    """Metrics of the whole test part, with its scores where they are to be kept."""

    queries: dict[str, Doubles]
    query_ids: tuple[str, ...]
    documents: int
    fingerprint: str
    scores: DocumentScores | None


def _measure_blocks(
    blocks: Iterable[tuple[Lists, Doubles]], metrics: Iterable[str], keep_scores: bool = False
) -> _Measurements:
    """Measure the scores of a test part that comes in blocks, of which few are in memory at a time."""
    values: dict[str, list[Doubles]] = {metric: [] for metric in metrics}
    names: list[str] = []
    digests: list[str] = []
    documents = 0
    kept: list[tuple[Doubles, Any]] = []
    for block, scores in blocks:
        for metric, measured in measure(scores, block, metrics).items():
            values[metric].append(measured)
        names += map(str, block.query_ids)
        digests.append(block.fingerprint)
        documents += block.documents
        if keep_scores:
            kept.append((scores, block.lengths))
    joined = hashlib.blake2b("".join(digests).encode(), digest_size=16).hexdigest()
    scores_and_lengths = [np.concatenate(arrays) for arrays in zip(*kept, strict=True)]
    return _Measurements(
        {metric: np.concatenate(measured) for metric, measured in values.items()},
        tuple(names),
        documents,
        digests[0] if len(digests) == 1 else joined,
        DocumentScores(*scores_and_lengths) if keep_scores else None,
    )


def measure(scores: Doubles, lists: Lists, metrics: Iterable[str]) -> dict[str, Doubles]:
    """Compute the value of each metric for every query."""
    from rankplug.metrics import evaluate

    return {metric: np.asarray(evaluate(scores, lists, metric), np.float64) for metric in metrics}


def _circumstances(started: float) -> dict[str, Any]:
    return {"started": started, "machine": platform.node(), "threads": threads()}
