"""Puts the report together: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rankplug.report.claims_page import anchor, claim_rows, claims_html, counts_html, described_claims, sources_html
from rankplug.report.combination_page import combination_html
from rankplug.report.exhibit_html import links_to, numbers_html, page_of
from rankplug.report.notebook_page import notebook_html
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.study_report import StudyReport, forest_file
from rankplug.report.summary import markdown_summary
from rankplug.studies import ExhibitEvaluation
from rankplug.system import __version__


def build_report(reproduced: Mapping[str, StudyReport], folder: Path) -> Path:
    """Write all pages of the report, and return the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(reproduced)
    navigation = [("report", "index.html"), *((name, f"{name}.html") for name in names)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]

    def write(link: str, title: str, body: str) -> None:
        (folder / link).write_text(_page(title, body, navigation, link), encoding="utf-8")

    evidence = {name: one.evidence for name, one in reproduced.items()}
    write("index.html", "Report", _front(reproduced, forest_file(evidence.values(), folder, "")))
    for name, one in reproduced.items():
        write(f"{name}.html", one.study.title, _paper(one, forest_file([evidence[name]], folder, name)))
    write("claims.html", "Claims", claims_html(reproduced))
    write("exhibits.html", "Figures and tables", _exhibits(reproduced))
    write("runs.html", "Runs", _runs(reproduced))
    (folder / "combinations").mkdir(exist_ok=True)
    users = _users(reproduced)
    for identity, made in {key: made for one in reproduced.values() for key, made in one.combinations.items()}.items():
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


def _page(title: str, body: str, navigation: list[tuple[str, str]], here: str) -> str:
    import jinja2
    from markupsafe import Markup

    files = resources.files("rankplug.report")
    environment = jinja2.Environment(autoescape=True)
    style = files.joinpath("style.css").read_text()
    return environment.from_string(files.joinpath("page.html").read_text()).render(
        title=title,
        policy=policy(style),
        style=Markup(style),
        body=Markup(safe_body(body)),
        navigation=navigation,
        here=here,
        root="../" * here.count("/"),
        made=time.strftime("%Y-%m-%d %H:%M"),
        version=__version__,
    )


def _front(reproduced: Mapping[str, StudyReport], forest: str) -> str:
    profiles = ", ".join(sorted({one.results.profile for one in reproduced.values()}))
    return (
        "<h1>Papers, run again</h1>"
        f"<p>Profile: <strong>{html.escape(profiles)}</strong>. Every number on these pages was computed by the runs"
        ' listed under <a href="runs.html">runs</a>; published numbers are marked as such.</p>'
        f"{counts_html(reproduced)}<h2>All claims</h2>{_forest_html(forest)}"
        f"<h2>Environment</h2>{_environment(reproduced)}"
    )


def _environment(reproduced: Mapping[str, StudyReport]) -> str:
    versions: dict[str, set[str]] = {}
    for one in reproduced.values():
        for record in one.results.records:
            for package, version in record["record"].get("versions", {}).items():
                versions.setdefault(package, set()).add(version)
    rows = "".join(
        f"<tr><td>{html.escape(package)}</td><td>{html.escape(', '.join(sorted(found)))}</td></tr>"
        for package, found in sorted(versions.items())
    )
    return f'<div class="table"><table><tbody>{rows}</tbody></table></div>'


def _forest_html(forest: str) -> str:
    """Return the picture of all claims with what it shows."""
    return (
        f'<img alt="All claims with their verdicts" src="{html.escape(forest)}">'
        '<p class="note">Each claim\'s difference with its interval, in units of the margin that would matter; the'
        " thick one decides. Colours and marks are those of the verdicts, whose words stand beside them.</p>"
    )


def _paper(one: StudyReport, forest: str) -> str:
    picture = f"<details open><summary>All claims</summary>{_forest_html(forest)}</details>"
    if one.notebook is not None:
        return picture + notebook_html(one.notebook, lambda shown: _shown_in_notebook(one, shown))
    exhibits = "".join(_exhibit(one, shown) for shown in one.evaluation.exhibits)
    return f"<h1>{html.escape(one.study.title)}</h1>{picture}{claim_rows(one)}{exhibits}"


def _shown_in_notebook(one: StudyReport, shown: Mapping[str, Any]) -> str:
    """Render what an output of the study's notebook shows, with links to its files and runs."""
    if shown.get("study") != one.study.name:
        return ""
    if shown.get("claims"):
        link = f'<a href="claims.html#{html.escape(one.study.name)}">These verdicts beside those of other papers</a>'
        return f'{claim_rows(one)}<p class="note">{link}</p>'
    exhibits = {exhibit.exhibit.name: exhibit for exhibit in one.evaluation.exhibits}
    exhibit = exhibits.get(str(shown.get("exhibit")))
    if exhibit is None:
        return ""
    name = html.escape(exhibit.exhibit.name)
    link = f'<a href="exhibits.html#{anchor(one, exhibit.exhibit.name)}">Files and runs of {name}</a>'
    return f'{_picture(one, exhibit) or _numbers(one, exhibit)}<p class="note">{link}</p>'


def _exhibits(reproduced: Mapping[str, StudyReport]) -> str:
    parts = [
        f"<h2>{html.escape(one.study.title)}</h2>"
        + "".join(_exhibit(one, exhibit) for exhibit in one.evaluation.exhibits)
        for one in reproduced.values()
    ]
    return "<h1>Figures and tables</h1>" + "".join(parts)


def _exhibit(one: StudyReport, shown: ExhibitEvaluation) -> str:
    exhibit, files = shown.exhibit, one.files[shown.exhibit.name]
    links = " ".join(f'<a href="{html.escape(file)}">{Path(file).suffix[1:]}</a>' for file in files)
    body, picture = _numbers(one, shown), _picture(one, shown)
    if picture:
        body = f"{picture}<details><summary>the numbers</summary>{body}</details>"
    title = f"{html.escape(exhibit.name)}: {html.escape(exhibit.title)}"
    caption = f'<p class="note">{links}</p>{sources_html(one, shown.sources)}'
    return f'<h3 id="{anchor(one, exhibit.name)}">{title}</h3>{body}{caption}'


def _picture(one: StudyReport, shown: ExhibitEvaluation) -> str:
    name = shown.exhibit.name
    file = next((file for file in one.files[name] if file.endswith(".png")), None)
    return f'<img alt="{html.escape(name)}" src="{html.escape(file)}">' if file else ""


def _numbers(one: StudyReport, shown: ExhibitEvaluation) -> str:
    return numbers_html(shown, links_to(one.combinations))


def _runs(reproduced: Mapping[str, StudyReport]) -> str:
    rows = []
    for name, one in reproduced.items():
        for identity, made in one.combinations.items():
            facts = [record["record"] for record in made.records]
            digests = {fact["data"]["train"][:8] for fact in facts}
            shown = f"{next(iter(digests))} and {len(digests) - 1} more" if len(digests) > 1 else next(iter(digests))
            seconds = f"{sum(fact.get('fit_seconds', 0) for fact in facts):.1f}"
            cells = (len(made.records), seconds, shown, "yes" if made.notebook else "")
            link = f'<a href="{page_of(identity)}">{html.escape(made.title)}</a>'
            words = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
            rows.append(f"<tr><td>{html.escape(name)}</td><td>{link}</td>{words}</tr>")
    names = ("study", "combination", "trials", "fit seconds", "digest of the training data", "executed notebook")
    head = "".join(f"<th>{word}</th>" for word in names)
    return (
        "<h1>Runs</h1><p>Every combination behind this report. Its page has versions, seeds, digests and times of each"
        " trial, and the executed notebook where the store keeps one.</p>"
        f'<div class="table wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def write_summary(reproduced: Mapping[str, StudyReport], folder: Path) -> None:
    """Write the verdicts as JSON for other programs and as evidence to keep, and numbers and verdicts as Markdown."""
    summary = {name: list(described_claims(one)) for name, one in reproduced.items()}
    (folder / "claims.json").write_text(json.dumps(summary, indent=1))
    for name, one in reproduced.items():
        one.evidence.write(folder / "evidence" / f"{name}-{one.results.profile}.json")
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")
