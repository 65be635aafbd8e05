"""Pages of the report, rendered from artefacts, executed notebooks and the records of the runs in the store."""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.report.combination_records import (
    CombinationRecords,
    combination_records,
    package_versions,
    values_on_test_data,
)
from rankplug.report.exhibit_tables import LONGEST, exhibit_latex, numbers_html
from rankplug.report.forest import ForestLine, forest_files, forest_lines
from rankplug.report.front_page import FrontPage
from rankplug.report.notebook_page import captions, notebook_html
from rankplug.report.rendering import (
    anchors,
    math_characters,
    math_font,
    page_of,
    render,
    render_macro,
    template_text,
)
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.scoreboard import MOST_DRAWN, MOST_OPEN, board_anchors, board_files, places_of
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
FONT = '@font-face {{ font-family: "Page Mathematics"; src: url(data:font/woff;base64,{}) format("woff"); }}\n'
PARTS = 1000
"""Parts of one in which values of queries are drawn."""


@contextlib.contextmanager
def writing(report: Path) -> Iterator[None]:
    """Raise an error with the folder and what to do if the system refuses to write, as on a full disk."""
    try:
        yield
    except OSError as error:
        where = f"cannot write the report to {report}: {error.strerror or error}"
        raise RankplugError(f"{where}; free space, or name another folder with --report") from error


@dataclass(frozen=True)
class StudyReport:
    """A study in the report.

    Args:
        evaluation: its exhibits and verdicts.
        folder: folder of the report, which has the study's artefact.
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
        """Caption of each exhibit in Markdown, by its name: the notebook's, or the exhibit's own."""
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
        suffixes = ["csv", *(["tex"] if len(shown.table) <= LONGEST else []), *shown.pictures]
        return {suffix: f"{self.name}/{EXHIBITS}/{shown.id}.{suffix}" for suffix in suffixes}

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
        trials = _range(len(records) for records in of_model)
        facts = [record["record"] for records in of_model for record in records]
        queries = _range(fact["queries"][2] for fact in facts if "queries" in fact)
        models = f"{len(of_model)} model{'s' * (len(of_model) > 1)} on their data, {trials} trials each"
        tested = f", {queries} test queries a trial" if queries else ""
        return f"{models}{tested}; intervals and bands, where there are any, are 95 % ones"

    def citation_of(self, shown: ExhibitEvaluation) -> str:
        """Return how others cite an exhibit of this report: in words, and it, its paper and rankplug in BibTeX."""
        meta = self.evaluation.meta
        title = f"{shown.name}: {shown.title}"
        runs = f"profile {meta.profile}, {meta.trials} trials, {meta.date}"
        words = f"{title}. Report of rankplug {__version__}, {runs}.\nAfter: {meta.title}. {meta.citation}."
        entry = exhibit_bibtex(f"rankplug-{self.anchor(shown.name)}", title, f"{self.name}, {runs}", meta.date[:4])
        return "\n\n".join(filter(None, [words, entry, meta.bibtex, bibliography([])]))

    def numbers(self, shown: ExhibitEvaluation) -> Markup:
        """Return an exhibit's numbers as HTML, which lead to the pages of their combinations."""
        return numbers_html(shown, {identity: len(known.records) for identity, known in self.combinations.items()})

    def runs_behind(self, sources: Collection[RunSource]) -> dict[str, list[tuple[str, list[str]]]]:
        """Return the models behind an exhibit or a verdict by their group, with the combinations that have a page."""
        groups: dict[str, list[tuple[str, list[str]]]] = {}
        for source in sources:
            identities = [identity for identity in source.identities if identity in self.combinations]
            groups.setdefault(source.group, []).append((source.model, identities))
        return groups

    def describe_output(self, shows: Mapping[str, Any]) -> tuple[str | None, Markup]:
        """Return the picture of an output of the study's notebook, None for one in its place, and the note below it.

        Args:
            shows: what the output shows, as its metadata have it.
        """
        is_own = shows.get("study") == self.name
        exhibits = {shown.name: shown for shown in self.evaluation.exhibits} if is_own else {}
        shown = exhibits.get(str(shows.get("exhibit")))
        parts = {name: is_own and bool(shows.get(name)) for name in ("claims", "forest")}
        note = render_macro("output_note", report=self, shown=shown, **parts)
        return None if parts["forest"] else self.picture(shown) if shown else "", note


def _range(numbers: Iterable[int]) -> str:
    """Return the least and the greatest of some numbers, as one number where they are the same; empty without any."""
    ends = list(numbers)
    if not ends:
        return ""
    return f"{min(ends):,}" if min(ends) == max(ends) else f"{min(ends):,} to {max(ends):,}"


@dataclass(frozen=True)
class Site:
    """A report that is written.

    Args:
        folder: folder of the report.
        navigation: names and addresses of its pages.
        papers: studies that have a page.
        compared: the scoreboard, if it has a page.
        store: where the runs lie; without it, no values on test data are shown.
    """

    folder: Path
    navigation: Sequence[tuple[str, str]]
    papers: Collection[str]
    compared: Scoreboard | None
    store: Store | None

    def write(
        self,
        link: str,
        title: str,
        template: str,
        scripts: Sequence[str] = ("report.js",),
        data: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> None:
        """Write a page from a template.

        Args:
            link: address in the report.
            title: title of the window.
            template: name of the template.
            scripts: files of the page's script.
            data: values that the script reads, by name.
            values: values for the template.
        """
        from markupsafe import Markup

        script = "".join(map(template_text, scripts))
        page = render(
            "page",
            title=title,
            policy=policy(script),
            style=STYLE,
            body=safe_body(render(template, papers=self.papers, **values)),
            navigation=self.navigation,
            here=link,
            root="../" * link.count("/"),
            script=Markup(script),
            data=data or {},
            made=time.strftime("%Y-%m-%d %H:%M") if link != SCOREBOARD else "",
            version=__version__,
        )
        path = self.folder / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")

    def write_combinations(
        self, combinations: Mapping[str, CombinationRecords], users: Mapping[str, Iterable[tuple[str, str]]]
    ) -> None:
        """Write a page for each combination.

        Args:
            combinations: the combinations by identity.
            users: studies and models that use each.
        """
        places = places_of(self.compared) if self.compared else {}
        values = values_on_test_data(combinations, self.store) if self.store else {}
        for identity, combination in combinations.items():
            self.write(
                page_of(identity),
                combination.title,
                "combination",
                scripts=(),
                made=combination,
                notebook=notebook_html(combination.notebook) if combination.notebook else None,
                users=list(users.get(identity, ())),
                versions=package_versions([combination]),
                places=places.get(identity, []),
                values=values.get(identity, []),
            )

    def write_scoreboard(self, shown: Scoreboard, known: Collection[str] = ()) -> None:
        """Write the scoreboard with the pages of those combinations behind it that are not known."""
        values: dict[str, Any] = {"boards": board_anchors(shown), "files": board_files(shown, self.folder)}
        limits: dict[str, Any] = {"most_drawn": MOST_DRAWN, "most_open": MOST_OPEN}
        self.write(
            SCOREBOARD, "Scoreboard", "scoreboard", ("report.js", "scoreboard.js"), shown=shown, **values, **limits
        )
        users = {
            identity: dict.fromkeys(
                (method.study, str(method)) for method in (place.standing.entry.method for place in places)
            )
            for identity, places in places_of(shown).items()
        }
        entries = (entry for board in shown.boards for entry in board.entries)
        records = [record for entry in entries for record in entry.records if record["identity"] not in known]
        self.write_combinations(combination_records(records, Store.named(self.store)), users)

    def write_style(self) -> None:
        """Write the style, with a font of the characters that the formulas of all pages use."""
        text = template_text("style.css") + template_text("forest.css")
        pages = "".join(page.read_text(encoding="utf-8") for page in self.folder.rglob("*.html"))
        if math_characters(pages):
            text += FONT.format(base64.b64encode(math_font(pages)).decode())
        (self.folder / STYLE).write_text(text, encoding="utf-8")


def build_report(
    reports: Sequence[StudyReport],
    folder: Path,
    compared: Scoreboard | None = None,
    store: Store | None = None,
    changed: str = "",
) -> Path:
    """Write all pages of the report, and return the path of the first.

    Args:
        reports: the studies.
        folder: folder of the report.
        compared: the scoreboard, if it is to have a page.
        store: where the runs lie.
        changed: the study that is new in a report that grows: pages of other combinations, of which there may be
            hundreds, and files for print are not written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(report, pairs) for report in reports for pairs in report.evaluation.query_pairs]
    navigation = [("report", "index.html"), *((report.name, f"{report.name}.html") for report in reports)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]
    navigation += [("queries", QUERIES)] if pairs else []
    navigation += [("scoreboard", SCOREBOARD)] if compared else []
    site = Site(folder, [*navigation, ("search", SEARCH)], [report.name for report in reports], compared, store)
    combinations = {identity: known for report in reports for identity, known in report.combinations.items()}
    versions = package_versions(combinations.values())
    site.write("index.html", "Report", "front", front=FrontPage(reports), versions=versions)
    data: dict[str, Any]
    for report in reports:
        for shown in report.evaluation.exhibits:
            if file := report.files_of(shown).get("tex"):
                (folder / file).write_text(exhibit_latex(shown.table), encoding="utf-8")
        notebook = notebook_html(report.notebook, report.describe_output) if report.notebook else None
        title, data = report.evaluation.meta.title, {"points": _points([report])}
        site.write(f"{report.name}.html", title, "study", data=data, report=report, notebook=notebook)
    # Drawing it takes longer than all pages.
    picture = {} if changed else forest_files([report.evaluation for report in reports], folder)
    site.write("claims.html", "Claims", "claims", reports=reports, picture=picture)
    site.write("exhibits.html", "Figures and tables", "exhibits", data={"points": _points(reports)}, reports=reports)
    site.write("runs.html", "Runs", "runs", reports=reports)
    if pairs:
        groups = [_drawn_pairs(*pair, combinations) for pair in pairs]
        scripts, data = ("report.js", "queries.js"), {"groups": groups}
        values: dict[str, Any] = {"reports": reports, "known": combinations, "duels": duels}
        site.write(QUERIES, "Query by query", "queries", scripts, data, **values)
    site.write(SEARCH, "Search", "search", data={"index": list(_search_entries(reports, combinations))})
    users: dict[str, dict[tuple[str, str], None]] = {}
    for report in reports:
        for row in report.evaluation.runs.to_dict("records"):
            users.setdefault(row["combination"], {})[report.name, row["model"]] = None
    of_changed = [report.combinations for report in reports if report.name == changed]
    site.write_combinations(of_changed[0] if of_changed else combinations, users)
    if compared is not None:
        site.write_scoreboard(compared, combinations)
    site.write_style()
    return folder / "index.html"


def write_scoreboard(compared: Scoreboard, store: Store, folder: Path) -> Path:
    """Write the scoreboard with the pages of the combinations behind it, and return its path.

    Args:
        compared: the scoreboard.
        store: where its runs lie.
        folder: folder of the report.
    """
    site = Site(folder, [("scoreboard", SCOREBOARD)], (), compared, store)
    with writing(folder):
        site.write_scoreboard(compared)
        site.write_style()
    return folder / SCOREBOARD


def _points(reports: Iterable[StudyReport]) -> dict[str, Sequence[Any]]:
    """Return the points of all pictures by their files."""
    drawn = ((report.picture(shown), shown.points) for report in reports for shown in report.evaluation.exhibits)
    return {file: points for file, points in drawn if points}


def _search_entries(
    reports: Iterable[StudyReport], combinations: Mapping[str, CombinationRecords]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield what the search page looks up: kind, title, detail and address."""
    for report in reports:
        meta = report.evaluation.meta
        yield "paper", meta.title, meta.citation, f"{report.name}.html"
        for claim, anchor in zip(report.evaluation.claims, report.claim_anchors, strict=True):
            detail = ", ".join(filter(None, [report.name, claim.judgement.verdict, claim.effect]))
            yield "claim", claim.words, detail, f"claims.html#{anchor}"
        for shown in report.evaluation.exhibits:
            kind = "figure" if shown.pictures else "table"
            yield kind, f"{shown.name}: {shown.title}", report.name, f"exhibits.html#{report.anchor(shown.name)}"
    for identity, combination in combinations.items():
        yield "combination", combination.title, f"{identity}, {len(combination.records)} trials", page_of(identity)


def duels(pairs: QueryPairs, known: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield every model of a group against the one with the highest mean, in shares of the queries.

    Args:
        pairs: the group's models query by query.
        known: combinations that have a page.
    """
    for place, (model, identity) in enumerate(zip(pairs.models, pairs.identities, strict=True)):
        wins, losses = pairs.better[place][0] / pairs.queries, pairs.better[0][place] / pairs.queries
        page = page_of(identity) if identity in known else ""
        duel = {"model": model, "page": page, "mean": pairs.means[place], "wins": wins, "losses": losses}
        yield duel | {"ties": 1 - wins - losses}


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
        "pages": [page_of(identity) if identity in known else "" for identity in pairs.identities],
        "means": [round(mean, 4) for mean in pairs.means],
        "better": pairs.better,
        "drawn": names,
        "parts": PARTS,
        "values": [[round(PARTS * value) for value in row] for row in pairs.values],
    }
