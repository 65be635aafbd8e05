"""Papers as plugins: the runs a paper needs, its figures and tables as functions of results, and its claims.

A study never trains by itself: it says which combinations it needs at a profile, a sweep runs those that are missing,
and every figure, table and verdict is computed from the stored results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from rankplug.errors import NotRunError, RankplugError, SpecificationError, did_you_mean
from rankplug.registry import NAME, Parameters, StudySpecification, read_parameters, registry
from rankplug.studies.citation import Citation, rankplug_bibtex
from rankplug.studies.claims import Claim, Observation
from rankplug.studies.runs import Profile, Runs, RunsThere, StoredFrames, StoredRecords, read_profile
from rankplug.studies.study_results import Results
from rankplug.system import packaged_file

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.store import Store, Trial
    from rankplug.sweeps import Plan

NOTEBOOK = re.compile(r"[A-Za-z_][\w.]*:[\w./-]+\.ipynb")


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper.

    Args:
        name: as the paper numbers it, such as ``Figure 3a``.
        title: what it shows.
        draw: from results to the numbers and, for a figure, the picture. The numbers of a row are made by the
            combinations that its column ``combination`` names, see :meth:`Results.combinations_of`.
        digits: behind the point, of a table with published numbers.
        caption: what to see in it, in Markdown, where the notebook says nothing right before it.
    """

    name: str
    title: str
    draw: Callable[[Results], tuple[pd.DataFrame, Figure | None]]
    digits: int = 2
    caption: str = ""


@dataclass(frozen=True)
class Study:
    """A paper.

    Args:
        name: short.
        title: of the paper.
        citation: of the paper; words where no paper is run again.
        notebook: the notebook that tells it, as a resource of a package: ``"my_package:notebooks/my_paper.ipynb"``.
        runs: the runs it needs at a profile.
        exhibits: its figures and tables.
        claims: its claims.
        published: reads the numbers the paper prints.
        findings: known errors of the paper and what is done about them, in sentences.
        colours: model -> its colour in all figures.
        observations: what the results show beside the claims, without a test.
    """

    name: str
    title: str
    citation: Citation | str
    notebook: str
    runs: Callable[[Profile, str | None], Iterable[Runs]]
    exhibits: tuple[Exhibit, ...]
    claims: tuple[Claim, ...]
    published: Callable[[], pd.DataFrame]
    findings: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise SpecificationError(
                f"{self.name!r} is not a study's name, which its pages have too: letters, digits, _ and -, beginning"
                " with a letter"
            )
        if not NOTEBOOK.fullmatch(self.notebook):
            raise SpecificationError(
                f"the study {self.name} names its notebook {self.notebook!r}; name a file of your package, such as"
                f' "my_package:notebooks/{self.name}.ipynb"'
            )

    @property
    def notebook_path(self) -> Path:
        """Return the path of the study's notebook."""
        return packaged_file(self.notebook)

    @property
    def bibtex(self) -> str:
        """The paper in BibTeX; empty where it is cited in words only."""
        return self.citation.bibtex(self.name) if isinstance(self.citation, Citation) else ""

    def exhibit(self, name: str) -> Exhibit:
        """Return the figure or table with a name."""
        for exhibit in self.exhibits:
            if exhibit.name == name:
                return exhibit
        names = [exhibit.name for exhibit in self.exhibits]
        raise RankplugError(f"study {self.name} has no {name}: {did_you_mean(name, names)}")

    def runs_asked(
        self, profile: Profile = "quick", *, data: str | None = None, trials: int | None = None, seed: int = 0
    ) -> dict[str, Runs]:
        """Return the groups of runs at a profile by name, see :meth:`results` for the arguments."""
        read_profile(profile)
        return {
            runs.name: replace(runs, trials=trials or runs.trials, shared={**runs.shared, "seed": seed})
            for runs in self.runs(profile, data)
        }

    def missing(
        self, profile: Profile = "quick", *, data: str | None = None, store: Store | str | Path | None = None
    ) -> list[Trial]:
        """Return the trials at a profile that the store lacks, see :meth:`results` for the arguments."""
        from rankplug.store import Store

        return StoredFrames(self.runs_asked(profile, data=data), Store.named(store)).missing

    def plan(
        self,
        profile: Profile = "quick",
        *,
        data: str | None = None,
        trials: int | None = None,
        seed: int = 0,
        store: Store | str | Path | None = None,
        retry_failed: bool = False,
    ) -> Plan:
        """Return what :meth:`run` would do with the same arguments: trials to run, done and failed."""
        from rankplug.store import Store
        from rankplug.sweeps import plan_sweeps

        asked = self.runs_asked(profile, data=data, trials=trials, seed=seed)
        return plan_sweeps((runs.sweep() for runs in asked.values()), Store.named(store), retry_failed=retry_failed)

    def results(
        self,
        profile: Profile = "quick",
        *,
        data: str | None = None,
        trials: int | None = None,
        seed: int = 0,
        store: Store | str | Path | None = None,
    ) -> Results:
        """Read the results of all runs at a profile; :meth:`run` makes those that are missing.

        Args:
            profile: how large.
            data: a data set in place of the profile's own.
            trials: repetitions, in place of the profile's number.
            seed: the master seed.
            store: where results lie, or their folder.

        Raises:
            NotRunError: some runs are not in the store.
        """
        from rankplug.store import Store

        frames = StoredFrames(self.runs_asked(profile, data=data, trials=trials, seed=seed), Store.named(store))
        if missing := frames.missing:
            raise NotRunError(
                f"{frames.store.folder} lacks {len(missing)} of {len(frames.trials)} trials of the study {self.name} at"
                f" the profile {profile}, the first: {missing[0]}; run them with rankplug reproduce {self.name}"
                f' --profile {profile}, or in Python with rp.study("{self.name}").run("{profile}")'
            )
        return self._read(profile, frames)

    def results_there(self, profile: Profile = "quick", *, store: Store | str | Path | None = None) -> Results:
        """Read as many of the profile's trials as the store has of every model of a group, group by group.

        Args:
            profile: how large.
            store: where results lie, or their folder.

        Raises:
            NotRunError: no group has a trial of every model in the store.
        """
        from rankplug.store import Store

        kept = Store.named(store)
        there = {name: replace(runs, trials=runs.trials_in(kept)) for name, runs in self.runs_asked(profile).items()}
        frames = StoredFrames(RunsThere((name, runs) for name, runs in there.items() if runs.trials), kept)
        if not frames:
            raise NotRunError(
                f"{kept.folder} has no group of runs of the study {self.name} at the profile {profile}; run them with"
                f" rankplug reproduce {self.name} --profile {profile}"
            )
        return self._read(profile, frames)

    def _read(self, profile: Profile, frames: StoredFrames) -> Results:
        return Results(profile, frames, self.published(), StoredRecords(frames), frames.runs)

    def run(
        self,
        profile: Profile = "quick",
        *,
        data: str | None = None,
        trials: int | None = None,
        seed: int = 0,
        jobs: int = 1,
        store: Store | str | Path | None = None,
        progress: bool = True,
        retry_failed: bool = False,
        **execution: Any,
    ) -> Results:
        """Train what is missing at a profile, which may take hours, and read the results of all runs.

        Args:
            profile: how large.
            data: a data set in place of the profile's own.
            trials: repetitions, in place of the profile's number.
            seed: the master seed.
            jobs: trials at a time.
            store: where results lie, or their folder.
            progress: shows a bar.
            retry_failed: runs trials again that failed before.
            execution: handed to :func:`rankplug.sweeps.run`.
        """
        from rankplug.store import Store

        kept = Store.named(store)
        asked = self.runs_asked(profile, data=data, trials=trials, seed=seed)
        self.train(asked, kept, jobs=jobs, progress=progress, retry_failed=retry_failed, **execution)
        return self.results(profile, data=data, trials=trials, seed=seed, store=kept)

    def train(self, asked: Mapping[str, Runs], store: Store, retry_failed: bool = False, **execution: Any) -> None:
        """Train what the store lacks of some groups.

        Args:
            asked: groups of runs by name.
            store: where results lie.
            retry_failed: runs trials again that failed before.
            execution: handed to :func:`rankplug.sweeps.run`.
        """
        from rankplug.sweeps import further_plans, plan_sweeps

        sweeps = [runs.sweep() for runs in asked.values()]
        self._train(plan_sweeps(sweeps, store, retry_failed=retry_failed), store, **execution)
        for further in further_plans(sweeps, store):
            self._train(further, store, **execution)

    def _train(self, todo: Plan, store: Store, **execution: Any) -> None:
        from rankplug.sweeps import run

        outcome = run(todo, store, **execution)
        if outcome.not_run:
            raise NotRunError(
                f"{len(outcome.not_run)} trials of the study {self.name} could not run, the first:"
                f" {outcome.not_run[0]}; nothing is recorded of them, and the same again runs them"
            )
        if outcome.failures:
            raise RankplugError(
                f"{len(outcome.failures)} trials of the study {self.name} failed, the first: {outcome.failures[0]};"
                f" once the cause is mended, run them again with rankplug reproduce {self.name} --retry-failed, or in"
                " Python with retry_failed=True"
            )


class StudyParameters(Parameters):
    """Parameters of a study's notebook; those of :meth:`Study.run`."""

    profile: Profile = "quick"
    data: str | None = None
    trials: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    jobs: int = Field(1, ge=1)
    store: str | None = None


def check_parameters(given: Mapping[str, Any]) -> StudyParameters:
    """Validate the parameters of a study's notebook without a kernel, and say which one is wrong."""
    parameters = read_parameters(StudyParameters, given, "the notebook")
    if parameters.data is not None:
        registry().resolve("dataset", parameters.data)
    return parameters


def study(name: str) -> Study:
    """Return the study with a name."""
    loaded: Study = registry().specification("study", name).load()
    return loaded


def bibliography(names: Iterable[str]) -> str:
    """Return BibTeX of the papers that some studies run again, of all for ``all``; of rankplug where none does."""
    wanted = list(names)
    chosen = studies() if "all" in wanted else [study(name) for name in wanted]
    return "\n\n".join([paper.bibtex for paper in chosen if paper.bibtex] or [rankplug_bibtex()])


def studies() -> list[Study]:
    """Return all installed studies."""
    return [specification.load() for specification in registry().specifications(StudySpecification)]
