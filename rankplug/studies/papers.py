"""Papers as plugins: the runs a paper needs, its figures and tables as functions of results, and its claims.

A study never trains by itself: it says which combinations it needs at a profile, a sweep runs those that are missing,
and every figure, table and verdict is computed from the stored results.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from rankplug.errors import NotRunError, RankplugError, SpecificationError, did_you_mean
from rankplug.registry import NAME, Parameters, StudySpecification, read_parameters, registry
from rankplug.studies.citation import Citation, rankplug_bibtex
from rankplug.studies.claims import Claim, Observation
from rankplug.studies.runs import Profile, Runs, StoredFrames, StoredRecords, read_profile
from rankplug.studies.study_results import Results
from rankplug.studies.verdicts import Verdict
from rankplug.system import packaged_file, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.store import Store, Trial
    from rankplug.sweeps import Plan, Sweep

NOTEBOOK = re.compile(r"[A-Za-z_][\w.]*:[\w./-]+\.ipynb")


def slug(name: str) -> str:
    """Return a name as files and anchors have it.

    >>> slug("Table 1, tests")
    'table-1-tests'
    """
    return re.sub(r"\W+", "-", name.lower()).strip("-")


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
        names = [slug(exhibit.name) for exhibit in self.exhibits]
        if several := [name for name in names if names.count(name) > 1]:
            raise SpecificationError(f"the study {self.name} has several exhibits {several[0]}; name each differently")

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
        decisions: str | Path | None = None,
    ) -> Results:
        """Read the results of all runs at a profile; :meth:`run` trains those that are missing.

        Args:
            profile: how large.
            data: a data set in place of the profile's own.
            trials: repetitions, in place of the profile's number.
            seed: the master seed.
            store: where results lie, or their folder.
            decisions: file of the verdicts for which :func:`rankplug.studies.decide` added trials.

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
        parameters = {name: value for name, value in (("data", data), ("trials", trials), ("seed", seed)) if value}
        decided = read_decisions(decisions) if decisions else {}
        records = StoredRecords(frames)
        return Results(profile, frames, self.published(), records, frames.runs, decided, parameters)

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
        decisions: str | Path | None = None,
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
            decisions: file of the verdicts for which :func:`rankplug.studies.decide` added trials.
            execution: handed to :func:`rankplug.sweeps.run`.
        """
        from rankplug.store import Store

        kept = Store.named(store)
        asked = self.runs_asked(profile, data=data, trials=trials, seed=seed)
        sweeps = [runs.sweep() for runs in asked.values()]
        train(sweeps, kept, jobs=jobs, progress=progress, retry_failed=retry_failed, **execution)
        return self.results(profile, data=data, trials=trials, seed=seed, store=kept, decisions=decisions)


def train(
    sweeps: Sequence[Sweep], store: Store, *, retry_failed: bool = False, plan: Plan | None = None, **execution: Any
) -> None:
    """Train what the store lacks of some sweeps; raise an error if trials failed or could not run.

    Args:
        sweeps: of studies.
        store: where results lie.
        retry_failed: runs trials again that failed before.
        plan: of the sweeps, where there is one.
        execution: handed to :func:`rankplug.sweeps.run`.
    """
    from rankplug.sweeps import further_plans, plan_sweeps

    _train(plan or plan_sweeps(sweeps, store, retry_failed=retry_failed), store, **execution)
    for further in further_plans(sweeps, store):
        _train(further, store, **execution)


def _train(plan: Plan, store: Store, **execution: Any) -> None:
    from rankplug.sweeps import run

    outcome = run(plan, store, **execution)
    if outcome.not_run:
        raise NotRunError(
            f"{len(outcome.not_run)} trials could not run, the first: {outcome.not_run[0]}; nothing is recorded of"
            " them, and the same command runs them"
        )
    if outcome.failures:
        raise RankplugError(
            f"{len(outcome.failures)} trials failed, the first: {outcome.failures[0]}; once the cause is mended, run"
            " them again with rankplug reproduce --retry-failed, or in Python with retry_failed=True"
        )


def write_decisions(results: Results, path: Path) -> None:
    """Write the verdicts for which trials were added, for a study's notebook."""
    described = {claim: verdict.describe() for claim, verdict in results.decisions.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(described, indent=1).encode())


def read_decisions(path: str | Path) -> dict[str, Verdict]:
    """Read verdicts that :func:`write_decisions` wrote, by the claim's id."""
    try:
        described = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        return {claim: Verdict.read(verdict) for claim, verdict in described.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RankplugError(f"{path} has no decisions on claims: {error}") from error


class StudyParameters(Parameters):
    """Parameters of a study's notebook: those of :meth:`Study.run`, and the folder of the report."""

    profile: Profile = "quick"
    data: str | None = None
    trials: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    jobs: int = Field(1, ge=1)
    store: str | None = None
    report: str | None = None
    decisions: str | None = None


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
