"""Trials added where they decide something, until every claim is decided that a budget can decide.

The growing data are looked at several times, each time with twice as many trials. The chance of a wrong verdict is
spent in equal shares on the looks that are planned, so that it stays below the level of a single look whatever the
dependence between looks, parts and directions; the spending of that chance over looks is that of Lan and DeMets
(Biometrika 70, 1983), the equal shares are Bonferroni's. A verdict that was reached is kept.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.statistics import look_steps
from rankplug.studies.claims import Claim, core_minutes
from rankplug.studies.papers import Study, train
from rankplug.studies.runs import Profile, StoredFrames
from rankplug.studies.samples import Cell
from rankplug.studies.study_results import Results
from rankplug.studies.verdicts import Differences, Verdict

if TYPE_CHECKING:
    from rankplug.store import Store

LOOKS = 5
UNITS = {"h": 60.0, "m": 1.0, "s": 1 / 60}


@dataclass(frozen=True)
class Budget:
    """Limits of deciding claims: how much it may take, and at which differences.

    Args:
        minutes: most minutes of training, by the clock.
        margin: the difference that would matter, as readers measure it, such as .5 points; each claim's own by default.
        looks: most looks at the growing data, each at twice as many trials.
    """

    minutes: float = 120.0
    margin: float | None = None
    looks: int = LOOKS

    def __post_init__(self) -> None:
        if not self.minutes > 0:
            raise RankplugError(f"a budget must be a time above 0, got {self.minutes} minutes")
        if self.margin is not None and not (self.margin > 0 and math.isfinite(self.margin)):
            raise RankplugError(f"a margin must be a number above 0, got {self.margin}")
        if self.looks < 1:
            raise RankplugError(f"there must be at least 1 look at the data, got {self.looks}")


def read_time(words: str) -> float:
    """Return the minutes of a time in words.

    >>> read_time("2h"), read_time("30m"), read_time("90s")
    (120.0, 30.0, 1.5)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([hms])\s*", words)
    if not match:
        raise RankplugError(f"{words!r} is not a time; write hours, minutes or seconds, such as 2h, 30m or 90s")
    return float(match[1]) * UNITS[match[2]]


def decide(
    study: Study,
    profile: Profile = "quick",
    budget: Budget | None = None,
    *,
    data: str | None = None,
    seed: int = 0,
    jobs: int = 1,
    store: Store | str | Path | None = None,
    **execution: Any,
) -> Results:
    """Run a study, add trials until every claim is decided that a budget can decide, and return results with verdicts.

    What is trained lies in the store, so that the same call goes on where one was killed.

    Args:
        study: the paper.
        profile: size of the runs at the first look.
        budget: limits of what is added; two hours by default.
        data: a data set in place of the profile's own.
        seed: the master seed.
        jobs: number of trials at once.
        store: where results lie, or their folder.
        execution: further arguments of :func:`rankplug.studies.train`, such as ``progress``.
    """
    from rankplug.store import Store
    from rankplug.sweeps import threads_of_job

    opened, budget = Store.named(store), budget or Budget()
    base = results = study.run(profile, data=data, seed=seed, store=opened, jobs=jobs, **execution)
    begun, left = time.monotonic(), budget.minutes * jobs * threads_of_job(jobs)
    verdicts: dict[str, Verdict] = {}
    multiples = dict.fromkeys(base.runs, 1)
    waiting = [claim for claim in study.claims if claim.margin and claim.sequential]
    for look in range(1, budget.looks + 1):
        for claim in waiting:
            verdict = claim.judge(results, margin=_margin(claim, budget), steps=look_steps(budget.looks), looks=look)
            if isinstance(verdict, Verdict):
                verdicts[claim.id] = verdict
        waiting = [
            claim
            for claim in waiting
            if claim.id in verdicts and not verdicts[claim.id].decided and _can_grow(verdicts[claim.id])
        ]
        if look == budget.looks or not waiting:
            break
        waiting, cells, spent = _affordable(waiting, base, 2 ** (look - 1), left)
        if not waiting or time.monotonic() - begun > 60 * budget.minutes:
            break
        left -= spent
        multiples |= dict.fromkeys((group for group, _ in cells), 2**look)
        runs = {
            group: replace(
                planned,
                models={model: parts for model, parts in planned.models.items() if (group, model) in cells},
                trials=planned.trials * multiples[group],
            )
            for group, planned in base.runs.items()
            if any(group == open_group for open_group, _ in cells)
        }
        train([group.sweep() for group in runs.values()], opened, jobs=jobs, **execution)
        frames = StoredFrames(runs, opened)
        results = Results(profile, frames, base.published, frames.records, runs)
    return replace(base, decisions=verdicts)


def decisions_in_words(study: Study, results: Results) -> str:
    """Return a line for each claim that deciding looked at: its verdict, looks and trials, or what it still takes."""
    lines = []
    labels = {claim.id: claim.label for claim in study.claims}
    for claim_id, verdict in results.decisions.items():
        words = [f"{labels[claim_id]} {verdict.verdict} after {verdict.looks} look{'s' * (verdict.looks > 1)}"]
        words += [verdict.decisive.extent] if verdict.decisive.extent else []
        lines.append(", ".join(words) + (f"; {verdict.needs.sentence}" if verdict.needs else ""))
    count = sum(verdict.decided for verdict in results.decisions.values())
    return "\n".join([f"{study.name}: {count} of {len(lines)} claims about differences are decided", *lines])


def _margin(claim: Claim, budget: Budget) -> float | None:
    """Return the margin in the statistic's unit; a claim measured in another unit than points keeps its own."""
    assert claim.margin is not None
    if budget.margin is None or claim.margin.unit != "points":
        return claim.margin.value
    return budget.margin / claim.margin.scale


def _can_grow(verdict: Verdict) -> bool:
    """Tell whether more trials would decide it."""
    return verdict.needs is not None and verdict.needs.repetitions is not None


def _affordable(
    waiting: list[Claim], base: Results, more: int, left: float
) -> tuple[list[Claim], frozenset[Cell], float]:
    """Return the claims, cheapest first, whose further trials the budget allows, their runs and what they take.

    Args:
        waiting: claims that are open.
        base: the results whose times are on record.
        more: number of times that the trials of the profile are added.
        left: core-minutes.
    """
    cells_of = {claim.id: _cells_of(claim, base) for claim in waiting}
    affordable: list[Claim] = []
    cells: frozenset[Cell] = frozenset()
    spent = 0.0
    for claim in sorted(waiting, key=lambda claim: len(cells_of[claim.id])):
        together = cells | cells_of[claim.id]
        cost = sum((core_minutes(base, [cell]) or 0.0) * base.runs[cell[0]].trials * more for cell in together)
        if cells_of[claim.id] and cost <= left:
            affordable, cells, spent = [*affordable, claim], together, cost
    return affordable, cells, spent


def _cells_of(claim: Claim, base: Results) -> frozenset[Cell]:
    """Return the groups and models whose runs a claim's evidence rests on."""
    evidence = claim.statistic(base)
    samples = evidence.parts.values() if isinstance(evidence, Differences) else ()
    return frozenset().union(*(sample.runs for sample in samples))
