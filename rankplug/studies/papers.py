"""Papers as plugins: whom to cite, the runs a paper needs, its exhibits as functions of results, and its claims.

A study never trains by itself: it says which combinations it needs at a profile, a sweep runs those that are missing,
and every figure, table and verdict is computed from the stored results.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from rankplug.errors import NotRunError, RankplugError, SpecificationError, did_you_mean
from rankplug.registry import NAME, Parameters, StudySpecification, read_parameters, registry
from rankplug.studies.claims import Claim, Observation
from rankplug.studies.runs import Profile, Runs, StoredFrames, read_profile
from rankplug.studies.study_results import Results
from rankplug.studies.verdicts import Verdict
from rankplug.system import __version__, packaged_file, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.store import Store, Trial
    from rankplug.sweeps import Plan, Sweep

NOTEBOOK = re.compile(r"[A-Za-z_][\w.]*:[\w./-]+\.ipynb")
SPECIAL = {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"} | {
    "^": r"\textasciicircum{}"
}
YEARS = range(1900, 2200)


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A paper as others cite it.

    Args:
        authors: their full names, given name first.
        title: title of the paper.
        venue: short name of the venue, such as ``WSDM``.
        year: year of publication.
        published_in: the proceedings or journal by its full name.
        doi: the DOI without a resolver before it.
        url: address of a paper without a DOI.

    >>> paper = Citation(authors=("Ada Lovelace",), title="Notes", venue="SCI", year=1843 + 60, doi="10.1/x")
    >>> str(paper)
    'Ada Lovelace, SCI 1903'
    >>> print(paper.bibtex("notes"))
    @inproceedings{notes,
      author = {Ada Lovelace},
      title = {{Notes}},
      booktitle = {SCI},
      year = {1903},
      doi = {10.1/x},
    }
    """

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    published_in: str = ""
    doi: str = ""
    url: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.authors, str) or not self.authors or not all(self.authors):
            raise SpecificationError(f"the citation of {self.title!r} needs its authors as a tuple of names")
        if not (self.title and self.venue):
            raise SpecificationError("a citation needs a title and a venue")
        if self.year not in YEARS:
            raise SpecificationError(f"the citation of {self.title!r} has the year {self.year!r}")
        if self.doi and not re.fullmatch(r"10\.\S+/\S+", self.doi):
            raise SpecificationError(f"the citation of {self.title!r} has {self.doi!r} for a DOI, not 10.number/name")

    def __str__(self) -> str:
        return f"{', '.join(self.authors)}, {self.venue} {self.year}"

    def bibtex(self, key: str) -> str:
        """Return the entry of a bibliography in BibTeX."""
        field = "journal" if self.venue == "arXiv" else "booktitle"
        fields = [
            ("author", " and ".join(map(_latex, self.authors))),
            ("title", f"{{{_latex(self.title)}}}"),
            (field, _latex(self.published_in or self.venue)),
            ("year", str(self.year)),
            ("doi", self.doi),
            ("url", self.url),
        ]
        return _entry("article" if field == "journal" else "inproceedings", key, fields)


def rankplug_bibtex() -> str:
    """Return rankplug's own entry of a bibliography in BibTeX."""
    fields = [
        ("author", "{The rankplug contributors}"),
        ("title", "{rankplug: learning to rank in which every loss, sampler, scorer and backend is a plugin}"),
        ("version", __version__),
        ("year", "2026"),
        ("note", "MIT licence"),
    ]
    return _entry("software", "rankplug", fields)


def exhibit_bibtex(key: str, title: str, runs: str, year: str) -> str:
    """Return the entry of a figure or table of a report in BibTeX.

    Args:
        key: key of the entry.
        title: title of the exhibit.
        runs: the runs behind it, in words.
        year: year in which the last of them ended.
    """
    fields = [("title", f"{{{_latex(title)}}}"), ("howpublished", f"Report of rankplug {__version__}")]
    return _entry("misc", key, [*fields, ("note", _latex(runs)), ("year", year)])


def _entry(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _latex(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in " ".join(text.split()))


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
        name: name in the paper, such as ``Figure 3a``.
        title: its subject.
        draw: function of results that returns the numbers and, for a figure, the picture. The column ``combination``
            names the combinations behind a row, see :meth:`Results.combinations_of`.
        digits: decimals of a table with published numbers.
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
        name: short name.
        title: title of the paper.
        citation: citation of the paper; words where no paper is run again.
        notebook: the notebook that tells it, as a resource of a package: ``"my_package:notebooks/my_paper.ipynb"``.
        runs: function of profile and data set that returns the runs it needs.
        exhibits: its figures and tables.
        claims: its claims.
        published: function that reads the numbers the paper prints.
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
        exhibits = {exhibit.name: exhibit for exhibit in self.exhibits}
        if name not in exhibits:
            raise RankplugError(f"study {self.name} has no {name}: {did_you_mean(name, exhibits)}")
        return exhibits[name]

    def planned_runs(
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

        return StoredFrames(self.planned_runs(profile, data=data), Store.named(store)).missing

    def plan(
        self,
        profile: Profile = "quick",
        *,
        store: Store | str | Path | None = None,
        retry_failed: bool = False,
        **parameters: Any,
    ) -> Plan:
        """Return what :meth:`run` would do with the same arguments: trials to run, done and failed."""
        from rankplug.store import Store
        from rankplug.sweeps import plan_sweeps

        runs = self.planned_runs(profile, **parameters)
        return plan_sweeps((group.sweep() for group in runs.values()), Store.named(store), retry_failed=retry_failed)

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
            profile: size of the runs.
            data: a data set in place of the profile's own.
            trials: number of repetitions, in place of the profile's.
            seed: the master seed.
            store: where results lie, or their folder.
            decisions: file of the verdicts for which :func:`rankplug.studies.decide` added trials.

        Raises:
            NotRunError: some runs are not in the store.
        """
        from rankplug.store import Store

        frames = StoredFrames(self.planned_runs(profile, data=data, trials=trials, seed=seed), Store.named(store))
        if missing := frames.missing:
            raise NotRunError(
                f"{frames.store.folder} lacks {len(missing)} of {len(frames.trials)} trials of the study {self.name} at"
                f" the profile {profile}, the first: {missing[0]}; run them with rankplug reproduce {self.name}"
                f' --profile {profile}, or in Python with rp.study("{self.name}").run("{profile}")'
            )
        parameters = {name: value for name, value in (("data", data), ("trials", trials), ("seed", seed)) if value}
        decided = read_decisions(decisions) if decisions else {}
        return Results(profile, frames, self.published(), frames.records, frames.runs, decided, parameters)

    def run(
        self,
        profile: Profile = "quick",
        *,
        data: str | None = None,
        trials: int | None = None,
        seed: int = 0,
        store: Store | str | Path | None = None,
        decisions: str | Path | None = None,
        **execution: Any,
    ) -> Results:
        """Train what is missing at a profile, which may take hours, and read the results of all runs.

        The arguments are those of :meth:`results`, and in ``execution`` such as ``jobs``, ``progress`` and
        ``retry_failed`` of :func:`train`.
        """
        from rankplug.store import Store

        opened = Store.named(store)
        runs = self.planned_runs(profile, data=data, trials=trials, seed=seed)
        train([group.sweep() for group in runs.values()], opened, **execution)
        return self.results(profile, data=data, trials=trials, seed=seed, store=opened, decisions=decisions)


def train(
    sweeps: Sequence[Sweep], store: Store, *, retry_failed: bool = False, plan: Plan | None = None, **execution: Any
) -> None:
    """Train what the store lacks of some sweeps; raise an error if trials failed or could not run.

    Args:
        sweeps: the sweeps of studies.
        store: where results lie.
        retry_failed: whether to run trials again that failed before.
        plan: the plan of the sweeps, where it is known.
        execution: further arguments of :func:`rankplug.sweeps.run`.
    """
    from rankplug.sweeps import further_plans, plan_sweeps, run

    first = plan or plan_sweeps(sweeps, store, retry_failed=retry_failed)
    for todo in itertools.chain([first], further_plans(sweeps, store)):
        outcome = run(todo, store, **execution)
        if outcome.not_run:
            raise NotRunError(
                f"{len(outcome.not_run)} trials could not run, the first: {outcome.not_run[0]}; nothing is recorded of"
                " them, and the same command runs them"
            )
        if outcome.failures:
            raise RankplugError(
                f"{len(outcome.failures)} trials failed, the first: {outcome.failures[0]}; once the cause is fixed, run"
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


def check_parameters(values: Mapping[str, Any]) -> StudyParameters:
    """Validate the parameters of a study's notebook without a kernel, and say which one is wrong."""
    parameters = read_parameters(StudyParameters, values, "the notebook")
    if parameters.data is not None:
        registry().resolve("dataset", parameters.data)
    return parameters


def study(name: str) -> Study:
    """Return the study with a name."""
    loaded: Study = registry().specification("study", name).load()
    return loaded


def bibliography(names: Iterable[str]) -> str:
    """Return BibTeX of the papers that some studies run again, of all for ``all``; of rankplug where none does."""
    requested = list(names)
    papers = studies() if "all" in requested else [study(name) for name in requested]
    return "\n\n".join([paper.bibtex for paper in papers if paper.bibtex] or [rankplug_bibtex()])


def studies() -> list[Study]:
    """Return all installed studies."""
    return [specification.load() for specification in registry().specifications(StudySpecification)]
