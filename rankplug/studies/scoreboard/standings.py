"""Methods on one collection: means with intervals, mean ranks, and whether the best is better than each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankplug.statistics import CriticalDifference, Interval, best_is_greater, critical_difference, p_values
from rankplug.studies.runs import design_of
from rankplug.studies.scoreboard.entries import Entry, Method
from rankplug.studies.verdicts import Design, OfficialFolds, Resplits, Sample
from rankplug.studies.verdicts.samples import interval_of, sample_of_queries

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 3
"""Methods that a critical difference needs."""


@dataclass(frozen=True)
class Standing:
    """A method's place on a collection.

    Args:
        entry: its runs.
        interval: its mean with the interval of the collection's design.
        verdict: on "the best is better": holds, no difference or inconclusive; empty for the best itself.
        lead: the best's mean difference to it.
    """

    entry: Entry
    interval: Interval
    verdict: str
    lead: float

    @property
    def has_interval(self) -> bool:
        """Tell whether there were enough repetitions for an interval."""
        return not math.isnan(self.interval.low)

    @property
    def trials(self) -> int:
        """Trials and folds that are stored."""
        return len(self.entry.values)

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        low, high = (None if math.isnan(end) else end for end in (self.interval.low, self.interval.high))
        return {
            "mean": self.interval.point,
            "low": low,
            "high": high,
            "runs": self.trials,
            "asked": self.entry.asked,
            "the_best_is_better": self.verdict or None,
            "behind_the_best": self.lead,
            "combinations": list(self.entry.identities),
        }


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods, 1 the best, and how far apart two must lie to differ.

    Args:
        mean: of each method.
        critical: Friedman's test and Nemenyi's difference; None where nothing was repeated independently.
        why_not: the reason in that case.
    """

    mean: Mapping[Method, float]
    critical: CriticalDifference | None = None
    why_not: str = ""

    def describe(self) -> dict[str, Any]:
        """Return plain values that JSON knows."""
        about: dict[str, Any] = {"methods": len(self.mean)}
        if self.critical is None:
            return {**about, "critical_difference": None, "why_not": self.why_not}
        difference = self.critical
        return {
            **about, "critical_difference": difference.critical_difference, "p": difference.p_value,
            "blocks": difference.blocks, "unit": difference.unit,
        }  # fmt: skip


class Standings:
    """Methods that were run on one collection under the same conditions.

    Args:
        entries: their runs.
        queries: reads the values of some entries' test queries, indexed by trial, fold and query.
        margin: the difference that would matter.
    """

    def __init__(self, entries: Sequence[Entry], queries: Callable[[Entry], pd.Series[float]], margin: float) -> None:
        self.entries, self.queries, self.margin = entries, queries, margin

    @cached_property
    def design(self) -> Design:
        """The experimental design of the collection's trials."""
        return design_of(record for entry in self.entries for record in entry.records)

    @property
    def is_in_folds(self) -> bool:
        """Tell whether methods are compared by test queries in folds."""
        return isinstance(self.design, OfficialFolds)

    @cached_property
    def runs(self) -> list[Entry]:
        """The entries without those whose runs another one has too, under another name."""
        return list({entry.identities: entry for entry in reversed(self.entries)}.values())[::-1]

    def values(self, entry: Entry) -> pd.Series[float]:
        """Return the values by which an entry is compared: of its trials, or of its test queries in folds."""
        return self.queries(entry) if self.is_in_folds else entry.values

    def sample(self, values: pd.Series[float]) -> Sample:
        """Make a sample of values with the design of the collection."""
        return sample_of_queries(values, self.design)

    @cached_property
    def standings(self) -> dict[Method, Standing]:
        """The place of each method, the highest mean first."""
        values = {runs.identities: self.values(runs) for runs in self.runs}
        intervals = {runs: interval_of(self.sample(series)) for runs, series in values.items()}
        order = sorted(values, key=lambda runs: (-intervals[runs].point, runs))
        best, others = order[0], order[1:]
        samples = [self.sample(values[best] - values[runs]) for runs in others]
        words = dict(zip(others, self._verdicts(samples), strict=True))
        leads = {runs: float(sample.estimate.point) for runs, sample in zip(others, samples, strict=True)}
        return {
            entry.method: Standing(entry, intervals[runs], words.get(runs, ""), leads.get(runs, 0.0))
            for runs in order
            for entry in self.entries
            if entry.identities == runs
        }

    def _verdicts(self, samples: Sequence[Sample]) -> list[str]:
        if not samples:
            return []
        estimates = [sample.estimate for sample in samples]
        points, errors, degrees = zip(
            *((estimate.point, estimate.error, estimate.degrees) for estimate in estimates), strict=True
        )
        p = p_values(points, errors, degrees, self.margin)
        return [str(word) for word in best_is_greater(p)]

    def block_ranks(self, methods: Iterable[Method]) -> pd.DataFrame:
        """Return the ranks of some methods: a row for each trial or fold that all of them have, a column for each."""
        import pandas as pd

        level = "fold" if self.is_in_folds else "trial"
        by_method = {entry.method: entry.values.groupby(level=level).mean() for entry in self.entries}
        table = pd.DataFrame({method: by_method[method] for method in methods}).dropna()
        return (-table).rank(axis=1)

    @cached_property
    def ranks(self) -> Ranks:
        """Mean ranks of the methods whose runs are their own."""
        return ranks_of(self.block_ranks([run.method for run in self.runs]), [self.design])


def ranks_of(blocks: pd.DataFrame, designs: Iterable[Design]) -> Ranks:
    """Return mean ranks, and the critical difference where the blocks are independent of each other.

    Args:
        blocks: ranks, or means of ranks over collections; a row a block, a column a method.
        designs: of the collections behind them.
    """
    mean = {cast(Method, method): float(rank) for method, rank in blocks.mean().items()}
    kinds = {type(design) for design in designs}
    unit = "folds" if kinds == {OfficialFolds} else "trials"
    if len(mean) < FEWEST:
        return Ranks(mean, None, f"fewer than {FEWEST} methods")
    if Resplits in kinds or len(kinds) > 1:
        return Ranks(mean, None, "the trials share queries" if Resplits in kinds else "the designs differ")
    if len(blocks) < 2:
        return Ranks(mean, None, f"fewer than 2 {unit} that all methods have")
    return Ranks(mean, critical_difference(-blocks.to_numpy(np.float64), unit=unit))  # type: ignore[arg-type]
