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
import csv
import io
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rankplug.errors import NotRunError, RankplugError, did_you_mean
from rankplug.registry import NAME, code_digest, registry
from rankplug.studies.claims import claim_label
from rankplug.studies.papers import Exhibit, Study, slug
from rankplug.studies.query_pairs import QueryPairs, query_pairs
from rankplug.studies.runs import core_seconds, number_on
from rankplug.studies.verdicts import VERDICTS, Abstention, Judgement, Verdict, read_judgement
from rankplug.system import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies.samples import Cell
    from rankplug.studies.study_results import Results

META, VERDICT_FILE, RUNS, QUERIES, EXHIBITS = "meta.json", "verdicts.json", "runs.csv", "queries.json", "exhibits"
FORMAT = 2
UNJUDGED = "not judged"
Read = TypeVar("Read")


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
        name: such as ``Figure 1``.
        title: what it shows.
        caption: what to see in it, in Markdown; empty where the notebook says it.
        digits: behind the point, of a table with published numbers.
        table: its numbers.
        pictures: of a figure, the contents of its files by their suffix, ``svg``, ``png`` and ``pdf``.
        points: of a figure, the points in it with words for them, see :func:`rankplug.plotting.encode_figure`.
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


@dataclass(frozen=True)
class ClaimEvaluation:
    """A claim with its verdict.

    Args:
        id, text, section, role, source, exhibit: of the claim.
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
        names = ("id", "text", "section", "role", "source", "exhibit", "margin", "reason")
        described: dict[str, Any] = {name: getattr(self, name) for name in names}
        judgement: dict[str, Any] = {**self.judgement.describe()}
        described["verdict"] = self.judgement.verdict
        if isinstance(self.judgement, Verdict):
            part = judgement["parts"][0]
            needs = self.judgement.needs
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
        name: of the group.
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
        study, title, citation, bibtex: of the paper.
        profile: how large the runs were.
        parameters: those of the notebook that differ from their defaults, such as another data set.
        trials: how many there were.
        core_minutes: what they took, by the times on record.
        date: when the last of them started, as ``2026-11-19``.
        groups: of runs, with their data.
        versions: of the packages that the trials ran with.
        code: digest of the code that evaluated them: rankplug, all plugins, and editable packages that these import.
        machine: that evaluated them.
        written: when the artefact was written, as ``2026-11-19 12:00`` (UTC).
        note: what else a reader must know of the runs, such as that they are fewer than the profile's.
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


class _Source(Protocol):
    """Computes or reads the parts of an evaluation."""

    exhibit_names: tuple[str, ...]
    study: str

    def meta(self) -> Meta: ...
    def exhibit(self, name: str) -> ExhibitEvaluation: ...
    def claims(self) -> tuple[ClaimEvaluation, ...]: ...
    def observations(self) -> tuple[ObservationEvaluation, ...]: ...
    def runs(self) -> pd.DataFrame: ...
    def query_pairs(self) -> tuple[QueryPairs, ...]: ...


class Evaluation:
    """Exhibits, verdicts and observations of a study; each part is computed or read when it is first used.

    :func:`evaluate` makes one from results, :meth:`read` from the folder that :meth:`write` wrote.
    """

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._exhibits: dict[str, ExhibitEvaluation] = {}

    @classmethod
    def read(cls, folder: Path | str) -> Evaluation:
        """Read an artefact; nothing of the study's code is needed."""
        return cls(_Stored(Path(folder)))

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Tell whether a folder has an artefact that was written to its end."""
        return (folder / META).is_file()

    @staticmethod
    def withdraw(folder: Path) -> None:
        """Mark an artefact as outdated, before another is written in its place."""
        (folder / META).unlink(missing_ok=True)

    @property
    def study(self) -> str:
        """The name of the study."""
        return self._source.study

    @cached_property
    def meta(self) -> Meta:
        """Profile, versions, code, data, machine and times."""
        return self._source.meta()

    def exhibit(self, name: str) -> ExhibitEvaluation:
        """Return a figure or table by its name."""
        if name not in self._source.exhibit_names:
            raise RankplugError(f"study {self.study} has no {name}: {did_you_mean(name, self._source.exhibit_names)}")
        if name not in self._exhibits:
            self._exhibits[name] = self._source.exhibit(name)
        return self._exhibits[name]

    @property
    def exhibits(self) -> tuple[ExhibitEvaluation, ...]:
        """All figures and tables."""
        return tuple(map(self.exhibit, self._source.exhibit_names))

    @cached_property
    def claims(self) -> tuple[ClaimEvaluation, ...]:
        """All claims with their verdicts."""
        return self._source.claims()

    @cached_property
    def observations(self) -> tuple[ObservationEvaluation, ...]:
        """Observations in the results that no test decides."""
        return self._source.observations()

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Combinations that were run: a row for each group, model and combination; ``used`` for those that represent
        the model.
        """
        return self._source.runs()

    @cached_property
    def query_pairs(self) -> tuple[QueryPairs, ...]:
        """Models of each group, compared query by query."""
        return self._source.query_pairs()

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
        files = {name: content for shown in self.exhibits for name, content in _exhibit_files(shown)}
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
                "name": shown.name, "title": shown.title, "caption": shown.caption, "digits": shown.digits,
                "pictures": list(shown.pictures),
                "columns": {str(name): str(kind) for name, kind in shown.table.dtypes.items()},
            }
            for shown in self.exhibits
        ]  # fmt: skip
        meta = asdict(self.meta) | {"written": time.strftime("%Y-%m-%d %H:%M", time.gmtime())}
        write_whole(folder / META, _json({"format": FORMAT, **meta, "exhibits": exhibits}))
        return folder

    def _runs_with_use(self) -> pd.DataFrame:
        """Return the runs with the exhibits and claims that rest on each."""
        columns: dict[str, list[str]] = {}
        used_by = (("exhibits", self.exhibits), ("claims", self.claims))
        for name, users in used_by:
            behind: dict[tuple[str, str], list[str]] = {}
            for user in users:
                for source in user.sources:
                    behind.setdefault((source.group, source.model), []).append(user.id)
            rows = self.runs[["group", "model"]].itertuples(index=False) if len(self.runs) else ()
            columns[name] = [" ".join(behind.get((group, model), ())) for group, model in rows]
        return self.runs.drop(columns=list(columns), errors="ignore").assign(**columns)


def evaluate(study: Study, results: Results) -> Evaluation:
    """Return a study's exhibits, verdicts and observations on some results, with what is behind each."""
    return Evaluation(_Computed(study, results))


def read_artefacts(report: Path, names: Iterable[str] = ()) -> dict[str, Evaluation]:
    """Read the artefacts in the folder of a report, all or those of some studies.

    Raises:
        RankplugError: a named study has none, or there is none at all.
    """
    wanted = list(names)
    there = sorted(path.parent.name for path in report.glob(f"*/{META}"))
    if absent := [name for name in wanted if name not in there]:
        raise RankplugError(f"{report} has no evaluation of {', '.join(absent)}; run rankplug reproduce {absent[0]}")
    if not there:
        raise RankplugError(
            f"{report} has no evaluation of a study; run rankplug reproduce all, or name the report's folder"
        )
    return {name: Evaluation.read(report / name) for name in wanted or there}


class _Computed:
    """Parts of an evaluation, computed from results."""

    def __init__(self, study: Study, results: Results) -> None:
        self._study, self._results = study, results
        _code()  # Notes the state of the files, so that a later change is seen.
        self.study = study.name
        self.exhibit_names = tuple(exhibit.name for exhibit in study.exhibits)

    def meta(self) -> Meta:
        study, results = self._study, self._results
        records = [record["record"] for record in results.records]
        started = [number_on(record, "started") for record in records]
        versions = {package: version for record in records for package, version in record.get("versions", {}).items()}
        code, note = _code()
        return Meta(
            study.name,
            study.title,
            str(study.citation),
            study.bibtex,
            results.profile,
            dict(results.parameters),
            len(records),
            round(sum(map(core_seconds, records)) / 60, 1),
            time.strftime("%Y-%m-%d", time.gmtime(max(started, default=0.0))),
            tuple(
                Group(name, str(runs.shared.get("dataset", "")), runs.place, results.is_made(name))
                for name, runs in results.runs.items()
            ),
            dict(sorted(versions.items())),
            code,
            {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count() or 1},
            note=note,
        )

    def exhibit(self, name: str) -> ExhibitEvaluation:
        import pandas as pd

        from rankplug.plotting import encode_figure, in_style

        exhibit = self._study.exhibit(name)
        try:
            with in_style():
                (table, figure), sources = self._with_sources(exhibit.draw)
        except NotRunError:
            return self._exhibit(exhibit, pd.DataFrame())
        pictures, points = encode_figure(figure, ("svg", "png", "pdf")) if figure else ({}, [])
        return self._exhibit(exhibit, table, pictures, points, sources)

    @staticmethod
    def _exhibit(exhibit: Exhibit, table: pd.DataFrame, *drawn: Any) -> ExhibitEvaluation:
        facts = (exhibit.name, exhibit.title, exhibit.caption, exhibit.digits)
        return ExhibitEvaluation(*facts, plain_table(table), *drawn)

    def claims(self) -> tuple[ClaimEvaluation, ...]:
        found = []
        for claim in self._study.claims:
            judgement, sources = self._with_sources(claim.judge)
            margin, reason = (str(claim.margin), claim.margin.reason) if claim.margin else ("", "")
            facts = (claim.id, claim.text, claim.section, claim.role, claim.source, claim.exhibit)
            found.append(ClaimEvaluation(*facts, judgement, margin, reason, sources))
        return tuple(found)

    def observations(self) -> tuple[ObservationEvaluation, ...]:
        seen = ((each, each.seen(self._results)) for each in self._study.observations)
        return tuple(ObservationEvaluation(each.id, each.text, words, each.exhibit) for each, words in seen if words)

    def runs(self) -> pd.DataFrame:
        import pandas as pd

        table = self._results.describe()
        return plain_table(table if len(table) else pd.DataFrame(columns=list(RUN_COLUMNS)).astype(RUN_COLUMNS))

    def query_pairs(self) -> tuple[QueryPairs, ...]:
        return tuple(query_pairs(self._results))

    def _with_sources(self, make: Callable[[Results], Read]) -> tuple[Read, tuple[RunSource, ...]]:
        """Return what a function makes of the results, and the runs that it read."""
        with self._results.noting_reads() as cells:
            made = make(self._results)
        return made, sources_of(self._results, cells)


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


def sources_of(results: Results, cells: Iterable[Cell]) -> tuple[RunSource, ...]:
    """Return the combinations of some groups' models that were run, in the order of the groups and models."""
    read = set(cells)
    ordered = [(group, model) for group in results.frames for model in results.models(group) if (group, model) in read]
    sources = (RunSource(group, model, results.identities(group, model)) for group, model in ordered)
    return tuple(source for source in sources if source.identities)


class _Stored:
    """Parts of an evaluation, read from an artefact."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        about, verdicts = self._json(META), self._json(VERDICT_FILE)
        with self._explained():
            if about.pop("format") != FORMAT or verdicts["format"] != FORMAT:
                raise ValueError(f"it has another format than {FORMAT}")
            self._exhibits = {str(each["name"]): each for each in about.pop("exhibits", ())}
            groups = tuple(Group(**group) for group in about.pop("groups"))
            self._meta = Meta(**about, groups=groups)
            if not NAME.fullmatch(self._meta.study):
                raise ValueError(f"{self._meta.study!r} is not a study's name")
            self._claims, self._observations = verdicts["claims"], verdicts["observations"]
        self.study, self.exhibit_names = self._meta.study, tuple(self._exhibits)

    def meta(self) -> Meta:
        return self._meta

    def exhibit(self, name: str) -> ExhibitEvaluation:
        with self._explained():
            about, stem = self._exhibits[name], slug(name)
            suffixes = [suffix for suffix in ("svg", "png", "pdf") if suffix in about["pictures"]]
            pictures = {suffix: (self._folder / EXHIBITS / f"{stem}.{suffix}").read_bytes() for suffix in suffixes}
            points = self._json(f"{EXHIBITS}/{stem}.json") if pictures else []
            table = _read_table((self._folder / EXHIBITS / f"{stem}.csv").read_bytes(), about["columns"])
            facts = (name, str(about["title"]), str(about["caption"]), int(about["digits"]))
            return ExhibitEvaluation(*facts, table, pictures, points, self._sources.get(("exhibits", stem), ()))

    def claims(self) -> tuple[ClaimEvaluation, ...]:
        names = ("id", "text", "section", "role", "source", "exhibit", "margin", "reason")
        with self._explained():
            return tuple(
                ClaimEvaluation(
                    **{name: str(each[name]) for name in names},
                    judgement=read_judgement(each["judgement"]),
                    sources=self._sources.get(("claims", each["id"]), ()),
                )
                for each in self._claims
            )

    def observations(self) -> tuple[ObservationEvaluation, ...]:
        with self._explained():
            return tuple(ObservationEvaluation(**each) for each in self._observations)

    def runs(self) -> pd.DataFrame:
        return self._runs.drop(columns=["exhibits", "claims"], errors="ignore")

    def query_pairs(self) -> tuple[QueryPairs, ...]:
        if not (self._folder / QUERIES).exists():
            return ()
        with self._explained():
            return tuple(QueryPairs.read(each) for each in self._json(QUERIES))

    @cached_property
    def _runs(self) -> pd.DataFrame:
        import pandas as pd

        if not (self._folder / RUNS).exists():
            return pd.DataFrame()
        with self._explained():
            content = (self._folder / RUNS).read_bytes()
            return _read_table(content, RUN_COLUMNS)

    @cached_property
    def _sources(self) -> dict[tuple[str, str], tuple[RunSource, ...]]:
        """The runs behind each exhibit and claim, by its kind and id."""
        behind: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
        for row in self._runs.to_dict("records"):
            for kind in ("exhibits", "claims") if row["used"] else ():
                for name in row[kind].split():
                    models = behind.setdefault((kind, name), {})
                    models.setdefault((row["group"], row["model"]), []).append(row["combination"])
        return {
            user: tuple(RunSource(*cell, tuple(identities)) for cell, identities in models.items())
            for user, models in behind.items()
        }

    def _json(self, name: str) -> Any:
        with self._explained():
            return json.loads((self._folder / name).read_text(encoding="utf-8"))

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise an error that names the folder, where its content cannot be read."""
        try:
            yield
        except RankplugError:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            reason = f"{self._folder} is no evaluation of a study: {type(error).__name__}: {error}"
            raise RankplugError(f"{reason}; write it again with rankplug reproduce") from error


def _exhibit_files(shown: ExhibitEvaluation) -> Iterable[tuple[str, bytes]]:
    yield f"{shown.id}.csv", shown.table.to_csv(index=False).encode()
    for suffix, content in shown.pictures.items():
        yield f"{shown.id}.{suffix}", content
    if shown.pictures:
        yield f"{shown.id}.json", _json(shown.points, indent=None)


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


def _read_table(content: bytes, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Read a table that was written as CSV; columns without a kind are text."""
    import pandas as pd

    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    names, body = (rows[0], rows[1:]) if rows else ([], [])
    if absent := set(kinds) - set(names):
        raise ValueError(f"a table has no column {min(absent)}")
    columns: dict[str, pd.Series[Any]] = {}
    for place, name in enumerate(names):
        kind, values = kinds.get(name, "object"), [row[place] for row in body]
        if kind == "bool":
            columns[name] = pd.Series([value == "True" for value in values], dtype=bool)
        elif kind.startswith(("float", "int", "uint")):
            number = float if kind.startswith("float") else int
            columns[name] = pd.Series([number(value or "nan") for value in values], dtype=kind)
        else:
            columns[name] = pd.Series(values, dtype=object)
    return pd.DataFrame(columns)
