"""Progress of a running sweep: trials done, running, failed and left, and an estimate of the time left."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from rankplug.store import Trial
from rankplug.system import echo, in_notebook, seen_at_once


def duration(seconds: float) -> str:
    """Format a duration with the precision of an estimate.

    >>> duration(42), duration(400), duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class SweepProgress:
    """Progress of a sweep: on one line of a terminal, in a notebook's widget, or now and then in a log.

    Args:
        left: trials to run.
        slots: how many run at once.
        show: whether to show anything.
    """

    def __init__(self, left: Iterable[Trial], slots: int, show: bool) -> None:
        self.left = {trial.identity: trial for trial in left}
        self.slots = slots
        self.done = 0
        self.failures: dict[str, str] = {}
        self.not_run: dict[str, str] = {}
        self.running: dict[str, float] = {}
        self.started = time.time()
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._bar: Any = None
        self._log_every = max(1.0, len(self.left) / 20) if show else 0.0
        if show and seen_at_once():
            from tqdm.auto import tqdm

            # In a notebook the bar is a widget, to which tqdm adds one of letters where a width is named.
            bar = "{bar}" if in_notebook() else "{bar:20}"
            self._bar = tqdm(total=len(self.left), bar_format=f"{bar} {{n_fmt}}/{{total_fmt}} {{desc}}")
        self._logged = 0

    def begun(self, trials: Iterable[Trial]) -> None:
        """Record that trials are given to a worker."""
        self.running |= {trial.identity: time.time() for trial in trials}

    def put_back(self, trial: Trial) -> None:
        """Mark a trial as waiting again."""
        self.running.pop(trial.identity, None)

    def found_done(self, trials: Iterable[Trial]) -> None:
        """Record that trials turn out to be finished by another process."""
        for trial in trials:
            self.done += self.left.pop(trial.identity, None) is not None

    def ended(self, trial: Trial, failure: str, *, not_run: bool = False) -> None:
        """Record that a trial has ended, failed or could not run."""
        begun = self.running.pop(trial.identity, time.time())
        self.left.pop(trial.identity, None)
        if failure:
            sentences = self.not_run if not_run else self.failures
            sentences[trial.identity] = f"{trial}: {failure.strip().splitlines()[-1]}"
        else:
            self.done += 1
            self._seconds[_kind(trial)].append(time.time() - begun)
        self.show()

    def seconds_left(self) -> float | None:
        """Estimate the time left from finished trials, first those of the same data and scorer; None without any."""
        if not self._seconds:
            return None
        mean = fmean(itertools.chain.from_iterable(self._seconds.values()))
        now, total = time.time(), 0.0
        for identity, trial in self.left.items():
            expected = fmean(self._seconds[_kind(trial)]) if _kind(trial) in self._seconds else mean
            total += max(expected - (now - self.running.get(identity, now)), 0.0)
        return total / max(1, min(self.slots, len(self.left)))

    def __str__(self) -> str:
        waiting = len(self.left) - len(self.running)
        words = f"{self.done} done, {len(self.running)} running, {len(self.failures)} failed, {waiting} left"
        if self.not_run:
            words = f"{words}, {len(self.not_run)} not run"
        if not self.left:
            return f"{words}, {duration(time.time() - self.started)} in all"
        seconds = self.seconds_left()
        return f"{words}, time left not known yet" if seconds is None else f"{words}, about {duration(seconds)} to go"

    def show(self) -> None:
        """Show the progress."""
        ended = self.done + len(self.failures) + len(self.not_run)
        if self._bar is not None:
            self._bar.n = ended
            self._bar.set_description_str(str(self))
        elif self._log_every and ended - self._logged >= self._log_every:
            self._logged = ended
            echo(self, error=True)

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self._bar is not None:
            self.show()
            self._bar.close()


def _kind(trial: Trial) -> str:
    combination = trial.combination
    return f"{combination.dataset} {combination.backend} {combination.scorer}"
