"""The report's site: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import contextlib
import functools
import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.report.combination_records import CombinationRecords, combination_records, values_on_test_data
from rankplug.report.exhibit_tables import exhibit_markdown
from rankplug.report.forest import forest_files
from rankplug.report.front.front_page import FrontPage
from rankplug.report.notebook_page import notebook_html
from rankplug.report.queries.page import QUERIES, drawn_pairs, queries_html
from rankplug.report.rendering import COMPACT, math_font_style, page_of, render, template_text
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.scoreboard.page import board_files, places_of, scoreboard_html
from rankplug.report.study_report import StudyReport
from rankplug.store import Store, markdown_table
from rankplug.studies import Scoreboard, Verdict
from rankplug.system import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

SCOREBOARD, SEARCH = "scoreboard.html", "search.html"
STYLE = "report.css"
"""The style of all pages, in one file beside them, as there may be hundreds of them."""


@contextlib.contextmanager
def writing(report: Path) -> Iterator[None]:
    """Raise an error that says where and what to do if the system refuses to write, as on a full disk."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        where = f"cannot write the report to {report}: {reason}"
        raise RankplugError(f"{where}; free space, or name another folder with --report") from error


def build_report(
    reproduced: Mapping[str, StudyReport], folder: Path, compared: Scoreboard | None = None, store: Store | None = None
) -> Path:
    """Write all pages of the report, and return the path of the first.

    Args:
        reproduced: the studies.
        folder: of the report.
        compared: the scoreboard, if it is to have a page.
        store: where the runs lie.
    """
    _begin(folder)
    names = list(reproduced)
    navigation = [("report", "index.html"), *((name, f"{name}.html") for name in names)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]
    has_pairs = any(one.evaluation.query_pairs for one in reproduced.values())
    navigation += [("queries", QUERIES)] if has_pairs else []
    navigation += [("scoreboard", SCOREBOARD)] if compared else []
    navigation += [("search", SEARCH)]
    script = template_text("report.js")

    def write(link: str, title: str, body: Markup, further: str = "", **data: Any) -> None:
        text = _page(title, body, navigation, link, script=script + further, data=data)
        (folder / link).write_text(text, encoding="utf-8")

    reports = list(reproduced.values())
    every = {key: made for report in reports for key, made in report.combinations.items()}
    known = {*every, *(identity for board in (compared.boards if compared else ()) for identity in board.identities)}
    front = FrontPage(reports, compared, known)
    picture = forest_files((report.evidence for report in reports), folder)
    write("index.html", "Report", render("front", front=front, picture=picture, versions=_versions(reports)))
    for name, report in reproduced.items():
        notebook = notebook_html(report.notebook, functools.partial(_in_notebook, report)) if report.notebook else None
        body = render("paper", report=report, notebook=notebook)
        write(f"{name}.html", report.study.title, body, points=_points([report]))
    write("claims.html", "Claims", render("claims", reports=reports))
    write("exhibits.html", "Figures and tables", render("exhibits", reports=reports), points=_points(reports))
    write("runs.html", "Runs", render("runs", reports=reports))
    if has_pairs:
        groups = drawn_pairs(reports, every)
        write(QUERIES, "Query by query", queries_html(reports, every), template_text("queries.js"), groups=groups)
    write(SEARCH, "Search", render("search"), index=_search_index(reports, every))
    _write_combinations(every, _users(reproduced), navigation, folder, names, compared, store)
    if compared is not None:
        write_scoreboard(compared, Store.named(store), folder, navigation, every)
    return folder / "index.html"


def _points(reports: Iterable[StudyReport]) -> dict[str, list[list[Any]]]:
    """Return the points of all pictures by their files."""
    drawn = {report.picture(shown): report.points(shown) for report in reports for shown in report.evaluation.exhibits}
    return {file: points for file, points in drawn.items() if points}


def _search_index(
    reports: Iterable[StudyReport], combinations: Mapping[str, CombinationRecords]
) -> list[tuple[str, str, str, str]]:
    """Return what the page of the search looks up: kind, title, detail and address of all that is to be found."""
    entries = [entry for report in reports for entry in _search_entries(report)]
    entries += [
        ("combination", made.title, f"{identity}, {len(made.records)} trials", page_of(identity))
        for identity, made in combinations.items()
    ]
    return entries


def _search_entries(report: StudyReport) -> Iterator[tuple[str, str, str, str]]:
    name = report.study.name
    yield "paper", report.study.title, str(report.study.citation), f"{name}.html"
    for claim, anchor in zip(report.evidence.claims, report.claim_anchors, strict=True):
        verdict = f"{name}, {claim.judgement.verdict}"
        yield "claim", claim.words, f"{verdict}, {claim.effect}" if claim.effect else verdict, f"claims.html#{anchor}"
    for shown in report.evaluation.exhibits:
        exhibit, kind = shown.exhibit, "figure" if shown.pictures else "table"
        yield kind, f"{exhibit.name}: {exhibit.title}", name, f"exhibits.html#{report.anchor(exhibit.name)}"


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
    records = [record for board in compared.boards for record in board.records if record["identity"] not in known]
    _write_combinations(combination_records(records, store), users, links, folder, papers, compared, store)
    return folder / SCOREBOARD


def _write_combinations(
    made: Mapping[str, CombinationRecords],
    users: Mapping[str, Iterable[tuple[str, str]]],
    navigation: list[tuple[str, str]],
    folder: Path,
    papers: Collection[str],
    compared: Scoreboard | None,
    store: Store | None,
) -> None:
    (folder / "combinations").mkdir(exist_ok=True)
    places = places_of(compared) if compared else {}
    values = values_on_test_data(made.values(), store) if store else {}
    for identity, combination in made.items():
        notebook = notebook_html(combination.notebook) if combination.notebook else None
        about = {
            "users": list(users.get(identity, ())),
            "papers": papers,
            "versions": _version_rows(combination.versions),
            "places": places.get(identity, []),
            "values": values.get(identity, []),
        }
        body = render("combination", made=combination, notebook=notebook, **about)
        (folder / page_of(identity)).write_text(
            _page(combination.title, body, navigation, page_of(identity)), encoding="utf-8"
        )


def _users(reproduced: Mapping[str, StudyReport]) -> dict[str, dict[tuple[str, str], None]]:
    """Map each combination to the studies and models that use it."""
    users: dict[str, dict[tuple[str, str], None]] = {}
    for name, report in reproduced.items():
        for runs in report.results.runs.values():
            for model in runs.models:
                for combination in dict.fromkeys(trial.combination for trial in runs.trials_of(model)):
                    users.setdefault(combination.identity, {})[name, model] = None
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


def _versions(reports: Iterable[StudyReport]) -> list[tuple[str, str]]:
    """Return the packages that the runs of all studies ran with, as rows of a table."""
    versions: dict[str, set[str]] = {}
    for report in reports:
        for record in report.results.records:
            for package, version in record["record"].get("versions", {}).items():
                versions.setdefault(package, set()).add(version)
    return _version_rows(versions)


def _version_rows(versions: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    return [(package, ", ".join(sorted(versions[package]))) for package in sorted(versions)]


def _in_notebook(report: StudyReport, about: Mapping[str, Any]) -> Markup | None:
    """Render what an output of the study's notebook shows, with links to its files and runs."""
    if about.get("study") != report.study.name:
        return None
    if about.get("forest"):
        return render("all_claims", report=report)
    if about.get("claims"):
        return render("in_notebook", report=report, shown=None)
    exhibits = {shown.exhibit.name: shown for shown in report.evaluation.exhibits}
    shown = exhibits.get(str(about.get("exhibit")))
    return None if shown is None else render("in_notebook", report=report, shown=shown)


def write_summary(reproduced: Mapping[str, StudyReport], folder: Path) -> None:
    """Write the verdicts as JSON for other programs and as evidence to keep, and numbers and verdicts as Markdown."""
    summary = {name: list(described_claims(report)) for name, report in reproduced.items()}
    (folder / "claims.json").write_text(json.dumps(summary, separators=COMPACT))
    for name, report in reproduced.items():
        report.evidence.write(folder / "evidence" / f"{name}-{report.results.profile}.json")
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")


def described_claims(report: StudyReport) -> Iterator[dict[str, Any]]:
    """Yield each claim as plain values, with its verdict."""
    for shown in report.evaluation.claims:
        claim, verdict = shown.claim, shown.verdict
        about = {"id": claim.id, "claim": claim.label, "exhibit": claim.exhibit, "verdict": verdict.verdict}
        details = verdict.describe() if isinstance(verdict, Verdict) else {}
        yield {**about, "evidence": verdict.sentence, **details}


def markdown_summary(reproduced: Mapping[str, StudyReport]) -> str:
    """Return the reproduced studies as Markdown, with a section for each."""
    return "\n".join(line for name, report in reproduced.items() for line in _markdown_section(name, report))


def _markdown_section(name: str, report: StudyReport) -> Iterator[str]:
    versions = {"rankplug": __version__, **dict(_versions([report]))}
    made_with = ", ".join(f"{package} {version}" for package, version in sorted(versions.items()))
    yield f"## {name}: {report.study.title}\n"
    yield (
        f"Profile `{report.results.profile}` of {time.strftime('%Y-%m-%d')}, {len(report.results.records)} trials;"
        f" {made_with}.\n"
    )
    tables = [drawn for drawn in report.evaluation.exhibits if "published on" in drawn.table.columns]
    for theirs, ours in report.stand_ins:
        yield f"In the place of {theirs}: {ours}.\n"
    for drawn in tables:
        yield f"### {drawn.exhibit.name}: {drawn.exhibit.title}\n"
        yield exhibit_markdown(drawn.table)
        yield ""
    yield "### Claims\n"
    rows = [
        (each.claim.label, f"**{each.verdict.verdict}**", each.verdict.sentence) for each in report.evaluation.claims
    ]
    yield markdown_table(("claim", "verdict", "evidence"), rows)
    yield ""
