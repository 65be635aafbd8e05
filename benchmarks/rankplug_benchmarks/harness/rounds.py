"""Contestants by turns: what slows the machine down slows all of them, and rounds in which it did do not count.

In each round every contestant runs once, in one order and in the next round in the other. One of them is the yardstick,
most often the library we are compared with. A round in which the yardstick took more than a quarter longer or shorter
than its median over all rounds says more of the machine than of the contestants: it is discarded, and another one is
run in its place, but no more than twice as many rounds as asked for in all. What is compared is computed in each round
from the times of that round; reported are the median of the rounds and their quartiles.

>>> rounds = Rounds({"ours": (1.0, 1.1, 1.0), "peer": (2.0, 2.2, 9.0)}, yardstick="peer").calm()
>>> rounds.discarded
1
>>> rounds.quantity(lambda seconds: seconds["ours"] / seconds["peer"]).median
0.5
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

TOLERANCE = 0.25
"""Largest deviation of a round's yardstick from its median, as a share of the median."""

SECONDS_A_TURN = 0.02
MOST_CALLS = 50

Contestant = Callable[[], object]


class SelfTimedContestant:
    """A contestant that tells the seconds it took, as one in another process does."""

    def __init__(self, run: Callable[[], float]) -> None:
        self.run = run

    def __call__(self) -> float:
        return self.run()


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the quartiles of some values."""
        low, median, high = (float(value) for value in np.quantile(list(values), (0.25, 0.5, 0.75)))
        return cls(median, low, high)


@dataclass(frozen=True)
class Rounds:
    """The seconds each contestant took in each round.

    Args:
        seconds: contestant -> one number a round.
        yardstick: the contestant whose steadiness tells whether a round counts.
        discarded: rounds that were left out.
        unquiet: whether so many would have had to go that none did.
    """

    seconds: Mapping[str, tuple[float, ...]]
    yardstick: str
    discarded: int = 0
    unquiet: bool = False

    def __len__(self) -> int:
        return len(self.seconds[self.yardstick])

    def calm(self) -> Rounds:
        """Return the rounds in which the yardstick did not stray; all, marked as unquiet, if that leaves few."""
        middle = statistics.median(self.seconds[self.yardstick])
        kept = [
            turn
            for turn, seconds in enumerate(self.seconds[self.yardstick])
            if abs(seconds - middle) <= TOLERANCE * middle
        ]
        if 2 * len(kept) < len(self):
            return Rounds(self.seconds, self.yardstick, 0, True)
        chosen = {name: tuple(times[turn] for turn in kept) for name, times in self.seconds.items()}
        return Rounds(chosen, self.yardstick, len(self) - len(kept))

    def quantity(self, of_round: Callable[[Mapping[str, float]], float]) -> Spread:
        """Return the quartiles of a quantity computed from the seconds of each round."""
        return Spread.of(
            of_round({name: times[turn] for name, times in self.seconds.items()}) for turn in range(len(self))
        )

    def spread(self, name: str) -> Spread:
        """Return the quartiles of a contestant's seconds."""
        return Spread.of(self.seconds[name])


def by_turns(
    contestants: Mapping[str, Contestant], rounds: int, *, yardstick: str = "", warm_up: int = 1, calls: int = 1
) -> Rounds:
    """Run contestants in turns.

    Args:
        contestants: name -> what it does, or a :class:`SelfTimedContestant`.
        rounds: how many are to count.
        yardstick: see :class:`Rounds`; the last contestant when not named.
        warm_up: rounds before the first that is timed.
        calls: how often each runs in one round, for what is too short to be timed once.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    measure = yardstick or list(contestants)[-1]
    order = list(contestants.items())
    found = Rounds({}, measure)
    for turn in range(warm_up + 2 * rounds):
        for name, run in order if turn % 2 else reversed(order):
            taken = _timed(run, calls)
            if turn >= warm_up:
                seconds[name].append(taken)
        if turn + 1 >= warm_up + rounds:
            found = Rounds({name: tuple(times) for name, times in seconds.items()}, measure).calm()
            if len(found) >= rounds and not found.unquiet:
                break
    return found


def calls_a_turn(run: Contestant) -> int:
    """Return how often to run a contestant in a turn so that it takes some hundredths of a second, after a first run.

    What takes less than a millisecond is otherwise timed as it is after a pause, with nothing of it in the caches.
    """
    run()
    return max(1, min(MOST_CALLS, int(SECONDS_A_TURN / max(_timed(run, 1), 1e-9))))


def _timed(run: Contestant, calls: int) -> float:
    if isinstance(run, SelfTimedContestant):
        return statistics.fmean(run() for _ in range(calls))
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls
