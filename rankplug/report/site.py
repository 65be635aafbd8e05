"""Puts the report together: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Collection, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rankplug.report.behind import Source
from rankplug.report.combination_page import combination_html
from rankplug.report.linked_table import link_marked, linked, page_of, table_html
from rankplug.report.markdown import markdown_html
from rankplug.report.notebook_page import notebook_html
from rankplug.report.safe_html import policy, safe_body
from rankplug.report.shown import Drawn, Reproduced, slug
from rankplug.report.summary import markdown_summary
from rankplug.studies import stand_ins
from rankplug.system import __version__


def build_report(reproduced: Mapping[str, Reproduced], folder: Path) -> Path:
    """Writes all pages; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(reproduced)
    navigation = [("report", "index.html"), *((name, f"{name}.html") for name in names)]
    navigation += [("claims", "claims.html"), ("figures and tables", "exhibits.html"), ("runs", "runs.html")]

    def write(link: str, title: str, body: str) -> None:
        (folder / link).write_text(_page(title, body, navigation, link), encoding="utf-8")

    write("index.html", "Report", _front(reproduced))
    for name, one in reproduced.items():
        write(f"{name}.html", one.study.title, _paper(one))
    write("claims.html", "Claims", _claims(reproduced))
    write("exhibits.html", "Figures and tables", _exhibits(reproduced))
    write("runs.html", "Runs", _runs(reproduced))
    (folder / "combinations").mkdir(exist_ok=True)
    users = _users(reproduced)
    for identity, made in {key: made for one in reproduced.values() for key, made in one.combinations.items()}.items():
        write(page_of(identity), made.title, combination_html(made, users.get(identity, ())))
    return folder / "index.html"


def _users(reproduced: Mapping[str, Reproduced]) -> dict[str, dict[tuple[str, str], None]]:
    """For each combination the studies and models it is tried for."""
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
    rows = []
    for name, one in reproduced.items():
        counts = dict.fromkeys(("holds", "fails", "inconclusive"), 0)
        for judged in one.verdicts:
            counts[judged.verdict.verdict] += 1
        numbers = "".join(f'<td class="{verdict}">{count}</td>' for verdict, count in counts.items())
        link = f'<a href="{html.escape(name)}.html">{html.escape(one.study.title)}</a>'
        rows.append(f"<tr><td>{link}<br><small>{html.escape(one.study.citation)}</small></td>{numbers}</tr>")
    profiles = ", ".join(sorted({one.results.profile for one in reproduced.values()}))
    head = "<tr><th>paper</th><th>claims that hold</th><th>fail</th><th>inconclusive</th></tr>"
    return (
        "<h1>Papers, run again</h1>"
        f"<p>Profile: <strong>{html.escape(profiles)}</strong>. Every number on these pages was computed by the runs"
        ' listed under <a href="runs.html">runs</a>; published numbers are marked as such.</p>'
        f'<div class="table"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"<h2>Environment</h2>{_environment(reproduced)}"
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
        f"<h1>{html.escape(one.study.title)}</h1>" + _claim_rows(one) + "".join(_exhibit(one, e) for e in one.exhibits)
    )


def _links_of_cell(one: Reproduced, source: str) -> str:
    """What a cell of a notebook shows leads to its files and runs."""
    shown = re.search(r'show\(study, "([^"]+)"', source)
    if shown:
        link = f'<a href="exhibits.html#{_anchor(one, shown[1])}">Files and runs of {html.escape(shown[1])}</a>'
        return f'<p class="note">{link}</p>'
    if "show_claims(" in source:
        link = f'<a href="claims.html#{html.escape(one.study.name)}">Runs behind these verdicts</a>'
        return f'<p class="note">{link}</p>'
    return ""


def _anchor(one: Reproduced, exhibit: str) -> str:
    return html.escape(f"{one.study.name}-{slug(exhibit)}")


def _claims(reproduced: Mapping[str, Reproduced]) -> str:
    parts = [
        f'<h2 id="{name}"><a href="{name}.html">{html.escape(one.study.title)}</a></h2>{_claim_rows(one)}'
        for name, one in ((html.escape(name), one) for name, one in reproduced.items())
    ]
    return "<h1>Claims</h1>" + "".join(parts)


def _claim_rows(one: Reproduced) -> str:
    tables = [drawn.table for drawn in one.exhibits if "published on" in drawn.table.columns]
    places = dict.fromkeys(pair for table in tables for pair in stand_ins(table))
    notes = "".join(f"<p>In the place of {html.escape(theirs)}: {html.escape(ours)}.</p>" for theirs, ours in places)
    rows = "".join(
        f"<tr><td>{markdown_html(claim.sentence)}</td>"
        f'<td class="{judged.verdict.verdict}">{judged.verdict.verdict}</td>'
        f"<td>{markdown_html(judged.verdict.lines)}{_sources(one, judged.sources)}</td></tr>"
        for claim, judged in zip(one.study.claims, one.verdicts, strict=True)
    )
    head = "<tr><th>claim</th><th>verdict</th><th>evidence</th></tr>"
    return f'{notes}<div class="table wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _sources(one: Reproduced, sources: Collection[Source]) -> str:
    """The runs behind something, folded away."""
    if not sources:
        return '<p class="note">Computed on the spot, from no stored run.</p>'
    groups: dict[str, list[str]] = {}
    for source in sources:
        identities = [identity for identity in source.identities if identity in one.combinations]
        groups.setdefault(source.group, []).append(linked(html.escape(source.model), identities))
    rows = "".join(f"<li>{html.escape(group)}: {', '.join(models)}</li>" for group, models in groups.items())
    count = len({identity for source in sources for identity in source.identities})
    return f'<details class="runs"><summary>{count} combinations behind it</summary><ul>{rows}</ul></details>'


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
    caption = f'<p class="note">{links}</p>{_sources(one, drawn.sources)}'
    return f'<h3 id="{_anchor(one, exhibit.name)}">{title}</h3>{shown}{caption}'


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
    """The verdicts as JSON for other programs, and numbers and verdicts as Markdown."""
    summary: dict[str, Any] = {
        name: [
            {"claim": claim.sentence, "verdict": judged.verdict.verdict, "evidence": judged.verdict.evidence}
            for claim, judged in zip(one.study.claims, one.verdicts, strict=True)
        ]
        for name, one in reproduced.items()
    }
    (folder / "claims.json").write_text(json.dumps(summary, indent=1))
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")
