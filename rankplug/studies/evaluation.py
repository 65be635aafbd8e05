"""The evaluation of a study: its exhibits, verdicts and observations on some results, and the folder that stores them.

A study's notebook evaluates it once and writes the folder, the artefact. Report, documentation and shell read it::

    <report>/<study>/exhibits/<id>.{csv,svg,png,pdf}   numbers and picture of each figure and table
                     exhibits/<id>.json                points of a picture, which its page shows on hover
                     verdicts.json                     claims with their verdicts, and observations
                     runs.csv                          combinations behind each exhibit and claim
                     queries.json                      models compared query by query
                     meta.json                         profile, versions, code, data, machine, times; written last

``verdicts.json`` and ``meta.json`` alone are an artefact too, without exhibits and runs.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankplug.errors import NotRunError, RankplugError, did_you_mean
from rankplug.registry import NAME, code_digest, registry
from rankplug.studies.claims import claim_label
from rankplug.studies.papers import Study, slug
from rankplug.studies.runs import core_seconds, number_on
from rankplug.studies.study_results import QueryPairs, query_pairs
from rankplug.studies.verdicts import VERDICTS, Abstention, Judgement, Verdict, read_judgement
from rankplug.system import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies.samples import Cell
    from rankplug.studies.study_results import Results

META, VERDICT_FILE, RUNS, QUERIES, EXHIBITS = "meta.json", "verdicts.json", "runs.csv", "queries.json", "exhibits"
FORMAT = 2
UNJUDGED = "not judged"
PICTURES = ("svg", "png", "pdf")
CLAIM_FACTS = ("id", "text", "section", "role", "source", "exhibit", "margin", "reason")
"""Fields of a claim's evaluation that are text."""
Value = TypeVar("Value")


@dataclass(frozen=True)
class RunSource:
    """A model of a group, and the combinations that represent it: one, or one a fold where validation data chose."""

    group: str
    model: str
    identities: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ExhibitEvaluation:
    """A figure or table on some results.

    Args:
        name: name in the paper, such as ``Figure 1``.
        title: its subject.
        caption: what to see in it, in Markdown; empty where the notebook says it.
        digits: decimals of a table with published numbers.
        table: its numbers.
        pictures: contents of a figure's files by their suffix, ``svg``, ``png`` and ``pdf``.
        points: points of a figure with words for them, see :func:`rankplug.plotting.encode_figure`.
        sources: the runs behind it.
    """

    name: str
    title: str
    caption: str
    digits: int
    table: pd.DataFrame
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    points: Sequence[Any] = ()
    sources: tuple[RunSource, ...] = ()

    @property
    def id(self) -> str:
        """Name of its files."""
        return slug(self.name)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each of its files."""
        yield f"{self.id}.csv", self.table.to_csv(index=False).encode()
        for suffix, content in self.pictures.items():
            yield f"{self.id}.{suffix}", content
        if self.pictures:
            yield f"{self.id}.json", _json(self.points, indent=None)


@dataclass(frozen=True)
class ClaimEvaluation:
    """A claim with its verdict.

    Args:
        id, text, section, role, source, exhibit: those of the claim.
        judgement: the verdict, or why there is none.
        margin: the difference that would matter, with its unit; empty for exact checks.
        reason: why smaller ones do not matter.
        sources: the runs behind the verdict.
    """

    id: str
    text: str
    section: str
    role: str
    source: str
    exhibit: str
    judgement: Judgement
    margin: str = ""
    reason: str = ""
    sources: tuple[RunSource, ...] = ()

    @property
    def label(self) -> str:
        """The text with its place in the paper, or marked as not the paper's."""
        return claim_label(self.text, self.section, self.source)

    @property
    def words(self) -> str:
        """The label without the signs of formulas, for figures."""
        return self.label.replace("$", "").replace("_{ij}", "ij").replace("_i", "i").replace("_j", "j")

    @property
    def effect(self) -> str:
        """The decisive part in a few words; empty where nothing was judged."""
        if not isinstance(self.judgement, Verdict):
            return ""
        part = self.judgement.decisive
        unit = f" {self.judgement.measured_in}" if self.judgement.measured_in else ""
        if not part.count:
            return "exact"
        if not math.isfinite(part.low):
            return f"{part.effect:+.2f}{unit}"
        return f"{part.effect:+.2f}{unit} [{part.low:+.2f}, {part.high:+.2f}]"

    def describe(self) -> dict[str, Any]:
        """Return plain values for JSON: the claim, its verdict in short, and all of the judgement."""
        judgement: dict[str, Any] = {**self.judgement.describe()}
        described: dict[str, Any] = {name: getattr(self, name) for name in CLAIM_FACTS}
        described["verdict"] = self.judgement.verdict
        if isinstance(self.judgement, Verdict):
            part, needs = judgement["parts"][0], self.judgement.needs
            described |= {"effect": part["effect"], "interval": [part["low"], part["high"]]}
            described |= {"unit": self.judgement.measured_in, "design": part["extent"]}
            described |= {"would_take": needs.sentence if needs else ""}
        return described | {"judgement": judgement, "runs": [[each.group, each.model] for each in self.sources]}


@dataclass(frozen=True)
class ObservationEvaluation:
    """An observation with what the results show."""

    id: str
    text: str
    seen: str
    exhibit: str = ""


@dataclass(frozen=True)
class Group:
    """A group of runs with its data.

    Args:
        name: name of the group.
        dataset: its data.
        place: the paper's data set in whose place they stand.
        synthetic: whether they were generated.
    """

    name: str
    dataset: str
    place: str = ""
    synthetic: bool = True


@dataclass(frozen=True)
class Meta:
    """Facts about an evaluation.

    Args:
        study, title, citation, bibtex: name of the study; title and citation of the paper.
        profile: size of the runs.
        parameters: those of the notebook that differ from their defaults, such as another data set.
        trials: number of trials.
        core_minutes: time of the trials on one core, by the times on record.
        date: when the last of them started, as ``2026-11-19``.
        groups: groups of runs with their data.
        versions: versions of the packages that the trials ran with.
        code: digest of the code that evaluated them: rankplug, all plugins, and editable packages that these import.
        machine: that evaluated them.
        written: when the artefact was written, as ``2026-11-19 12:00`` (UTC).
        note: a caveat about the runs, such as that they are fewer than the profile's.
    """

    study: str
    title: str
    citation: str
    bibtex: str
    profile: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 0
    core_minutes: float = 0.0
    date: str = ""
    groups: tuple[Group, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    note: str = ""


class Evaluation:
    """Exhibits, verdicts and observations of a study; each exhibit is computed or read when it is first used.

    :func:`evaluate` makes one from results, :meth:`read` from the folder that :meth:`write` wrote.

    Attributes:
        study: name of the study.
        exhibit_names: names of its figures and tables.
        meta: profile, versions, code, data, machine and times.
        claims: all claims with their verdicts.
        observations: observations in the results that no test decides.
        runs: combinations that were run: a row for each group, model and combination; ``used`` for those that
            represent the model.
        query_pairs: models of each group, compared query by query.
    """

    study: str
    exhibit_names: tuple[str, ...]
    meta: Meta
    claims: tuple[ClaimEvaluation, ...]
    observations: tuple[ObservationEvaluation, ...]
    runs: pd.DataFrame
    query_pairs: tuple[QueryPairs, ...]

    @cached_property
    def _exhibits(self) -> dict[str, ExhibitEvaluation]:
        return {}

    def _exhibit(self, name: str) -> ExhibitEvaluation:
        raise NotImplementedError

    @staticmethod
    def read(folder: Path | str) -> Evaluation:
        """Read an artefact; nothing of the study's code is needed."""
        return _Stored(Path(folder))

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Tell whether a folder has an artefact that was written to its end."""
        return (folder / META).is_file()

    @staticmethod
    def withdraw(folder: Path) -> None:
        """Mark an artefact as outdated, before another is written in its place."""
        (folder / META).unlink(missing_ok=True)

    def exhibit(self, name: str) -> ExhibitEvaluation:
        """Return a figure or table by its name."""
        if name not in self.exhibit_names:
            raise RankplugError(f"study {self.study} has no {name}: {did_you_mean(name, self.exhibit_names)}")
        if name not in self._exhibits:
            self._exhibits[name] = self._exhibit(name)
        return self._exhibits[name]

    @property
    def exhibits(self) -> tuple[ExhibitEvaluation, ...]:
        """All figures and tables."""
        return tuple(map(self.exhibit, self.exhibit_names))

    @property
    def counts(self) -> dict[str, int]:
        """Counts of claims by verdict, and of those without."""
        counts = dict.fromkeys((*VERDICTS, UNJUDGED), 0)
        for claim in self.claims:
            counts[UNJUDGED if isinstance(claim.judgement, Abstention) else claim.judgement.verdict] += 1
        return counts

    @property
    def decided(self) -> float:
        """Share of the judged claims that have another verdict than inconclusive."""
        judged = len(self.claims) - self.counts[UNJUDGED]
        return 1.0 - self.counts["inconclusive"] / judged if judged else math.nan

    @property
    def in_short(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count} {word}" for word, count in self.counts.items() if count) or "no claims"

    def describe(self) -> dict[str, Any]:
        """Return the content of ``verdicts.json``."""
        return {
            "format": FORMAT,
            "study": self.study,
            "profile": self.meta.profile,
            "claims": [claim.describe() for claim in self.claims],
            "observations": [vars(observation) for observation in self.observations],
        }

    def write(self, folder: Path | str) -> Path:
        """Write the artefact, in place of an earlier one, and return its folder."""
        folder = Path(folder)
        (folder / EXHIBITS).mkdir(parents=True, exist_ok=True)
        self.withdraw(folder)  # A folder that is half written is no artefact.
        files = {name: content for exhibit in self.exhibits for name, content in exhibit.files()}
        for old in (folder / EXHIBITS).iterdir():
            if old.name not in files:
                old.unlink()
        for name, content in files.items():
            write_whole(folder / EXHIBITS / name, content)
        write_whole(folder / VERDICT_FILE, _json(self.describe()))
        write_whole(folder / RUNS, self._runs_with_use().to_csv(index=False).encode())
        write_whole(folder / QUERIES, _json([asdict(pairs) for pairs in self.query_pairs], indent=None))
        exhibits = [
            {
                "name": exhibit.name, "title": exhibit.title, "caption": exhibit.caption, "digits": exhibit.digits,
                "pictures": list(exhibit.pictures),
                "columns": {str(name): str(kind) for name, kind in exhibit.table.dtypes.items()},
            }
            for exhibit in self.exhibits
        ]  # fmt: skip
        meta = asdict(self.meta) | {"written": time.strftime("%Y-%m-%d %H:%M", time.gmtime())}
        write_whole(folder / META, _json({"format": FORMAT, **meta, "exhibits": exhibits}))
        return folder

    def _runs_with_use(self) -> pd.DataFrame:
        """Return the runs with the exhibits and claims that rest on each."""
        runs = self.runs
        for kind, users in (("exhibits", self.exhibits), ("claims", self.claims)):
            ids: dict[Cell, list[str]] = {}
            for user in users:
                for source in user.sources:
                    ids.setdefault((source.group, source.model), []).append(user.id)
            cells = zip(runs["group"], runs["model"], strict=True)
            runs = runs.assign(**{kind: [" ".join(ids.get(cell, ())) for cell in cells]})
        return runs


def evaluate(study: Study, results: Results) -> Evaluation:
    """Return a study's exhibits, verdicts and observations on some results, with what is behind each."""
    return _Computed(study, results)


def read_artefacts(report: Path, names: Iterable[str] = ()) -> dict[str, Evaluation]:
    """Read the artefacts in the folder of a report, all or those of some studies.

    Raises:
        RankplugError: a named study has none, or there is none at all.
    """
    requested = list(names)
    available = sorted(path.parent.name for path in report.glob(f"*/{META}"))
    if absent := [name for name in requested if name not in available]:
        raise RankplugError(f"{report} has no evaluation of {', '.join(absent)}; run rankplug reproduce {absent[0]}")
    if not available:
        raise RankplugError(
            f"{report} has no evaluation of a study; run rankplug reproduce all, or name the report's folder"
        )
    return {name: Evaluation.read(report / name) for name in requested or available}


class _Computed(Evaluation):
    """An evaluation whose parts are computed from results when they are first used."""

    def __init__(self, study: Study, results: Results) -> None:
        self._study, self._results = study, results
        _code()  # Notes the state of the files, so that a later change is seen.
        self.study = study.name
        self.exhibit_names = tuple(exhibit.name for exhibit in study.exhibits)

    @cached_property
    def meta(self) -> Meta:  # type: ignore[override]
        study, results = self._study, self._results
        records = [record["record"] for record in results.records]
        started = max((number_on(record, "started") for record in records), default=0.0)
        versions = {package: version for record in records for package, version in record.get("versions", {}).items()}
        code, note = _code()
        return Meta(
            study=study.name,
            title=study.title,
            citation=str(study.citation),
            bibtex=study.bibtex,
            profile=results.profile,
            parameters=dict(results.parameters),
            trials=len(records),
            core_minutes=round(sum(map(core_seconds, records)) / 60, 1),
            date=time.strftime("%Y-%m-%d", time.gmtime(started)),
            groups=tuple(
                Group(name, str(runs.shared.get("dataset", "")), runs.place, results.is_made(name))
                for name, runs in results.runs.items()
            ),
            versions=dict(sorted(versions.items())),
            code=code,
            machine={
                "platform": platform.platform(),
                "python": platform.python_version(),
                "cores": os.cpu_count() or 1,
            },
            note=note,
        )

    def _exhibit(self, name: str) -> ExhibitEvaluation:
        import pandas as pd

        from rankplug.plotting import encode_figure, in_style

        exhibit = self._study.exhibit(name)
        try:
            with in_style():
                (table, figure), sources = self._with_sources(exhibit.draw)
        except NotRunError:
            table, figure, sources = pd.DataFrame(), None, ()
        pictures, points = encode_figure(figure, PICTURES) if figure else ({}, [])
        facts = (exhibit.name, exhibit.title, exhibit.caption, exhibit.digits)
        return ExhibitEvaluation(*facts, plain_table(table), pictures, points, sources)

    @cached_property
    def claims(self) -> tuple[ClaimEvaluation, ...]:  # type: ignore[override]
        evaluations = []
        for claim in self._study.claims:
            judgement, sources = self._with_sources(claim.judge)
            margin, reason = (str(claim.margin), claim.margin.reason) if claim.margin else ("", "")
            facts = (claim.id, claim.text, claim.section, claim.role, claim.source, claim.exhibit)
            evaluations.append(ClaimEvaluation(*facts, judgement, margin, reason, sources))
        return tuple(evaluations)

    @cached_property
    def observations(self) -> tuple[ObservationEvaluation, ...]:  # type: ignore[override]
        seen = ((each, each.seen(self._results)) for each in self._study.observations)
        return tuple(ObservationEvaluation(each.id, each.text, words, each.exhibit) for each, words in seen if words)

    @cached_property
    def runs(self) -> pd.DataFrame:  # type: ignore[override]
        table = self._results.describe()
        return plain_table(table) if len(table) else _no_runs()

    @cached_property
    def query_pairs(self) -> tuple[QueryPairs, ...]:  # type: ignore[override]
        return tuple(query_pairs(self._results))

    def _with_sources(self, make: Callable[[Results], Value]) -> tuple[Value, tuple[RunSource, ...]]:
        """Return what a function makes of the results, and the runs that it read, by group and model in their order."""
        results = self._results
        with results.noting_reads() as cells:
            value = make(results)
        ordered = [(group, model) for group in results.frames for model in results.models(group)]
        sources = (RunSource(*cell, results.identities(*cell)) for cell in ordered if cell in cells)
        return value, tuple(source for source in sources if source.identities)


def code_packages() -> list[str]:
    """Return the packages whose code an evaluation depends on: rankplug, and those of all plugins."""
    packages = {"rankplug"}
    for plugin in registry().plugins():
        code = plugin.specification.implementation
        module = code.partition(":")[0] if isinstance(code, str) else getattr(code, "__module__", "")
        packages.add(module.partition(".")[0])
    return sorted(packages - {"", "__main__"})


def _code() -> tuple[str, str]:
    """Return a digest of the code; where it was edited after it had been imported, a note about that instead."""
    try:
        return code_digest(*code_packages()), ""
    except NotRunError as error:
        return "", f"The code changed while it evaluated: {error}"


class _Stored(Evaluation):
    """An evaluation that was read from an artefact."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._explained():
            about, verdicts = self._json(META), self._json(VERDICT_FILE)
            if about.pop("format") != FORMAT or verdicts["format"] != FORMAT:
                raise ValueError(f"it has another format than {FORMAT}")
            self._about = {str(each["name"]): each for each in about.pop("exhibits", ())}
            groups = tuple(Group(**group) for group in about.pop("groups"))
            self.meta = Meta(**about, groups=groups)
            self.study, self.exhibit_names = self.meta.study, tuple(self._about)
            if not NAME.fullmatch(self.study):
                raise ValueError(f"{self.study!r} is not a study's name")
            runs = _read_table(folder / RUNS, RUN_COLUMNS) if (folder / RUNS).exists() else _no_runs()
            self._sources = {kind: _sources(runs, kind) for kind in ("exhibits", "claims")}
            self.runs = runs.drop(columns=["exhibits", "claims"], errors="ignore")
            pairs = self._json(QUERIES) if (folder / QUERIES).exists() else ()
            self.query_pairs = tuple(QueryPairs.read(each) for each in pairs)
            self.observations = tuple(ObservationEvaluation(**each) for each in verdicts["observations"])
            self.claims = tuple(
                ClaimEvaluation(
                    **{name: str(each[name]) for name in CLAIM_FACTS},
                    judgement=read_judgement(each["judgement"]),
                    sources=self._sources["claims"].get(each["id"], ()),
                )
                for each in verdicts["claims"]
            )

    def _exhibit(self, name: str) -> ExhibitEvaluation:
        with self._explained():
            about, stem = self._about[name], self._folder / EXHIBITS / slug(name)
            suffixes = [suffix for suffix in PICTURES if suffix in about["pictures"]]
            pictures = {suffix: stem.with_suffix(f".{suffix}").read_bytes() for suffix in suffixes}
            points = self._json(f"{EXHIBITS}/{stem.name}.json") if pictures else []
            table = _read_table(stem.with_suffix(".csv"), about["columns"])
            facts = (name, str(about["title"]), str(about["caption"]), int(about["digits"]))
            return ExhibitEvaluation(*facts, table, pictures, points, self._sources["exhibits"].get(stem.name, ()))

    def _json(self, name: str) -> Any:
        return json.loads((self._folder / name).read_text(encoding="utf-8"))

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise an error that names the folder, where its content cannot be read."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            reason = f"{self._folder} is no evaluation of a study: {type(error).__name__}: {error}"
            raise RankplugError(f"{reason}; write it again with rankplug reproduce") from error


def _sources(runs: pd.DataFrame, kind: str) -> dict[str, tuple[RunSource, ...]]:
    """Return the runs behind each exhibit or claim by its id."""
    behind: dict[str, dict[Cell, list[str]]] = {}
    for row in runs[runs["used"]].to_dict("records"):
        for user in row[kind].split():
            behind.setdefault(user, {}).setdefault((row["group"], row["model"]), []).append(row["combination"])
    return {
        user: tuple(RunSource(*cell, tuple(identities)) for cell, identities in cells.items())
        for user, cells in behind.items()
    }


def _json(value: Any, indent: int | None = 1) -> bytes:
    separators = None if indent else (",", ":")
    return (json.dumps(value, ensure_ascii=False, indent=indent, separators=separators) + "\n").encode()


RUN_COLUMNS = {"group": "object", "model": "object", "combination": "object"} | {
    "folds": "int64", "trials": "int64", "used": "bool"
}  # fmt: skip
"""Columns of the runs, with their kinds; others are text."""


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with numbered rows, and columns of numbers or text under one name each; missing text is empty."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    columns = {}
    for name, column in table.items():
        heading = " ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name)
        if not pd.api.types.is_numeric_dtype(column.dtype):
            words = column.astype(object)
            columns[heading] = words.map(str).where(words.notna(), "").astype(object)
        else:
            columns[heading] = column if isinstance(column.dtype, np.dtype) else column.astype(np.float64)
    return pd.DataFrame(columns)


def _no_runs() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(RUN_COLUMNS)).astype(dict(RUN_COLUMNS))


def _read_table(path: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Read a table that was written as CSV; columns without a kind are text."""
    import pandas as pd

    if not kinds:
        return pd.DataFrame()
    table = pd.read_csv(path, dtype=object, keep_default_na=False, index_col=False)
    for name, kind in kinds.items():
        words = table[name]
        if kind == "bool":
            table[name] = words == "True"
        elif kind != "object":
            table[name] = words.replace("", "nan").astype(np.dtype(kind))
    return table
