"""Puts the report together: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from rankplug.report.claims_page import anchor, claim_rows, claims_html, counts_html, described_claims, sources_html
from rankplug.report.combination_page import combination_html
from rankplug.report.linked_table import link_marked, page_of, table_html
from rankplug.report.notebook_page import notebook_html
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.shown import Drawn, Reproduced
from rankplug.report.summary import markdown_summary
from rankplug.system import __version__


def build_report(reproduced: Mapping[str, Reproduced], folder: Path) -> Path:
    """Write all pages of the report, and return the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(reproduced)
    navigation = [("report", "index.html"), *((name, f"{name}.html") for name in names)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]

    def write(link: str, title: str, body: str) -> None:
        (folder / link).write_text(_page(title, body, navigation, link), encoding="utf-8")

    write("index.html", "Report", _front(reproduced))
    for name, one in reproduced.items():
        write(f"{name}.html", one.study.title, _paper(one))
    write("claims.html", "Claims", claims_html(reproduced))
    write("exhibits.html", "Figures and tables", _exhibits(reproduced))
    write("runs.html", "Runs", _runs(reproduced))
    (folder / "combinations").mkdir(exist_ok=True)
    users = _users(reproduced)
    for identity, made in {key: made for one in reproduced.values() for key, made in one.combinations.items()}.items():
        write(page_of(identity), made.title, combination_html(made, users.get(identity, ())))
    return folder / "index.html"


def _users(reproduced: Mapping[str, Reproduced]) -> dict[str, dict[tuple[str, str], None]]:
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


def _front(reproduced: Mapping[str, Reproduced]) -> str:
    profiles = ", ".join(sorted({one.results.profile for one in reproduced.values()}))
    return (
        "<h1>Papers, run again</h1>"
        f"<p>Profile: <strong>{html.escape(profiles)}</strong>. Every number on these pages was computed by the runs"
        ' listed under <a href="runs.html">runs</a>; published numbers are marked as such.</p>'
        f"{counts_html(reproduced)}<h2>Environment</h2>{_environment(reproduced)}"
    )


def _environment(reproduced: Mapping[str, Reproduced]) -> str:
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


def _paper(one: Reproduced) -> str:
    if one.notebook is not None:
        body = notebook_html(one.notebook, lambda source: _links_of_cell(one, source))
        return link_marked(body, one.combinations)
    return (
        f"<h1>{html.escape(one.study.title)}</h1>" + claim_rows(one) + "".join(_exhibit(one, e) for e in one.exhibits)
    )


def _links_of_cell(one: Reproduced, source: str) -> str:
    """Return links from a cell of a notebook to the files and runs of what it shows."""
    shown = re.search(r'show\(study, "([^"]+)"', source)
    if shown:
        link = f'<a href="exhibits.html#{anchor(one, shown[1])}">Files and runs of {html.escape(shown[1])}</a>'
        return f'<p class="note">{link}</p>'
    if "show_claims(" in source:
        link = f'<a href="claims.html#{html.escape(one.study.name)}">Runs behind these verdicts</a>'
        return f'<p class="note">{link}</p>'
    return ""


def _exhibits(reproduced: Mapping[str, Reproduced]) -> str:
    parts = [
        f"<h2>{html.escape(one.study.title)}</h2>" + "".join(_exhibit(one, exhibit) for exhibit in one.exhibits)
        for one in reproduced.values()
    ]
    return "<h1>Figures and tables</h1>" + "".join(parts)


def _exhibit(one: Reproduced, drawn: Drawn) -> str:
    exhibit = drawn.exhibit
    links = " ".join(f'<a href="{html.escape(file)}">{Path(file).suffix[1:]}</a>' for file in drawn.files)
    picture = next((file for file in drawn.files if file.endswith(".png")), None)
    shown = table_html(drawn.table, drawn.sources, one.combinations)
    if picture:
        image = f'<img alt="{html.escape(exhibit.name)}" src="{html.escape(picture)}">'
        shown = f"{image}<details><summary>the numbers</summary>{shown}</details>"
    title = f"{html.escape(exhibit.name)}: {html.escape(exhibit.title)}"
    caption = f'<p class="note">{links}</p>{sources_html(one, drawn.sources)}'
    return f'<h3 id="{anchor(one, exhibit.name)}">{title}</h3>{shown}{caption}'


def _runs(reproduced: Mapping[str, Reproduced]) -> str:
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


def write_summary(reproduced: Mapping[str, Reproduced], folder: Path) -> None:
    """Write the verdicts as JSON for other programs, and numbers and verdicts as Markdown."""
    summary = {name: [row for row, _ in described_claims(one)] for name, one in reproduced.items()}
    (folder / "claims.json").write_text(json.dumps(summary, indent=1))
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")
