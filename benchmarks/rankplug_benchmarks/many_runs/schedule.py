"""Core-hours of every paper's full protocol, and how its sweep and a recorded one would run on many workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rankplug.store import Store, read_about
from rankplug.studies import studies
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Curve, Measurement, Table, once
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.many_runs.paper_costs import (
    SIZES,
    Kind,
    UnitCost,
    documents_of,
    in_bfloat16,
    iterations_of,
    kind_of,
    pytorchs_own_steps,
    shape_of,
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
    """Estimated seconds of a trial on one core.

    Args:
        dataset: its data set.
        seconds: as it runs.
        usual: with PyTorch's own steps of networks.
        half: with networks in bfloat16, where that is faster.
    """

    dataset: str
    seconds: float
    usual: float
    half: float


def costs_at_paper(effort: Effort) -> dict[str, list[TrialCost]]:
    """Return by paper what every trial costs, in the order of the plan."""
    costs: dict[Kind, tuple[UnitCost, UnitCost, UnitCost]] = {}
    found: dict[str, list[TrialCost]] = defaultdict(list)
    papers = [study for study in studies() if len(study.published())]
    for study in papers[: effort.size(100, 1)]:
        for trial in trials_of(study):
            combination = trial.combination
            kind = kind_of(combination)
            if kind not in costs:
                costs[kind] = _costs(kind, (20, 40) if effort.quick else SIZES[shape_of(combination)])
            documents, iterations = documents_of(combination), iterations_of(combination)
            seconds, usual, half = (iterations * cost.of(documents) for cost in costs[kind])
            dataset = combination.dataset.partition("[")[0]
            found[study.name].append(TrialCost(dataset, seconds, usual, min(seconds, half)))
    return found


def _costs(kind: Kind, sizes: tuple[int, int]) -> tuple[UnitCost, UnitCost, UnitCost]:
    """Measure a training as it runs, with PyTorch's own steps, and in bfloat16."""
    cost = unit_cost(kind, sizes)
    if not kind.backend.startswith("torch"):
        return cost, cost, cost
    with pytorchs_own_steps():
        usual = unit_cost(kind, sizes)
    return cost, usual, unit_cost(in_bfloat16(kind), sizes)


def recorded_durations() -> list[float]:
    """Return the seconds of the trials of the usual store, in the order in which they began."""
    store = Store()
    records = [read_about(path)["record"] for path in store.files()]
    records.sort(key=lambda record: record["started"])
    return [sum(record[f"{part}_seconds"] for part in ("load", "fit", "measure")) for record in records]


def measure(effort: Effort) -> Iterator[Measurement | Curve | Table]:
    """Measure the client's time, core-hours, and speed-up by workers."""
    with use_threads(1):
        overhead(2, 1)
        client = overhead(effort.size(100, 3), 1)
        yield once("client's time a trial", client, threads=1, unit="s", note="planning, claiming and writing")
        estimated = costs_at_paper(effort)
    yield hours_table(estimated, client)
    yield datasets_table(estimated)
    plans = {f"{study}, profile paper": [cost.seconds for cost in costs] for study, costs in estimated.items()}
    recorded = recorded_durations()
    if len(recorded) >= FEWEST_RECORDED:
        plans[f"recorded, {len(recorded)} trials"] = recorded
    yield from scaling(plans, client)


def hours_table(estimated: dict[str, list[TrialCost]], client: float) -> Table:
    """Return a table with a row for each study."""
    rows = []
    for study, costs in estimated.items():
        seconds = [cost.seconds for cost in costs]
        spans = [makespan(seconds, workers, client=client) / HOUR for workers in (2, 64)]
        otherwise = [sum(others) / HOUR for others in ([cost.usual for cost in costs], [cost.half for cost in costs])]
        rows.append((study, len(seconds), sum(seconds) / HOUR, *otherwise, max(seconds) / HOUR, *spans))
    heads = (
        "study",
        "trials",
        "core-hours",
        "with PyTorch's own steps",
        "with networks in bfloat16",
        "longest trial, hours",
        "hours on 2 cores",
        "hours on 64 cores",
    )
    return Table("core-hours", heads, tuple(rows))


def datasets_table(estimated: dict[str, list[TrialCost]]) -> Table:
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
