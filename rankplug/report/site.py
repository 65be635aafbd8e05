"""Puts the report together: pages, figures as PDF and PNG, tables as CSV and LaTeX."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankplug
from rankplug.published import stand_ins
from rankplug.report.markdown import markdown_html
from rankplug.report.notebook_page import clean_html, notebook_html
from rankplug.report.summary import markdown_summary
from rankplug.studies import Exhibit, Results, Study, Verdict

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Drawn:
    """A figure or table with the files it was written to, relative to the report."""

    exhibit: Exhibit
    table: pd.DataFrame
    files: tuple[str, ...]


@dataclass(frozen=True)
class Reproduced:
    """What is shown of a study: its executed notebook, its exhibits and its verdicts."""

    study: Study
    results: Results
    notebook: Path | None
    exhibits: tuple[Drawn, ...]
    verdicts: tuple[Verdict, ...]


def draw_exhibits(study: Study, results: Results, folder: Path) -> tuple[Drawn, ...]:
    """Draws every figure and table of a study into ``folder/exhibits``."""
    import matplotlib.pyplot as plt

    from rankplug.figures import save

    drawn = []
    for exhibit in study.exhibits:
        table, figure = exhibit.draw(results)
        stem = folder / "exhibits" / study.name / re.sub(r"\W+", "-", exhibit.name.lower()).strip("-")
        stem.parent.mkdir(parents=True, exist_ok=True)
        files = [stem.with_suffix(".csv"), stem.with_suffix(".tex")]
        table.to_csv(files[0])
        files[1].write_text(table.to_latex(float_format="%.4f", escape=True))
        if figure is not None:
            files = [*save(figure, stem), *files]
            plt.close(figure)
        drawn.append(Drawn(exhibit, table, tuple(str(file.relative_to(folder)) for file in files)))
    return tuple(drawn)


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
    return folder / "index.html"


def _page(title: str, body: str, navigation: list[tuple[str, str]], here: str) -> str:
    import jinja2
    from markupsafe import Markup

    files = resources.files("rankplug.report")
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(files.joinpath("page.html").read_text()).render(
        title=title,
        style=Markup(files.joinpath("style.css").read_text()),
        body=Markup(body),
        navigation=navigation,
        here=here,
        root="",
        made=time.strftime("%Y-%m-%d %H:%M"),
        version=rankplug.__version__,
    )


def _front(reproduced: Mapping[str, Reproduced]) -> str:
    rows = []
    for name, one in reproduced.items():
        counts = dict.fromkeys(("holds", "fails", "inconclusive"), 0)
        for verdict in one.verdicts:
            counts[verdict.verdict] += 1
        numbers = "".join(f'<td class="{verdict}">{count}</td>' for verdict, count in counts.items())
        link = f'<a href="{name}.html">{html.escape(one.study.title)}</a>'
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
        return notebook_html(one.notebook)
    return f"<h1>{html.escape(one.study.title)}</h1>" + _claim_rows(one) + "".join(map(_exhibit, one.exhibits))


def _claims(reproduced: Mapping[str, Reproduced]) -> str:
    parts = [
        f'<h2><a href="{name}.html">{html.escape(one.study.title)}</a></h2>{_claim_rows(one)}'
        for name, one in reproduced.items()
    ]
    return "<h1>Claims</h1>" + "".join(parts)


def _claim_rows(one: Reproduced) -> str:
    tables = [drawn.table for drawn in one.exhibits if "published on" in drawn.table.columns]
    places = dict.fromkeys(pair for table in tables for pair in stand_ins(table))
    notes = "".join(f"<p>In the place of {html.escape(theirs)}: {html.escape(ours)}.</p>" for theirs, ours in places)
    rows = "".join(
        f"<tr><td>{markdown_html(claim.sentence)}</td>"
        f'<td class="{verdict.verdict}">{verdict.verdict}</td><td>{markdown_html(verdict.evidence)}</td></tr>'
        for claim, verdict in zip(one.study.claims, one.verdicts, strict=True)
    )
    head = "<tr><th>claim</th><th>verdict</th><th>evidence</th></tr>"
    return f'{notes}<div class="table wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _exhibits(reproduced: Mapping[str, Reproduced]) -> str:
    parts = [
        f"<h2>{html.escape(one.study.title)}</h2>" + "".join(map(_exhibit, one.exhibits)) for one in reproduced.values()
    ]
    return "<h1>Figures and tables</h1>" + "".join(parts)


def _exhibit(drawn: Drawn) -> str:
    exhibit = drawn.exhibit
    links = " ".join(f'<a href="{file}">{Path(file).suffix[1:]}</a>' for file in drawn.files)
    picture = next((file for file in drawn.files if file.endswith(".png")), None)
    shown = f'<img alt="{html.escape(exhibit.name)}" src="{picture}">' if picture else _table(drawn.table)
    title = f"{html.escape(exhibit.name)}: {html.escape(exhibit.title)}"
    return f'<h3>{title}</h3>{shown}<p class="note">{links}</p>'


def _table(table: pd.DataFrame) -> str:
    shown = table.to_html(float_format="{:.4f}".format, max_rows=60)
    return f'<div class="table">{clean_html(shown)}</div>'


def _runs(reproduced: Mapping[str, Reproduced]) -> str:
    rows = []
    for name, one in reproduced.items():
        for record in one.results.records:
            parts, facts = record["combination"], record["record"]
            described = " / ".join(
                str(parts[part]) for part in ("dataset", "backend", "scorer", "loss", "sampler") if parts[part]
            )
            digests = f"{facts['data']['train'][:8]} {facts['test_fingerprint'][:8]}"
            cells = (name, described, record["fold"], record["trial"], f"{facts.get('fit_seconds', 0):.1f}", digests)
            rows.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>")
    head = "".join(
        f"<th>{word}</th>" for word in ("study", "combination", "fold", "trial", "fit seconds", "data digests")
    )
    return (
        "<h1>Runs</h1><p>Every trial behind this report; the digests are those of the training and test data.</p>"
        f'<div class="table wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def write_summary(reproduced: Mapping[str, Reproduced], folder: Path) -> None:
    """The verdicts as JSON for other programs, and numbers and verdicts as Markdown."""
    summary: dict[str, Any] = {
        name: [
            {"claim": claim.sentence, "verdict": verdict.verdict, "evidence": verdict.evidence}
            for claim, verdict in zip(one.study.claims, one.verdicts, strict=True)
        ]
        for name, one in reproduced.items()
    }
    (folder / "claims.json").write_text(json.dumps(summary, indent=1))
    (folder / "summary.md").write_text(markdown_summary(reproduced), encoding="utf-8")
