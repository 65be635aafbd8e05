"""Pages of the report, rendered from artefacts, executed notebooks and the records of the runs in the store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.report.combination_records import CombinationRecords, combination_records, values_on_test_data
from rankplug.report.exhibit_tables import exhibit_latex, links_to, numbers_html
from rankplug.report.forest import ForestLine, forest_files, forest_lines
from rankplug.report.front_page import FrontPage
from rankplug.report.notebook_page import captions, notebook_html
from rankplug.report.rendering import anchors, math_font_style, page_of, render, render_macro, template_text
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.scoreboard import board_files, places_of, scoreboard_html
from rankplug.store import Store
from rankplug.studies import (
    Evaluation,
    ExhibitEvaluation,
    QueryPairs,
    RunSource,
    Scoreboard,
    bibliography,
    exhibit_bibtex,
    slug,
    stand_ins,
)
from rankplug.system import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

NOTEBOOK, EXHIBITS = "notebook.ipynb", "exhibits"
SCOREBOARD, SEARCH, QUERIES = "scoreboard.html", "search.html", "queries.html"
STYLE = "report.css"
"""The style of all pages, in one file beside them, as there may be hundreds of them."""
MOST_IN_LATEX = 200
"""Rows of a table that is written in LaTeX too."""
PARTS = 1000
"""Parts of one in which values of queries are drawn."""


@contextlib.contextmanager
def writing(report: Path) -> Iterator[None]:
    """Raise an error that says where and what to do if the system refuses to write, as on a full disk."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        where = f"cannot write the report to {report}: {reason}"
        raise RankplugError(f"{where}; free space, or name another folder with --report") from error


@dataclass(frozen=True)
class StudyReport:
    """A study in the report.

    Args:
        evaluation: its exhibits and verdicts.
        folder: of the report, which has the study's artefact.
        combinations: the combinations behind it, by identity.
    """

    evaluation: Evaluation
    folder: Path
    combinations: Mapping[str, CombinationRecords]

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.evaluation.study

    @cached_property
    def notebook(self) -> Path | None:
        """Its executed notebook, if there is one."""
        path = self.folder / self.name / NOTEBOOK
        return path if path.is_file() else None

    @cached_property
    def claim_anchors(self) -> list[str]:
        """Anchors of its claims on the page of all claims."""
        return anchors(f"{self.name}-{claim.id}" for claim in self.evaluation.claims)

    @cached_property
    def query_anchors(self) -> dict[str, str]:
        """Anchors of its groups of runs on the page that compares models query by query."""
        groups = [pairs.group for pairs in self.evaluation.query_pairs]
        return dict(zip(groups, anchors(f"{self.name}-{group}" for group in groups), strict=True))

    @cached_property
    def forest(self) -> list[ForestLine]:
        """Its judged claims as lines of a forest plot."""
        return forest_lines(zip(self.evaluation.claims, self.claim_anchors, strict=True))

    @cached_property
    def captions(self) -> dict[str, str]:
        """Words on each exhibit, as Markdown by its name: those of the notebook, or the exhibit's own."""
        words = captions(self.notebook) if self.notebook else {}
        return {shown.name: words.get(shown.name) or shown.caption for shown in self.evaluation.exhibits}

    @cached_property
    def stand_ins(self) -> list[tuple[str, str]]:
        """The paper's data sets, each with the data in its place."""
        tables = [shown.table for shown in self.evaluation.exhibits if "published on" in shown.table.columns]
        return list(dict.fromkeys(pair for table in tables for pair in stand_ins(table)))

    def anchor(self, exhibit: str) -> str:
        """Return the anchor of an exhibit on the page of all exhibits."""
        return f"{self.name}-{slug(exhibit)}"

    def files_of(self, shown: ExhibitEvaluation) -> dict[str, str]:
        """Return the files of an exhibit in the report by their suffixes."""
        suffixes = ["csv", *(["tex"] if len(shown.table) <= MOST_IN_LATEX else []), *shown.pictures]
        return {suffix: f"{self.name}/{EXHIBITS}/{shown.id}.{suffix}" for suffix in suffixes}

    def write_latex(self) -> None:
        """Write the tables of the exhibits in LaTeX beside their other files."""
        for shown in self.evaluation.exhibits:
            if file := self.files_of(shown).get("tex"):
                (self.folder / file).write_text(exhibit_latex(shown.table), encoding="utf-8")

    def picture(self, shown: ExhibitEvaluation) -> str:
        """Return the file of an exhibit's picture; empty where it has none."""
        return self.files_of(shown).get("svg", "")

    def extent_of(self, shown: ExhibitEvaluation) -> str:
        """Return how many runs an exhibit rests on, in words; empty where it rests on none of the store's."""
        of_model = [
            [record for identity in source.identities for record in self.combinations[identity].records]
            for source in shown.sources
            if source.identities and all(identity in self.combinations for identity in source.identities)
        ]
        if not of_model:
            return ""
        trials = sorted({len(records) for records in of_model})
        facts = [record["record"] for records in of_model for record in records]
        queries = sorted({fact["queries"][2] for fact in facts if "queries" in fact})
        models = f"{len(of_model)} model{'s' * (len(of_model) > 1)} on their data, {_range(trials)} trials each"
        tested = f", {_range(queries)} test queries a trial" if queries else ""
        return f"{models}{tested}; intervals and bands, where there are any, are 95 % ones"

    def citation_of(self, shown: ExhibitEvaluation) -> str:
        """Return how others cite an exhibit of this report: in words, and it, its paper and rankplug in BibTeX."""
        meta = self.evaluation.meta
        what = f"{shown.name}: {shown.title}"
        runs = f"profile {meta.profile}, {meta.trials} trials, {meta.date}"
        words = f"{what}. Report of rankplug {__version__}, {runs}.\nAfter: {meta.title}. {meta.citation}."
        entry = exhibit_bibtex(f"rankplug-{self.anchor(shown.name)}", what, f"{self.name}, {runs}", meta.date[:4])
        return "\n\n".join(filter(None, [words, entry, meta.bibtex, bibliography([])]))

    def numbers(self, shown: ExhibitEvaluation) -> Markup:
        """Return an exhibit's numbers as HTML, which lead to the pages of their combinations."""
        return numbers_html(shown, links_to({name: len(known.records) for name, known in self.combinations.items()}))

    def runs_behind(self, sources: Collection[RunSource]) -> dict[str, list[tuple[str, list[str]]]]:
        """Return the models behind an exhibit or a verdict by their group, with the combinations that have a page."""
        groups: dict[str, list[tuple[str, list[str]]]] = {}
        for source in sources:
            identities = [identity for identity in source.identities if identity in self.combinations]
            groups.setdefault(source.group, []).append((source.model, identities))
        return groups

    @staticmethod
    def combinations_behind(sources: Collection[RunSource]) -> set[str]:
        """Return all combinations behind an exhibit or a verdict."""
        return {identity for source in sources for identity in source.identities}


def study_report(
    evaluation: Evaluation, folder: Path, records: Iterable[Mapping[str, Any]], store: Store
) -> StudyReport:
    """Return a study's part of the report.

    Args:
        evaluation: its artefact.
        folder: of the report.
        records: of its trials.
        store: where executed notebooks of combinations may lie.
    """
    return StudyReport(evaluation, folder, combination_records(records, store))


def build_report(
    reports: Sequence[StudyReport], folder: Path, compared: Scoreboard | None = None, store: Store | None = None
) -> Path:
    """Write all pages of the report, and return the path of the first.

    Args:
        reports: the studies.
        folder: of the report.
        compared: the scoreboard, if it is to have a page.
        store: where the runs lie.
    """
    _begin(folder)
    has_pairs = any(report.evaluation.query_pairs for report in reports)
    navigation = [("report", "index.html"), *((report.name, f"{report.name}.html") for report in reports)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]
    navigation += [("queries", QUERIES)] if has_pairs else []
    navigation += [("scoreboard", SCOREBOARD)] if compared else []
    navigation += [("search", SEARCH)]
    script = template_text("report.js")

    def write(link: str, title: str, template: str, further: str = "", data: Any = None, **values: Any) -> None:
        body = render(template, reports=reports, **values)
        page = _page(title, body, navigation, link, script=script + further, data=data)
        (folder / link).write_text(page, encoding="utf-8")

    every = {identity: known for report in reports for identity, known in report.combinations.items()}
    picture = forest_files([report.evaluation for report in reports], folder)
    front = FrontPage(reports)
    write("index.html", "Report", "front", front=front, picture=picture, versions=_versions(every.values()))
    for report in reports:
        report.write_latex()
        notebook = notebook_html(report.notebook, _outputs_of(report)) if report.notebook else None
        data = {"points": _points([report])}
        write(f"{report.name}.html", report.evaluation.meta.title, "study", data=data, report=report, notebook=notebook)
    write("claims.html", "Claims", "claims")
    write("exhibits.html", "Figures and tables", "exhibits", data={"points": _points(reports)})
    write("runs.html", "Runs", "runs")
    if has_pairs:
        groups = [_drawn_pairs(report, pairs, every) for report in reports for pairs in report.evaluation.query_pairs]
        drawing = template_text("queries.js")
        write(QUERIES, "Query by query", "queries", drawing, data={"groups": groups}, known=every, duels=duels)
    write(SEARCH, "Search", "search", data={"index": _search_index(reports, every)})
    _write_combinations(every, _users(reports), navigation, folder, [one.name for one in reports], compared, store)
    if compared is not None:
        write_scoreboard(compared, Store.named(store), folder, navigation, every)
    return folder / "index.html"


def _outputs_of(report: StudyReport) -> Callable[[Mapping[str, Any]], tuple[str, Markup]]:
    """Return what says of an output of the study's notebook which file has its picture, and what stands below it."""
    exhibits = {shown.name: shown for shown in report.evaluation.exhibits}

    def about(shows: Mapping[str, Any]) -> tuple[str, Markup]:
        shown = exhibits.get(str(shows.get("exhibit"))) if shows.get("study") == report.name else None
        of_claims = shows.get("study") == report.name and bool(shows.get("claims"))
        note = render_macro("output_note", report=report, shown=shown, claims=of_claims)
        return (report.picture(shown) if shown else ""), note

    return about


def _points(reports: Iterable[StudyReport]) -> dict[str, Sequence[Any]]:
    """Return the points of all pictures by their files."""
    drawn = ((report.picture(shown), shown.points) for report in reports for shown in report.evaluation.exhibits)
    return {file: points for file, points in drawn if points}


def _search_index(
    reports: Iterable[StudyReport], combinations: Mapping[str, CombinationRecords]
) -> list[tuple[str, str, str, str]]:
    """Return what the search page looks up: kind, title, detail and address."""
    entries = [entry for report in reports for entry in _search_entries(report)]
    entries += [
        ("combination", known.title, f"{identity}, {len(known.records)} trials", page_of(identity))
        for identity, known in combinations.items()
    ]
    return entries


def _search_entries(report: StudyReport) -> Iterator[tuple[str, str, str, str]]:
    meta = report.evaluation.meta
    yield "paper", meta.title, meta.citation, f"{report.name}.html"
    for claim, anchor in zip(report.evaluation.claims, report.claim_anchors, strict=True):
        verdict = f"{report.name}, {claim.judgement.verdict}"
        yield "claim", claim.words, f"{verdict}, {claim.effect}" if claim.effect else verdict, f"claims.html#{anchor}"
    for shown in report.evaluation.exhibits:
        kind = "figure" if shown.pictures else "table"
        yield kind, f"{shown.name}: {shown.title}", report.name, f"exhibits.html#{report.anchor(shown.name)}"


@dataclass(frozen=True)
class Duel:
    """A model against the best of its group, in shares of the queries.

    Args:
        model: its name.
        page: of its combination; empty where there is none.
        mean: of the metric over all queries.
        wins, ties, losses: share on which it is better than, equal to and worse than the best.
    """

    model: str
    page: str
    mean: float
    wins: float
    ties: float
    losses: float


def duels(pairs: QueryPairs, known: Collection[str]) -> list[Duel]:
    """Return every model of a group against the one with the highest mean.

    Args:
        pairs: the group's models query by query.
        known: combinations that have a page.
    """
    compared = []
    for place, (model, identity) in enumerate(zip(pairs.models, pairs.identities, strict=True)):
        wins, losses = pairs.better[place][0], pairs.better[0][place]
        shares = (count / pairs.queries for count in (wins, pairs.queries - wins - losses, losses))
        compared.append(Duel(model, _known_page(identity, known), pairs.means[place], *shares))
    return compared


def _drawn_pairs(report: StudyReport, pairs: QueryPairs, known: Collection[str]) -> dict[str, Any]:
    """Return what the script of the page of queries draws of a group."""
    trials, folds = ({place[part] for place in pairs.drawn} for part in (0, 1))
    names = [
        ", ".join([f"trial {trial}"] * (len(trials) > 1) + [f"fold {fold}"] * (len(folds) > 1) + [f"query {query}"])
        for trial, fold, query in pairs.drawn
    ]
    return {
        "id": report.query_anchors[pairs.group],
        "title": f"{report.name}: {pairs.group}",
        "metric": pairs.metric,
        "queries": pairs.queries,
        "models": pairs.models,
        "pages": [_known_page(identity, known) for identity in pairs.identities],
        "means": [round(mean, 4) for mean in pairs.means],
        "better": pairs.better,
        "drawn": names,
        "parts": PARTS,
        "values": [[round(PARTS * value) for value in row] for row in pairs.values],
    }


def _known_page(identity: str, known: Collection[str]) -> str:
    return page_of(identity) if identity in known else ""


def _begin(folder: Path) -> None:
    """Make the folder of a report with the style of its pages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STYLE).write_text(template_text("style.css") + template_text("forest.css"), encoding="utf-8")


def write_scoreboard(
    compared: Scoreboard,
    store: Store,
    folder: Path,
    navigation: list[tuple[str, str]] | None = None,
    known: Collection[str] = (),
) -> Path:
    """Write the scoreboard with the pages of the combinations behind it, and return its path.

    Args:
        compared: the scoreboard.
        store: where its runs lie.
        folder: of the report.
        navigation: names and addresses of the report's pages.
        known: combinations whose pages are there.
    """
    with writing(folder):
        _begin(folder)
    links = navigation or [("scoreboard", SCOREBOARD)]
    papers = [name for name, link in links if link == f"{name}.html"]
    body = scoreboard_html(compared, board_files(compared, folder), papers)
    script = template_text("report.js") + template_text("scoreboard.js")
    page = _page("Scoreboard", body, links, SCOREBOARD, script=script, dated=False)
    (folder / SCOREBOARD).write_text(page, encoding="utf-8")
    users = {
        identity: dict.fromkeys(
            (method.study, str(method)) for method in (place.standing.entry.method for place in places)
        )
        for identity, places in places_of(compared).items()
    }
    entries = (entry for board in compared.boards for entry in board.entries)
    records = [record for entry in entries for record in entry.records if record["identity"] not in known]
    _write_combinations(combination_records(records, store), users, links, folder, papers, compared, store)
    return folder / SCOREBOARD


def _write_combinations(
    combinations: Mapping[str, CombinationRecords],
    users: Mapping[str, Iterable[tuple[str, str]]],
    navigation: list[tuple[str, str]],
    folder: Path,
    papers: Collection[str],
    compared: Scoreboard | None,
    store: Store | None,
) -> None:
    (folder / "combinations").mkdir(exist_ok=True)
    places = places_of(compared) if compared else {}
    values = values_on_test_data(combinations.values(), store) if store else {}
    for identity, combination in combinations.items():
        body = render(
            "combination",
            made=combination,
            notebook=notebook_html(combination.notebook) if combination.notebook else None,
            users=list(users.get(identity, ())),
            papers=papers,
            versions=_versions([combination]),
            places=places.get(identity, []),
            values=values.get(identity, []),
        )
        page = _page(combination.title, body, navigation, page_of(identity))
        (folder / page_of(identity)).write_text(page, encoding="utf-8")


def _users(reports: Iterable[StudyReport]) -> dict[str, dict[tuple[str, str], None]]:
    """Map each combination to the studies and models that use it."""
    users: dict[str, dict[tuple[str, str], None]] = {}
    for report in reports:
        for row in report.evaluation.runs.to_dict("records"):
            users.setdefault(row["combination"], {})[report.name, row["model"]] = None
    return users


def _page(
    title: str,
    body: Markup,
    navigation: list[tuple[str, str]],
    here: str,
    script: str = "",
    dated: bool = True,
    data: Mapping[str, Any] | None = None,
) -> str:
    from markupsafe import Markup

    safe = safe_body(body)
    font = math_font_style(safe)
    return render(
        "page",
        title=title,
        policy=policy(font, script),
        style=STYLE,
        font=Markup(font),
        body=safe,
        navigation=navigation,
        here=here,
        root="../" * here.count("/"),
        script=Markup(script),
        data=data or {},
        made=time.strftime("%Y-%m-%d %H:%M") if dated else "",
        version=__version__,
    )


def _versions(combinations: Iterable[CombinationRecords]) -> list[tuple[str, str]]:
    """Return the packages that the trials of some combinations ran with, as rows of a table."""
    versions: dict[str, set[str]] = {}
    for combination in combinations:
        for package, known in combination.versions.items():
            versions.setdefault(package, set()).update(known)
    return [(package, ", ".join(sorted(versions[package]))) for package in sorted(versions)]


def _range(numbers: Sequence[int]) -> str:
    """Return the least and the greatest of some numbers in order, as one number where they are the same."""
    return f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"
