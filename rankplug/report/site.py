"""Puts the report together: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.combination_page import combination_html, version_rows
from rankplug.report.notebook_page import notebook_html
from rankplug.report.rendering import page_of, render
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.study_report import StudyReport, forest_file
from rankplug.report.summary import markdown_summary
from rankplug.system import __version__

if TYPE_CHECKING:
    from markupsafe import Markup


def build_report(reproduced: Mapping[str, StudyReport], folder: Path) -> Path:
    """Write all pages of the report, and return the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(reproduced)
    navigation = [("report", "index.html"), *((name, f"{name}.html") for name in names)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]

    def write(link: str, title: str, body: Markup) -> None:
        (folder / link).write_text(_page(title, body, navigation, link), encoding="utf-8")

    reports = list(reproduced.values())
    evidence = {name: one.evidence for name, one in reproduced.items()}
    front = {"profiles": sorted({one.results.profile for one in reports}), "versions": _versions(reports)}
    write(
        "index.html",
        "Report",
        render("front", reports=reports, picture=forest_file(evidence.values(), folder, ""), **front),
    )
    for name, one in reproduced.items():
        notebook = notebook_html(one.notebook, functools.partial(_in_notebook, one)) if one.notebook else None
        picture = forest_file([evidence[name]], folder, name)
        write(f"{name}.html", one.study.title, render("paper", one=one, picture=picture, notebook=notebook))
    write("claims.html", "Claims", render("claims", reports=reports))
    write("exhibits.html", "Figures and tables", render("exhibits", reports=reports))
    write("runs.html", "Runs", render("runs", reports=reports))
    (folder / "combinations").mkdir(exist_ok=True)
    users = _users(reproduced)
    for identity, made in {key: made for one in reports for key, made in one.combinations.items()}.items():
        write(page_of(identity), made.title, combination_html(made, users.get(identity, ())))
    return folder / "index.html"


def _users(reproduced: Mapping[str, StudyReport]) -> dict[str, dict[tuple[str, str], None]]:
    """Map each combination to the studies and models that use it."""
    users: dict[str, dict[tuple[str, str], None]] = {}
    for name, one in reproduced.items():
        for runs in one.results.runs.values():
            for model in runs.models:
                for combination in dict.fromkeys(trial.combination for trial in runs.trials_of(model)):
                    users.setdefault(combination.identity, {})[name, model] = None
    return users


def _page(title: str, body: Markup, navigation: list[tuple[str, str]], here: str) -> str:
    from markupsafe import Markup

    style = resources.files("rankplug.report").joinpath("templates/style.css").read_text()
    return render(
        "page",
        title=title,
        policy=policy(style),
        style=Markup(style),
        body=safe_body(body),
        navigation=navigation,
        here=here,
        root="../" * here.count("/"),
        made=time.strftime("%Y-%m-%d %H:%M"),
        version=__version__,
    )


def _versions(reports: Iterable[StudyReport]) -> list[tuple[str, str]]:
    """Return the packages that the runs of all studies ran with, as rows of a table."""
    versions: dict[str, set[str]] = {}
    for one in reports:
        for record in one.results.records:
            for package, version in record["record"].get("versions", {}).items():
                versions.setdefault(package, set()).add(version)
    return version_rows(versions)


def _in_notebook(one: StudyReport, about: Mapping[str, Any]) -> Markup | None:
    """Render what an output of the study's notebook shows, with links to its files and runs."""
    if about.get("study") != one.study.name:
        return None
    if about.get("claims"):
        return render("in_notebook", one=one, shown=None)
    exhibits = {shown.exhibit.name: shown for shown in one.evaluation.exhibits}
    shown = exhibits.get(str(about.get("exhibit")))
    return None if shown is None else render("in_notebook", one=one, shown=shown)


def write_summary(reproduced: Mapping[str, StudyReport], folder: Path) -> None:
    """Write the verdicts as JSON for other programs and as evidence to keep, and numbers and verdicts as Markdown."""
    summary = {name: list(one.described_claims()) for name, one in reproduced.items()}
    (folder / "claims.json").write_text(json.dumps(summary, indent=1))
    for name, one in reproduced.items():
        one.evidence.write(folder / "evidence" / f"{name}-{one.results.profile}.json")
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")
