"""Core-hours of every paper's full protocol, and how its sweep and a recorded one would run on many workers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rankplug.store import Store, Trial, read_about
from rankplug.studies import Study, studies
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Curve, Measurement, Table, once
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.many_runs.paper_costs import (
    Kind,
    Saving,
    UnitCost,
    documents_of,
    iterations_of,
    kind_of,
    pytorchs_own_steps,
    trials_of,
    unit_cost,
)
from rankplug_benchmarks.many_runs.simulation import limit, makespan
from rankplug_benchmarks.many_runs.sweeps import overhead

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
HOUR = 3600.0
FEWEST_RECORDED = 20
"""A store with fewer trials says nothing of a schedule."""


@dataclass(frozen=True)
class TrialCost:
    """Estimated seconds of a trial on one core, and its data set."""

    dataset: str
    seconds: float


@dataclass(frozen=True)
class Step:
    """A step from the protocols as they are published to those of the profile.

    Args:
        name: what is spared beside what the steps before it spare.
        savings: those of the profile that count.
        own_steps: whether networks go PyTorch's usual way from step to step.
    """

    name: str
    savings: tuple[Saving, ...] = ()
    own_steps: bool = False


STEPS = (
    Step("nothing spared", own_steps=True),
    Step("plain networks without PyTorch's record of operations (the same weights)"),
    Step("no curves on training data that no exhibit shows (the same models)", ("curves",)),
    Step("learning rates chosen by the first trials", ("curves", "choosing")),
    Step("networks of stochastic ranking in bfloat16", ("curves", "choosing", "bfloat16")),
)
"""Each spares what those before it do, and something more."""


class Costs:
    """Costs of trials, each kind of training measured once.

    Args:
        quick: whether on little data.
    """

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.known: dict[tuple[Kind, bool], UnitCost] = {}

    def of(self, trial: Trial, own_steps: bool = False) -> TrialCost:
        """Return what a trial costs.

        Args:
            trial: of a paper's protocol.
            own_steps: whether networks go PyTorch's usual way from step to step.
        """
        combination = trial.combination
        seconds = self._of_kind(kind_of(combination), own_steps).of(documents_of(combination))
        return TrialCost(combination.dataset.partition("[")[0], iterations_of(combination) * seconds)

    def _of_kind(self, kind: Kind, own_steps: bool) -> UnitCost:
        key = kind, own_steps and kind.network
        if key not in self.known:
            with pytorchs_own_steps() if key[1] else contextlib.nullcontext():
                self.known[key] = unit_cost(kind, kind.sizes(self.quick))
        return self.known[key]


def papers_of(effort: Effort) -> list[Study]:
    """Return the studies whose protocols are published."""
    return [study for study in studies() if len(study.published())][: effort.size(100, 1)]


def recorded_durations() -> list[float]:
    """Return the seconds of the trials of the usual store, in the order in which they began."""
    store = Store()
    records = [read_about(path)["record"] for path in store.files()]
    records.sort(key=lambda record: record["started"])
    return [sum(record[f"{part}_seconds"] for part in ("load", "fit", "measure")) for record in records]


def measure(effort: Effort) -> Iterator[Measurement | Curve | Table]:
    """Measure the client's time, core-hours, and speed-up by workers."""
    papers, costs = papers_of(effort), Costs(effort.quick)
    with use_threads(1):
        overhead(2, 1)
        client = overhead(effort.size(100, 3), 1)
        yield once("client's time a trial", client, threads=1, unit="s", note="planning, claiming and writing")
        estimated = {study.name: [costs.of(trial) for trial in trials_of(study)] for study in papers}
        spared = {
            step.name: {
                study.name: [costs.of(trial, step.own_steps) for trial in trials_of(study, step.savings)]
                for study in papers
            }
            for step in STEPS
        }
    yield hours_table(estimated, client)
    yield savings_table(spared)
    yield datasets_table(estimated)
    plans = {f"{study}, profile paper": [cost.seconds for cost in costs] for study, costs in estimated.items()}
    recorded = recorded_durations()
    if len(recorded) >= FEWEST_RECORDED:
        plans[f"recorded, {len(recorded)} trials"] = recorded
    yield from scaling(plans, client)


def hours_table(estimated: Mapping[str, Sequence[TrialCost]], client: float) -> Table:
    """Return a table with a row for each study."""
    rows = []
    for study, costs in estimated.items():
        seconds = [cost.seconds for cost in costs]
        spans = [makespan(seconds, workers, client=client) / HOUR for workers in (2, 64)]
        rows.append((study, len(seconds), sum(seconds) / HOUR, max(seconds) / HOUR, *spans))
    heads = ("study", "trials", "core-hours", "longest trial, hours", "hours on 2 cores", "hours on 64 cores")
    return Table("core-hours", heads, tuple(rows))


def savings_table(spared: Mapping[str, Mapping[str, Sequence[TrialCost]]]) -> Table:
    """Return a table of core-hours with a row for each step, each with the savings of those above it.

    Args:
        spared: step -> study -> what its trials cost.
    """
    papers = list(next(iter(spared.values())))
    rows: list[tuple[str | float, ...]] = []
    for step, costs in spared.items():
        hours = [sum(cost.seconds for cost in costs[paper]) / HOUR for paper in papers]
        whole = sum(hours)
        first = float(rows[0][len(papers) + 1]) if rows else whole
        rows.append((step, *hours, whole, f"{whole / first:.0%}"))
    return Table("savings", ("spared, each beside those above", *papers, "together", "of the first"), tuple(rows))


def datasets_table(estimated: Mapping[str, Sequence[TrialCost]]) -> Table:
    """Return a table with a row for each study and data set."""
    rows = []
    for study, costs in estimated.items():
        for dataset in dict.fromkeys(cost.dataset for cost in costs):
            seconds = [cost.seconds for cost in costs if cost.dataset == dataset]
            rows.append((study, dataset, len(seconds), sum(seconds) / HOUR, sum(seconds) / len(seconds) / 60))
    return Table("data sets", ("study", "data set", "trials", "core-hours", "minutes a trial"), tuple(rows))


def scaling(plans: dict[str, list[float]], client: float) -> Iterator[Curve | Table]:
    """Yield the speed-up by workers, in the order of the plan and with the longest trials first, and what limits it."""
    rows = []
    for name, durations in plans.items():
        alone = makespan(durations, 1, client=client)
        for order, seconds in (("", durations), (", longest first", sorted(durations, reverse=True))):
            points = tuple((float(worker), alone / makespan(seconds, worker, client=client)) for worker in WORKERS)
            yield Curve("speed-up", name + order, "workers", "times as fast as one worker", points, "xy")
            useful = [workers for workers, speed in points if speed >= workers / 2]
            most = WORKERS[-1]
            rows.append((name + order, points[-1][1], f"{max(useful):.0f}", limit(seconds, most, client=client)))
    heads = ("sweep", f"speed-up on {WORKERS[-1]} workers", "workers at least half busy up to", "limited by")
    yield Table("limits", heads, tuple(rows))
