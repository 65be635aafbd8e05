"""How the trials of some runs were repeated, told by the digests in their records; see ``docs/verdicts.md``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from rankplug.studies.verdicts import Design, IndependentTrials, OfficialFolds, Resplits


def design_of(records: Iterable[Mapping[str, Any]]) -> Design:
    """The design behind the records of one group's trials.

    Several folds rotate the parts of one collection. One test part that all trials share is analysed as one fold of
    it. Test parts that differ are drawn anew, unless the trials have the pool of queries in common.

    >>> def record(trial, test, pool):
    ...     return {"fold": 1, "trial": trial, "record": {"test_fingerprint": test, "pool": pool, "queries": [6, 2, 2]}}
    >>> design_of([record(0, "a", "x"), record(1, "b", "y")])
    IndependentTrials(unit='trials')
    >>> design_of([record(0, "a", "x"), record(1, "b", "x")])
    Resplits(test_to_train=0.3333333333333333)
    >>> design_of([record(0, "a", "x"), record(1, "a", "x")])
    OfficialFolds()
    """
    about = list(records)
    if len({one["fold"] for one in about}) > 1:
        return OfficialFolds()
    by_trial = {one["trial"]: one for one in about}
    if len(by_trial) < 2:
        return IndependentTrials()
    records_by_trial = [one["record"] for one in by_trial.values()]
    if len({record["test_fingerprint"] for record in records_by_trial}) == 1:
        return OfficialFolds()
    pools = {record.get("pool") for record in records_by_trial}
    shared = len(pools) == 1 if None not in pools else not _made_alone(by_trial.values())
    if not shared:
        return IndependentTrials()
    train, _, test = records_by_trial[0]["queries"]
    return Resplits(test / train)


def _made_alone(about: Iterable[Mapping[str, Any]]) -> bool:
    """Whether trials that were stored without a digest of their pool are of made data that no transform divides."""
    return all(is_made(one["combination"]["dataset"]) and not one["combination"]["transforms"] for one in about)


def is_made(dataset: str) -> bool:
    """Whether a data set is made by a program, and lies in no files."""
    from rankplug.data import StoredDataset
    from rankplug.registry import registry

    specification, _ = registry().resolve("dataset", dataset)
    return not isinstance(cast(Any, specification).load(), StoredDataset)
