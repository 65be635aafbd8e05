"""Drafts for those who review a reproduction: ``codecheck.yml``, and the artifact appendix of ACM's venues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import yaml

from rankplug.store import markdown_table
from rankplug.studies import Citation
from rankplug.system import __version__

if TYPE_CHECKING:
    from rankplug.report.study_report import StudyReport


def codecheck(shown: Mapping[str, StudyReport]) -> str:
    """Return a draft of ``codecheck.yml``: the files that a checker makes again, and the papers they belong to."""
    manifest = [
        {"file": file, "comment": f"{report.study.name}, {exhibit}"}
        for report in shown.values()
        for exhibit, files in report.files.items()
        for file in files
        if file.endswith((".csv", ".csv.gz", ".png"))
    ]
    papers = [report.study.citation for report in shown.values() if isinstance(report.study.citation, Citation)]
    described = [
        {
            "title": paper.title,
            "authors": [{"name": name} for name in paper.authors],
            **({"reference": f"https://doi.org/{paper.doi}"} if paper.doi else {}),
        }
        for paper in papers
    ]
    draft = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "manifest": [*manifest, {"file": "claims.json", "comment": "verdicts on the claims"}],
        "paper": described[0] if len(described) == 1 else described,
        "codechecker": [],
        "summary": "",
        "check_time": "",
        "certificate": "",
    }
    head = "# A draft: codechecker, summary, check_time and certificate are filled in by who checks.\n"
    return head + yaml.safe_dump(draft, sort_keys=False, allow_unicode=True)


def artifact_appendix(shown: Mapping[str, StudyReport], records: Iterable[Mapping[str, Any]]) -> str:
    """Return a draft of the artifact appendix, from what is on record of the runs."""
    every = list(records)
    facts = [record["record"] for record in every]
    seconds = sum(
        float(fact.get(f"{part}_seconds", 0.0)) * int(fact.get("threads", 1))
        for fact in facts
        for part in ("load", "fit", "measure")
    )
    versions = sorted({pair for fact in facts for pair in fact.get("versions", {}).items()})
    datasets = dict.fromkeys(record["combination"]["dataset"] for record in every)
    profiles = dict.fromkeys(report.results.profile for report in shown.values())
    commands = [f"rankplug reproduce {name} --profile {report.results.profile}" for name, report in shown.items()]
    lines = [
        "# Artifact appendix (draft)",
        "",
        "## Abstract",
        "",
        f"Runs, figures, tables and verdicts of: {'; '.join(report.study.title for report in shown.values())}.",
        "",
        "## Check-list",
        "",
        f"- Program: rankplug {__version__}, MIT licence",
        f"- Packages: {', '.join(f'{name} {version}' for name, version in versions)}",
        f"- Data sets: {'; '.join(datasets)}",
        f"- Size: profile {', '.join(profiles)}, {len(every)} trials",
        f"- Time: {seconds / 60:.1f} core-minutes of loading, training and measuring, by the records",
        "- Output: figures as PNG and PDF, tables as CSV and LaTeX, verdicts as JSON, results as Parquet",
        "",
        "## Installation",
        "",
        "```sh",
        f"pip install 'rankplug[all]=={__version__}'",
        "```",
        "",
        "## Experiment",
        "",
        "```sh",
        *commands,
        "rankplug verify .",
        "```",
        "",
        "## Expected results",
        "",
        markdown_table(
            ("study", "claim", "verdict"),
            [
                (name, claim.claim.label, claim.verdict.verdict)
                for name, report in shown.items()
                for claim in report.evaluation.claims
            ],
        ),
    ]
    return "\n".join([*lines, "", "Times differ between machines.", ""])
