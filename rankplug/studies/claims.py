"""Claims of a paper: a statement, the statistic that gives evidence, and the difference that would matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from rankplug.errors import NotRunError
from rankplug.statistics import holm_steps
from rankplug.studies.runs import core_seconds
from rankplug.studies.samples import Cell, Values
from rankplug.studies.study_results import Results
from rankplug.studies.verdicts import Differences, Evidence, Judgement, Steps, judge, not_run


@dataclass(frozen=True)
class Margin:
    """The difference that would matter.

    Args:
        value: the difference, in the statistic's own unit.
        reason: why smaller ones do not matter.
        scale: factor on differences for a reader, such as 100 for points.
        unit: unit of differences that are so scaled.
    """

    value: float
    reason: str
    scale: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.value > 0:
            raise ValueError(f"a margin must be above 0, got {self.value}")

    def __str__(self) -> str:
        return f"{self.scale * self.value:g} {self.unit}".strip()


Role = Literal["main", "detail"]
Source = Literal["paper", "ours"]
ROLES: tuple[Role, ...] = get_args(Role)
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True)
class Claim:
    """A testable statement; see ``docs/verdicts.md``.

    Args:
        id: key that does not change when the text does, in kebab case and unique within the study.
        text: the claim, as close to the paper's own sentence as possible; Markdown with formulas.
        statistic: computes the evidence from results.
        exhibit: name of the figure or table of the study that shows it; empty where none does.
        margin: the difference that would matter; none for exact checks.
        section: place in the paper that makes the claim, or that it bears on, such as ``Section 7.1``.
        role: ``main`` for what the paper's abstract and conclusion say, four to eight per paper; else ``detail``.
        source: ``paper`` where the paper makes the claim, ``ours`` where this project does.
        sequential: whether trials may be added until it is decided; not where the results themselves choose what is
            compared, as more of them would change the question.
        control: computes the same evidence in a case whose answer is known to differ. Required for claims that read
            no values of the results, which could otherwise not be seen to come out both ways.
    """

    id: str
    text: str
    statistic: Callable[[Results], Evidence]
    exhibit: str = ""
    margin: Margin | None = None
    section: str = ""
    role: Role = "detail"
    source: Source = "paper"
    sequential: bool = True
    control: Callable[[Results], Evidence] | None = None

    @property
    def label(self) -> str:
        """The text after its place in the paper, or after the note that the paper does not make the claim."""
        return claim_label(self.text, self.section, self.source)

    def judge(
        self, results: Results, *, margin: float | None = None, steps: Steps = holm_steps, looks: int = 1
    ) -> Judgement:
        """Return the verdict on results, or the one for which trials were added.

        Args:
            results: results of the study.
            margin: a margin in place of the claim's own, in the statistic's own unit.
            steps: levels of the tests, those of a single look by default.
            looks: number of looks at the growing data.
        """
        try:
            evidence = self.statistic(results)
        except NotRunError as error:
            evidence = not_run(str(error))
        if self.margin is not None and margin is None and looks == 1 and self.id in results.decisions:
            return results.decisions[self.id]
        return self.judge_evidence(evidence, results, margin=margin, steps=steps, looks=looks)

    def judge_evidence(
        self,
        evidence: Evidence,
        results: Results,
        *,
        margin: float | None = None,
        steps: Steps = holm_steps,
        looks: int = 1,
    ) -> Judgement:
        """Return the verdict on evidence such as the claim's statistic gives, see :meth:`judge` for the arguments."""
        if self.margin is None:
            return judge(evidence)
        samples = evidence.parts.values() if isinstance(evidence, Differences) else ()
        return judge(
            evidence,
            margin=self.margin.value if margin is None else margin,
            scale=self.margin.scale,
            measured_in=self.margin.unit,
            data=_data(samples, results),
            data_of=lambda sample: _data([sample], results),
            steps=steps,
            looks=looks,
            cost=lambda runs: core_minutes(results, runs),
        )


def claim_label(text: str, section: str, source: str) -> str:
    """Return the text of a claim with its place in the paper, or marked as not the paper's.

    >>> claim_label("It ranks better.", "Section 7.1", "paper"), claim_label("It ranks alike.", "", "ours")
    ('Section 7.1: It ranks better.', 'Ours: It ranks alike.')
    """
    place = "Ours" if source == "ours" else section
    return f"{place}: {text}" if place else text


def core_minutes(results: Results, runs: Iterable[Cell]) -> float | None:
    """Return core-minutes that one more trial of some models takes, all folds of it, by the times on record."""
    total = 0.0
    for group, model in sorted(runs):  # Sets have another order in each process, and sums then another last bit.
        identities = set(results.identities(group, model))
        if group in results.runs and model in results.runs[group].models:
            # What validation data chose among was trained too.
            identities |= {trial.combination.identity for trial in results.runs[group].trials_of(model)}
        about = [record for record in results.records if record["identity"] in identities]
        if not about:
            return None
        seconds = sum(core_seconds(entry["record"]) for entry in about)
        total += seconds / len({entry["trial"] for entry in about}) / 60
    return total


@dataclass(frozen=True)
class Observation:
    """Something the results show that no test decides, such as a count; it has no verdict.

    Args:
        id: key that does not change when the text does, in kebab case and unique among the study's claims too.
        text: the question, in words.
        tell: function of results that returns the answer in words, empty where nothing of it was run.
        exhibit: name of the figure or table that shows it.
    """

    id: str
    text: str
    tell: Callable[[Results], str]
    exhibit: str = ""

    def seen(self, results: Results) -> str:
        """Return what is seen, in words; empty where runs that it speaks of are not among the results."""
        try:
            return self.tell(results)
        except NotRunError:
            return ""


def _data(samples: Iterable[Values], results: Results) -> str:
    """Name the data behind some samples, such as ``made data and OHSUMED``."""
    groups = sorted({group for sample in samples for group, _ in sample.runs})
    return " and ".join(dict.fromkeys(map(results.collection, groups)))
