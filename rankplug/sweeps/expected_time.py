"""An estimate of how long trials take, from the times that a store has recorded of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rankplug.store import Store, Trial, read_about
from rankplug.sweeps.sweep_progress import duration

SECONDS = ("load_seconds", "fit_seconds", "measure_seconds")


@dataclass(frozen=True)
class ExpectedTime:
    """Seconds that some trials take one after another.

    Args:
        seconds: of those whose like the store has.
        known: how many these are.
        trials: how many there are in all.
    """

    seconds: float
    known: int
    trials: int

    def sentence(self, jobs: int = 1) -> str:
        """Say about how long the trials take, some at a time.

        >>> ExpectedTime(90.0, 3, 3).sentence(jobs=3)
        'about 30 s, by the times recorded of such trials'
        """
        if not self.known:
            return "nothing like this has run here, so how long it takes is not known"
        some = f" for {self.known} of {self.trials}" if self.known < self.trials else ""
        told = f"about {duration(self.seconds / jobs)}{some}, by the times recorded of such trials"
        return f"{told}; nothing like the others has run here" if some else told


def expected_time(trials: Iterable[Trial], store: Store) -> ExpectedTime:
    """Estimate the time of trials by those of the same combination, else of the same data, backend and scorer."""
    wanted = [trial.combination for trial in trials]
    recorded: dict[Any, list[float]] = defaultdict(list)
    # One file a combination is read, so that a store of many trials is not read in whole.
    for path in {path.parent: path for path in store.files()}.values() if wanted else ():
        about = read_about(path)
        seconds = sum(about["record"].get(name) or 0.0 for name in SECONDS)
        parts = about["combination"]
        recorded[about["identity"]].append(seconds)
        recorded[parts["dataset"], parts["backend"], parts.get("scorer", "")].append(seconds)
    times = [
        recorded.get(trial.identity) or recorded.get((trial.dataset, trial.backend, trial.scorer)) or []
        for trial in wanted
    ]
    known = [fmean(seconds) for seconds in times if seconds]
    return ExpectedTime(sum(known), len(known), len(wanted))
