"""Claims in the report: how many got which verdict, and each with its evidence and the runs behind it."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rankplug.report.exhibit_html import linked
from rankplug.report.markdown import markdown_html
from rankplug.report.study_report import StudyReport, slug
from rankplug.studies import VERDICTS, ClaimEvaluation, Source, Verdict, stand_ins


def counts_html(reproduced: Mapping[str, StudyReport]) -> str:
    """Return a table with a row for each study that counts its claims by verdict."""
    rows = []
    for name, one in reproduced.items():
        counts = dict.fromkeys((*VERDICTS, "not judged"), 0)
        for shown in one.evaluation.claims:
            counts[shown.verdict.verdict if isinstance(shown.verdict, Verdict) else "not judged"] += 1
        numbers = "".join(f'<td class="{slug(verdict)}">{count}</td>' for verdict, count in counts.items())
        link = f'<a href="{html.escape(name)}.html">{html.escape(one.study.title)}</a>'
        rows.append(f"<tr><td>{link}<br><small>{html.escape(str(one.study.citation))}</small></td>{numbers}</tr>")
    heads = ("paper", "claims that hold", "fail", "no difference", "inconclusive", "not judged")
    head = "".join(f"<th>{word}</th>" for word in heads)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def claims_html(reproduced: Mapping[str, StudyReport]) -> str:
    """Return the page of all claims as HTML."""
    parts = [
        f'<h2 id="{name}"><a href="{name}.html">{html.escape(one.study.title)}</a></h2>{claim_rows(one)}'
        for name, one in ((html.escape(name), one) for name, one in reproduced.items())
    ]
    return "<h1>Claims</h1>" + "".join(parts)


def claim_rows(one: StudyReport) -> str:
    """Return a table of a study's claims with their verdicts, and the observations below it."""
    tables = [shown.table for shown in one.evaluation.exhibits if "published on" in shown.table.columns]
    places = dict.fromkeys(pair for table in tables for pair in stand_ins(table))
    notes = "".join(f"<p>In the place of {html.escape(theirs)}: {html.escape(ours)}.</p>" for theirs, ours in places)
    rows = "".join(_row(one, shown) for shown in one.evaluation.claims)
    head = "<tr><th>claim</th><th>verdict</th><th>evidence</th></tr>"
    table = f'{notes}<div class="table wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    if not one.evaluation.observations:
        return table
    seen = "".join(
        f"<li>{markdown_html(shown.observation.sentence)} {markdown_html(shown.told)}</li>"
        for shown in one.evaluation.observations
    )
    return f"{table}<p>Observed, without a test:</p><ul>{seen}</ul>"


def _row(one: StudyReport, shown: ClaimEvaluation) -> str:
    claim, word = shown.claim, shown.verdict.verdict
    place = f'<p class="note">{_exhibit_link(one, claim.exhibit)}</p>' if claim.exhibit else ""
    return (
        f"<tr><td>{markdown_html(claim.sentence)}{place}</td>"
        f'<td class="{slug(word)}">{word}</td>'
        f"<td>{markdown_html(shown.verdict.lines)}{sources_html(one, shown.sources)}</td></tr>"
    )


def _exhibit_link(one: StudyReport, exhibit: str) -> str:
    return f'<a href="exhibits.html#{anchor(one, exhibit)}">{html.escape(exhibit)}</a>'


def anchor(one: StudyReport, exhibit: str) -> str:
    """Return the anchor of an exhibit on the page of all exhibits."""
    return html.escape(f"{one.study.name}-{slug(exhibit)}")


def sources_html(one: StudyReport, sources: Collection[Source]) -> str:
    """Return the runs behind an exhibit or a verdict as a list that unfolds."""
    if not sources:
        return '<p class="note">Computed on the spot, from no stored run.</p>'
    groups: dict[str, list[str]] = {}
    for source in sources:
        identities = [identity for identity in source.identities if identity in one.combinations]
        groups.setdefault(source.group, []).append(linked(html.escape(source.model), identities))
    rows = "".join(f"<li>{html.escape(group)}: {', '.join(models)}</li>" for group, models in groups.items())
    count = len({identity for source in sources for identity in source.identities})
    return f'<details class="runs"><summary>{count} combinations behind it</summary><ul>{rows}</ul></details>'


def described_claims(one: StudyReport) -> Iterator[dict[str, Any]]:
    """Yield each claim of a study as plain values, with its verdict."""
    for shown in one.evaluation.claims:
        claim, verdict = shown.claim, shown.verdict
        about = {"claim": claim.sentence, "exhibit": claim.exhibit, "verdict": verdict.verdict}
        details = verdict.describe() if isinstance(verdict, Verdict) else {}
        yield {**about, "evidence": verdict.sentence, **details}
