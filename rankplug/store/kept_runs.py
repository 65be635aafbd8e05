"""Rankings of a trial's test documents, from the scores that a store has kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import did_you_mean
from rankplug.store.combination import read_combination
from rankplug.store.kept_scores import OtherTestPartError
from rankplug.store.result_files import StoreError, read_about
from rankplug.store.result_store import Store
from rankplug.store.trial_runs import load_test_part
from rankplug.store.trials import Trial

if TYPE_CHECKING:
    from rankplug.data import Lists


@dataclass(frozen=True, eq=False)
class KeptRun:
    """Test documents of a trial with their scores.

    Args:
        trial: whose scores they are.
        lists: the test part.
        scores: one a document.
        record: versions, timings and digests of the trial.
    """

    trial: Trial
    lists: Lists
    scores: NDArray[np.float64]
    record: dict[str, Any]


def kept_run(identity: str, store: Store) -> KeptRun:
    """Return what a trial ranked.

    Args:
        identity: of the trial, its combination, fold and number, such as ``0123456789abcdef-f1-t0``.
        store: where its result and scores lie.
    """
    found = next((path for path in store.files() if path.stem == identity), None)
    if found is None:
        known = [path.stem for path in store.files()]
        hint = did_you_mean(identity, known) if known else "it holds none"
        raise StoreError(f"{store.folder} has no trial {identity}: {hint}")
    about = read_about(found)
    trial = Trial(read_combination(about["combination"]), about["fold"], about["trial"])
    if not store.with_scores([trial]):
        raise StoreError(f"the scores of {identity} were not kept; run the sweep again with --keep-scores")
    return ranked_by(trial, store)


def ranked_by(trial: Trial, store: Store) -> KeptRun:
    """Return what a trial ranked, whose scores the store has kept."""
    from rankplug.data import Lists

    kept = store.kept_scores(trial)
    try:
        blocks = list(kept.of_blocks(load_test_part(trial)))
    except OtherTestPartError:
        raise StoreError(
            f"the scores of {trial.identity} are of other documents than {trial.combination.dataset} has"
        ) from None
    lists = Lists.concatenate([block for block, _ in blocks])
    return KeptRun(trial, lists, np.concatenate([scores for _, scores in blocks]), kept.record)
